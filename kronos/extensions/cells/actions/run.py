# SPDX-License-Identifier: Apache-2.0
"""The run of a move to another cell, from its turn to its end.

Nova is asked once and the move is followed until somebody has to confirm it.
It is confirmed if all checks pass; else it is taken back.
"""

from dataclasses import dataclass
from typing import Any

from oslo_log import log as logging

from kronos.actions.core import checks as core_checks
from kronos.actions.core import notifications, slots
from kronos.actions.core.retries import extended
from kronos.actions.core.run import MoveRun
from kronos.actions.core.window import WindowGuard
from kronos.clients.nova.server_details import Details
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.actions import checks, preflight, repair
from kronos.extensions.cells.actions.acceptance import Acceptance
from kronos.extensions.cells.actions.checkpoint import Checkpoint, PlanStanding
from kronos.extensions.cells.actions.concurrency import CellConcurrency
from kronos.extensions.cells.actions.confirm_or_revert import (
    ConfirmOrRevert,
    deleted,
)
from kronos.extensions.cells.actions.context import (
    CellMoveContext,
    StartedMove,
)
from kronos.extensions.cells.actions.journal import (
    FAILED,
    MOVED,
    SKIPPED,
    Journal,
)
from kronos.extensions.cells.actions.parameters import (
    CellMoveSettings,
    CellMoveTask,
)
from kronos.extensions.cells.actions.progress import (
    CellMoveLook,
    CellMoveProgress,
    Standing,
)
from kronos.extensions.cells.actions.repair import CellMoveRepair
from kronos.extensions.cells.actions.request import CellMoveRequest
from kronos.extensions.cells.cell_drain import CELL_MARK

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Watched:
    """A move that is over, or takes too long."""

    begun: StartedMove
    progress: CellMoveProgress
    look: CellMoveLook | None
    """None: it takes too long."""


