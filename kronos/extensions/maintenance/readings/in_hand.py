# SPDX-License-Identifier: Apache-2.0
"""The hosts in hand: those that a started plan of a run is busy with.

Until a plan has closed, emptied, handed over or opened a host, no other plan
does the same: an audit that plans beside it leaves the host to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kronos.engine.eligibility import event_texts
from kronos.engine.types import Event
from kronos.snapshots import stale_migrations


@dataclass(frozen=True)
class HostInHand:
    """A host that an action of a started plan is to change."""

    host: str
    run: str
    plan: str
    """Uuid."""
    heard: float
    """Unix seconds: when anything of its plan changed."""


def names(
    rows: Iterable[HostInHand], run: str, events: Sequence[Event], now: float
) -> list[str]:
    """The hosts of a run that are in hand.

    Not those of a plan of which nothing was heard for long, and that moves
    nothing: its applier is dead.

    :param events: moves that are known, without what was left behind
    :param now: Unix seconds
    """
    moving = {e.plan for e in events if event_texts.in_progress(e)}
    return sorted(
        {
            row.host
            for row in rows
            if row.run == run
            and (
                row.plan in moving
                or now - row.heard <= stale_migrations.GRACE_SECONDS
            )
        }
    )
