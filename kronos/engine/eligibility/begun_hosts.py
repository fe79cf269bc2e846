# SPDX-License-Identifier: Apache-2.0
"""The begun hosts: those that a plan of pack has begun to empty.

Pack goes on with them, and fills none of them. This follows from the history
of its own moves; a move by hand, or by another phase, begins nothing.
"""

import math
from collections.abc import Iterable

from kronos.engine.types import Event, MigrationPhase, Outcome, Snapshot

LEAVES = Outcome.MOVED, Outcome.UNDER_WAY, Outcome.PLANNED


def of(snapshot: Snapshot) -> set[str]:
    """Their names, as far back as moves are remembered.

    A host that pack sends something to, when something has left it or at
    the same time, is filled: what left has made room.
    """
    packed = [
        event
        for event in snapshot.events
        if event.phase == MigrationPhase.PACK
    ]
    departures = _newest(
        (event.source, event) for event in packed if event.outcome in LEAVES
    )
    filled = _newest((event.destination, event) for event in packed)
    return {
        host
        for host, when in departures.items()
        if when > filled.get(host, -math.inf)
    }


def _newest(events: Iterable[tuple[str, Event]]) -> dict[str, float]:
    """The time of the newest event of each host."""
    newest: dict[str, float] = {}
    for host, event in events:
        newest[host] = max(event.at, newest.get(host, -math.inf))
    return newest