class CellMoveRun(MoveRun[StartedMove, Watched]):
    """One move of one server.

    One class, since a move may take any turn at each of its stages: it is
    cancelled, ended by others, deleted, or found half done.

    :param plan: uuid of the action plan
    """

    _settings: CellMoveSettings
    _context: CellMoveContext
    _task: CellMoveTask

    def __init__(
        self,
        settings: CellMoveSettings,
        context: CellMoveContext,
        plan: str = '',
    ) -> None:
        super().__init__(settings, context)
        self._concurrency = CellConcurrency(settings, context, plan)
        self._requests = CellMoveRequest(settings, context)
        self._window = WindowGuard(settings, context)
        self._checkpoint: Checkpoint | None = None
        """None until Nova was asked."""
        self._has_looked = False
        """Whether a checkpoint of a dead applier was looked for."""
        self._outcome = MOVED
        self.journal = Journal(settings.task, context.wall())

    def _is_over(self) -> bool:
        """As of all moves. If that delivery dies, its checkpoint counts."""
        self._has_looked = False
        return super()._is_over()

    def _find_checkpoint(self) -> None:
        """Take over what an applier has begun that died.

        Only before anything is asked: one of our own is none of those.

        :raises PreFlightError: the action that is to be finished says
            nothing, or a checkpoint makes no sense
        :raises TurnUnknown: the database does not tell
        """
        if self._has_looked:
            return
        begun, turn = self._task.finishes, self._context.slots
        row = turn.mark_of(CELL_MARK)
        if begun and not row:
            row = turn.mark_of(CELL_MARK, begun)
            if not row:
                raise faults.error(
                    Fault.BAD_PARAMETERS,
                    f'action {begun}, which it should finish, has requested '
                    'nothing from Nova',
                )
        if row:
            self._checkpoint = _sound(row)
        self._has_looked = True

    def _preflight(self) -> str:
        """Why the move cannot begin yet; '' if it can, with its turn held.

        :raises StaleTask: Nova refuses all moves of the plan
        :raises KronosException: it must not be made
        """
        context = self._context
        self._find_checkpoint()
        is_begun = self._is_late()
        if not is_begun:
            self._window.check()
        self._concurrency.look(self._plan(is_begun))
        others: list[slots.Slot] = []

        def why_wait(slots_of_others: list[slots.Slot]) -> str:
            others[:] = slots_of_others
            return self._concurrency.why_wait(slots_of_others)

        reason = context.slots.take(why_wait)
        if self._concurrency.is_behind:
            self._turn.put_off()
        if reason or is_begun:
            return reason
        try:
            # Another one may have had its turn, and its answer, meanwhile.
            self._plan(is_begun)
            self._window.check(is_fresh=True)
            preflight.check(self._settings, context)
            reason = core_checks.why_over_budget(
                self._settings, context.nova, others, context.wall()
            )
        except exceptions.KronosException:
            context.slots.release()
            raise
        if reason:
            context.slots.release()
        return reason

    def _plan(self, is_begun: bool) -> PlanStanding:
        """:raises StaleTask: Nova refuses all moves of the plan"""
        if is_begun:
            return PlanStanding(True)
        standing = self._context.plan()
        if standing.is_refused:
            raise faults.error(Fault.PLAN_REFUSED, standing.refused)
        return standing

    def _find_late(self) -> None:
        """Take over a request of our own whose answer was lost.

        :raises NovaClientError: Nova cannot be asked
        """
        self._checkpoint = self._requests.late_checkpoint()
        if self._checkpoint is not None:
            self._started(self._checkpoint)

    def _started(self, checkpoint: Checkpoint) -> None:
        task = self._task
        LOG.info(
            'Instance %s: %s %s/%s -> %s/%s, request %s',
            task.instance,
            task.mode,
            task.source_cell,
            task.source,
            task.destination_cell,
            task.destination,
            checkpoint.request,
        )
        self._context.notices.started(
            request_id=checkpoint.request, retry_count=self._retries
        )

    def _request(self) -> StartedMove:
        if self._checkpoint is None:
            self._checkpoint = self._ask()
        checkpoint, journal = self._checkpoint, self.journal
        journal.began, journal.before = checkpoint.asked_at, checkpoint.before
        journal.migration = checkpoint.migration
        journal.requests.setdefault(self._task.mode, checkpoint.request)
        return StartedMove(self._settings, self._context, checkpoint, journal)

    def _ask(self) -> Checkpoint:
        """Ask Nova for the move; the request is in the checkpoint."""
        context, task = self._context, self._task
        context.stop_if_cancelled()
        before = checks.before(context, task.instance)
        if before is None:
            raise faults.error(Fault.INSTANCE_GONE, 'the instance is gone')
        self.journal.began = context.wall()
        self.journal.before = before.document()
        checkpoint = Checkpoint(
            context.wall(), before.status, before.document()
        )
        self._requests.send(checkpoint)
        self._started(checkpoint)
        return checkpoint

    def _watch(self, sent: StartedMove) -> Watched:
        progress = CellMoveProgress(sent)
        self._context.mark(sent.checkpoint)
        look = progress.until(self._settings.timing.move_timeout)
        return Watched(sent, progress, look)

    def _conclude(self, seen: Watched) -> str:
        """Confirm it or take it back.

        :raises MigrationError: it did not come to a good end
        """
        begun, look, stage = seen.begun, seen.look, seen.begun.checkpoint.stage
        ending = ConfirmOrRevert(begun, seen.progress)
        if look is None:
            ending.leave_unpinned(self._task.source_zone)
            raise CellMoveRepair(begun).of_endless(seen.progress.seen)
        before = Details.from_document(begun.checkpoint.before)
        acceptance = Acceptance(begun, ending, before)
        match look.standing:
            case Standing.ARRIVED:
                remark = acceptance.settle()
                self._outcome = acceptance.outcome
                return remark
            case Standing.CONFIRMED:
                return acceptance.confirmed(stage)
            case Standing.GONE:
                raise deleted()
            case Standing.REVERTED:
                raise ending.reverted(stage)
            case _:
                raise self._broken(look, ending, CellMoveRepair(begun))

    def _complete(self, remark: str) -> str:
        self._keep(self._outcome, remark)
        return super()._complete(remark)

    def _broken(
        self,
        look: CellMoveLook,
        ending: ConfirmOrRevert,
        broken: CellMoveRepair,
    ) -> exceptions.MigrationError:
        """The error of a move that Nova gave up."""
        if look.instance and look.instance.host != self._task.source:
            # Somebody has confirmed it, and that was what failed.
            return ending.half_confirmed(look)
        error = broken.of_move(look)
        return extended(error, ending.pin_back())

    def _may_retry(self) -> bool:
        return self._checkpoint is None

    def _is_late(self) -> bool:
        if self._checkpoint is None:
            self._find_late()
        return self._checkpoint is not None

    def _with_leftovers(
        self, error: exceptions.KronosException
    ) -> exceptions.KronosException:
        """The same error; of a server that is gone, with what is left."""
        checkpoint = self._checkpoint
        if checkpoint is None or not isinstance(error, exceptions.StaleTask):
            return error
        consumers = filter(None, (self._task.instance, checkpoint.migration))
        commands = repair.room_of_deleted(
            self._settings, self._context, *consumers
        )
        self.journal.commands += commands
        remarks = (f'still in Placement: "{command}"' for command in commands)
        return extended(error, *remarks)

    def _fail(self, error: exceptions.KronosException, final: bool) -> None:
        super()._fail(error, final)
        if final:
            stale = isinstance(error, exceptions.StaleTask)
            self._keep(SKIPPED if stale else FAILED, str(error))

    def _keep(self, outcome: str, message: str) -> None:
        """Keep the journal of a move that Nova was asked for."""
        if self.journal.before:
            context = self._context
            context.keep(
                self.journal.document(context.wall(), outcome, message)
            )

    def _record(self) -> notifications.Record:
        journal, checkpoint = self.journal, self._checkpoint
        return notifications.Record(
            request_id=checkpoint.request if checkpoint else '',
            migration_uuid=checkpoint.migration if checkpoint else '',
            status=journal.seen[-1].migration if journal.seen else '',
            total_seconds=self._context.wall() - journal.began
            if journal.before
            else None,
        )


def _sound(row: dict[str, Any]) -> Checkpoint:
    """A checkpoint that can be followed.

    :raises PreFlightError: somebody has edited it
    """
    checkpoint = Checkpoint.of(row)
    try:
        Details.from_document(checkpoint and checkpoint.before)
    except ValueError as error:
        checkpoint = None
        LOG.warning('The mark of a move makes no sense: %s', error)
    if checkpoint is None:
        raise faults.error(
            Fault.BAD_PARAMETERS,
            f'the note in its row about an earlier request ({CELL_MARK}) is '
            'not valid: Kronos sends no request; check what the server does',
        )
    return checkpoint
