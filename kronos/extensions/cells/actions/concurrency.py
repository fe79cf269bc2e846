# SPDX-License-Identifier: Apache-2.0
"""The concurrency limits of cell moves: per cell that they leave, per host.

A cold move copies a whole disk: a host takes part in one at a time, live
migrations included.
"""

from kronos.actions.core import concurrency, slots
from kronos.extensions.cells.actions.checkpoint import PlanStanding
from kronos.extensions.cells.actions.context import CellMoveContext
from kronos.extensions.cells.actions.parameters import CellMoveSettings


class CellConcurrency:
    """What moves now, as Nova and the other actions of Kronos tell."""

    def __init__(
        self, settings: CellMoveSettings, context: CellMoveContext, plan: str
    ) -> None:
        self._task = settings.task
        self._settings = settings
        self._plan = plan
        self._standing = PlanStanding(True)
        self.is_behind = False
        """Whether a move of its plan was under way when it was asked last."""
        self._moves = concurrency.Concurrency(
            context.nova,
            settings.task,
            concurrency.ConcurrencyLimits(
                stuck_seconds=settings.stuck_seconds
            ),
            context.wall,
        )

    def look(self, standing: PlanStanding) -> None:
        """Ask Nova for what is under way.

        :param standing: of the plan
        :raises NovaClientError: it cannot be asked
        """
        self._standing = standing
        self._moves.look()

    def why_wait(self, others: list[slots.Slot]) -> str:
        """What the task has to wait for; '' if it may go.

        :param others: slots of the other actions
        """
        task, most = self._task, self._settings.max_out_of_cell
        moving = [slot for slot in others if slot.is_held]
        self.is_behind = any(slot.is_own_plan for slot in moving)
        if not self._standing.is_accepted and any(
            slot.cell and slot.plan == self._plan for slot in moving
        ):
            return 'the first move of the plan has to be taken by Nova'
        leaving = [slot for slot in moving if slot.cell == task.source_cell]
        if len(leaving) >= most:
            return (
                f'{len(leaving)} under way out of cell {task.source_cell}, '
                f'of at most {most}'
            )
        for host in (task.source, task.destination):
            for slot in self._moves.under_way(others):
                if host in (slot.source, slot.destination):
                    return f'1 under way at {host}, of at most 1'
        return ''
