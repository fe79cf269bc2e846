# SPDX-License-Identifier: Apache-2.0
"""The durations of moves: what those of a scope have really taken.

Used by the forecast of a plan.
"""

import statistics
from collections.abc import Iterable

from kronos.engine.types import Outcome, Snapshot

LATEST = 50
"""Moves of a scope that count: hosts and networks change."""


def by_scope(snapshots: Iterable[Snapshot]) -> dict[str, float]:
    """Seconds per move of each scope of which any is known."""
    return {
        snapshot.scope: seconds
        for snapshot in snapshots
        if (seconds := seconds_per_move(snapshot)) is not None
    }


def seconds_per_move(snapshot: Snapshot) -> float | None:
    """The median of the scope's live migrations that arrived, in seconds.

    By Nova's clock, from when it wrote the migration down to its end.

    :returns: None if none is known
    """
    inside = [
        event
        for event in snapshot.events
        if event.outcome is Outcome.MOVED
        and event.seconds > 0
        and {event.source, event.destination} <= set(snapshot.hosts)
    ]
    latest = sorted(inside, key=lambda event: event.at)[-LATEST:]
    if not latest:
        return None
    return statistics.median(event.seconds for event in latest)
