# SPDX-License-Identifier: Apache-2.0
"""Has a scope been left alone long enough since its last migration?

A migration shows in the metrics only when the window of the queries has
passed; who plans sooner plans on load that has left already.
"""

from kronos.engine.settings import Settings
from kronos.engine.types import Move, Snapshot

NEVER_MOVED = frozenset({'error', 'failed', 'cancelled', 'conflict'})
"""Ends of a live migration that leave the instance on its source."""
UNDER_WAY = frozenset(
    {'accepted', 'queued', 'preparing', 'running', 'post-migrating'}
)


def standstill(snapshot: Snapshot, settings: Settings) -> str:
    """Why the scope is not planned now; '' if it may be (I1).

    A live migration counts that touches a host of the scope, on either
    side. One that is under way counts as of now, one that ended as of its
    last update. What was refused, failed or was cancelled moved nothing
    and starts no cooldown. ``cooldown_seconds`` of 0 switches this off.
    """
    moves = [
        move
        for move in snapshot.recent_moves
        if move.status.lower() not in NEVER_MOVED
        and (
            move.source in snapshot.hosts or move.destination in snapshot.hosts
        )
    ]
    if not moves or settings.cooldown_seconds <= 0:
        return ''
    newest = min(moves, key=lambda move: (_age(move, snapshot), move.instance))
    age = _age(newest, snapshot)
    left = settings.cooldown_seconds - age
    if left <= 0:
        return ''
    return (
        f'cooldown: {left:.0f} of {settings.cooldown_seconds:g} s are left '
        f'since the live migration of {newest.instance} from '
        f'{newest.source} to {newest.destination} ({newest.status}, '
        f'{age:.0f} s ago)'
    )


def _age(move: Move, snapshot: Snapshot) -> float:
    """Seconds since the move; a clock that runs ahead makes it 0."""
    if move.status.lower() in UNDER_WAY:
        return 0.0
    last = max(move.created_at, move.updated_at)
    return max(0.0, snapshot.taken_at - last)
