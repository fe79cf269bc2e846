# SPDX-License-Identifier: Apache-2.0
"""The unfinished moves to another cell: which of them a plan finishes.

Those of Kronos itself, whose applier died or gave up. A move is only
confirmed or taken back then; Nova is not asked for it again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kronos.engine.eligibility import cooldown
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Origin, Outcome, Snapshot
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    UnfinishedMove,
    confirming,
    needs_of,
)


@dataclass(frozen=True)
class JudgedMove:
    """What becomes of one such move."""

    move: UnfinishedMove
    reason: Reason
    """Why its server is not moved otherwise."""
    is_finished: bool = False
    """Whether the plan finishes it."""


def of_drain(snapshot: Snapshot, settings: Settings) -> list[UnfinishedMove]:
    """The moves out of the cell that is emptied; none if none is."""
    drain = cell_drain.of(settings)
    if drain is None:
        return []
    return [
        move
        for move in needs_of(snapshot).unfinished
        if move.how.source_cell == drain.source
    ]


def judged(snapshot: Snapshot, settings: Settings) -> list[JudgedMove]:
    """What becomes of the moves of :func:`of_drain`."""
    moves = of_drain(snapshot, settings)
    rests: dict[str, Reason] = {}
    if any(move.is_second for move in moves):
        rests = cooldown.remember(snapshot, settings).unavailable
    plans = _plans(snapshot) if moves else {}
    return [_judged(move, snapshot, rests, plans) for move in moves]


def _plans(snapshot: Snapshot) -> dict[str, str]:
    """Uuids of the plans under way that have a server, by its uuid.

    One of them may have a move that is to finish another one.
    """
    return {
        event.instance: event.plan
        for event in snapshot.events
        if event.origin is Origin.WATCHER
        and event.outcome in (Outcome.PLANNED, Outcome.UNDER_WAY)
    }


def _judged(
    move: UnfinishedMove,
    snapshot: Snapshot,
    rests: Mapping[str, Reason],
    plans: Mapping[str, str],
) -> JudgedMove:
    begun = f'its move to cell {move.how.destination_cell}, which Kronos began'
    plan = move.plan or plans.get(move.instance)
    if move.has_ended:
        text = (
            f'{begun}, waits for you: "{confirming(move.instance)}", or revert'
        )
        return JudgedMove(move, Reason(text, Code.CELL_UNCONFIRMED))
    if plan:
        text = (
            f'{begun}, is in action plan {plan}, which goes on; it is '
            f'{move.status}'
        )
        return JudgedMove(move, Reason(text, Code.CELL_BEGUN))
    if forbidden := _forbidden(move, snapshot, rests):
        return JudgedMove(move, forbidden)
    text = f'{begun} and left in {move.status}, is finished by this plan'
    return JudgedMove(move, Reason(text, Code.CELL_BEGUN), True)


def _forbidden(
    move: UnfinishedMove, snapshot: Snapshot, rests: Mapping[str, Reason]
) -> Reason | None:
    """Why a move is not finished now; None if nothing forbids it."""
    instance = snapshot.instances.get(move.instance)
    if instance is not None and instance.unmovable:
        return Reason(instance.unmovable, Code.INSTANCE_UNMOVABLE)
    rest = rests.get(move.instance) if move.is_second else None
    if rest is not None and rest.code is Code.INSTANCE_QUARANTINE:
        return rest
    return None
