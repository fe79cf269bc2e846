# SPDX-License-Identifier: Apache-2.0
"""The unfinished moves to another cell: which of them a plan finishes.

Those of Kronos itself, whose applier died or gave up. A move is only
confirmed or taken back then; Nova is not asked for it again.
"""

from collections.abc import Iterable

from kronos.engine.cell_drain import UnfinishedMove, confirming
from kronos.engine.eligibility import cooldown
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot


def of_drain(snapshot: Snapshot, settings: Settings) -> list[UnfinishedMove]:
    """The moves out of the cell that is emptied; none if none is."""
    drain = settings.cell_drain
    if drain is None:
        return []
    return [
        one
        for one in snapshot.unfinished
        if one.how.source_cell == drain.source
    ]


def finished(
    moves: Iterable[UnfinishedMove], reasons: dict[str, Reason]
) -> list[UnfinishedMove]:
    """Those that the plan finishes.

    :param reasons: as of :func:`reasons`
    """
    return [
        one
        for one in moves
        if not one.plan and reasons[one.instance].code is Code.CELL_BEGUN
    ]


def reasons(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """What is said of the servers of :func:`of_drain`, by uuid."""
    moves = of_drain(snapshot, settings)
    rests: dict[str, Reason] = {}
    if any(one.is_second for one in moves):
        rests = cooldown.remember(snapshot, settings).unavailable
    return {
        one.instance: _forbidden(one, snapshot, rests) or _told(one)
        for one in moves
    }


def _forbidden(
    move: UnfinishedMove, snapshot: Snapshot, rests: dict[str, Reason]
) -> Reason | None:
    """Why a move is not finished now; None if nothing forbids it."""
    instance = snapshot.instances.get(move.instance)
    if instance is not None and instance.unmovable:
        return Reason(instance.unmovable, Code.INSTANCE_UNMOVABLE)
    rest = rests.get(move.instance) if move.is_second else None
    if rest is not None and rest.code is Code.INSTANCE_QUARANTINE:
        return rest
    return None


def _told(move: UnfinishedMove) -> Reason:
    begun = f'its move to cell {move.how.destination_cell}, which Kronos began'
    if move.plan:
        text = (
            f'{begun}, is in action plan {move.plan}, which goes on; it is '
            f'{move.status}'
        )
        return Reason(text, Code.CELL_BEGUN)
    if move.has_ended:
        text = (
            f'{begun}, waits for you: "{confirming(move.instance)}", or revert'
        )
        return Reason(text, Code.CELL_UNCONFIRMED)
    text = f'{begun} and left in {move.status}, is finished by this plan'
    return Reason(text, Code.CELL_BEGUN)
