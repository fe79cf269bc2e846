# SPDX-License-Identifier: Apache-2.0
"""The run of a move to another cell, from its turn to its end.

Nova is asked once and the move is followed until somebody has to confirm it.
It is confirmed if all checks pass; else it is taken back.
"""

from typing import Any

from oslo_log import log as logging

from kronos.actions.cell import checks, preflight, repair
from kronos.actions.cell.acceptance import Arrival, worded
from kronos.actions.cell.checkpoint import Mark, PlanStanding
from kronos.actions.cell.concurrency import CellConcurrency
from kronos.actions.cell.confirm_or_revert import Ending, deleted
from kronos.actions.cell.context import BegunMove, CellMoveContext
from kronos.actions.cell.journal import FAILED, MOVED, SKIPPED, Evidence
from kronos.actions.cell.parameters import CellMoveSettings
from kronos.actions.cell.progress import Look, Progress, Standing
from kronos.actions.cell.repair import BrokenEnds
from kronos.actions.cell.request import CellMoveRequest
from kronos.actions.core import notifications
from kronos.actions.core.retries import back_off, given_up, joined, next_try
from kronos.actions.core.turn import delivery, slots, turn_wait
from kronos.clients.nova.server_details import Details
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.snapshots.watcher_actions import CELL_MARK

LOG = logging.getLogger(__name__)


class CellMoveRun:
    """One move of one server.

    One class, since a move may take any turn at each of its stages: it is
    cancelled, ended by others, deleted, or found half done.

    :param plan: uuid of the action plan
    """

    def __init__(
        self,
        settings: CellMoveSettings,
        context: CellMoveContext,
        plan: str = '',
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._turn = turn_wait.TurnWait(settings, context, context.slots)
        self._concurrency = CellConcurrency(settings, context, plan)
        self._request = CellMoveRequest(settings, context)
        self._mark: Mark | None = None
        """None until Nova was asked."""
        self._retries = 0
        self._has_looked = False
        """Whether a mark of a dead applier was looked for."""
        self._is_elsewhere = False
        """Whether another delivery of the plan has carried the move out."""
        self._outcome = MOVED
        self.evidence = Evidence(settings.task, context.wall())

    def begin(self) -> None:
        """Wait for the move's turn.

        :raises StaleTask: it is pointless, or no turn came in time
        :raises KronosException: it must not be made; the class says why
        """
        try:
            self._is_elsewhere = self._is_over()
            self._await_turn()
        except (exceptions.StaleTask, exceptions.MigrationCancelled):
            raise
        except exceptions.KronosException as error:
            self._fail(error, True)
            raise

    def carry_out(self) -> str:
        """Move the server, once its turn has come.

        :returns: where it is, and what there is to remark
        :raises StaleTask: it was deleted meanwhile
        :raises KronosException: what the last try failed of
        """
        while not self._is_elsewhere:
            try:
                remark = self._attempt()
            except slots.Replaced:
                self._leave_it()
                self._await_turn()
            except exceptions.KronosException as error:
                self._try_again(error)
            else:
                self._keep(self._outcome, remark)
                self._context.notices.completed(
                    record=self._record(),
                    retry_count=self._retries,
                    remark=remark,
                )
                return remark
        return ''

    def _leave_it(self) -> None:
        """Leave the move to another delivery, and wait until that is over.

        If that dies, too, its mark counts.
        """
        self._has_looked = False
        self._is_elsewhere = self._is_over()

    def _is_over(self) -> bool:
        context = self._context
        return delivery.is_over(self._settings, context, context.slots)

    def _find_mark(self) -> None:
        """Take over what an applier has begun that died.

        Only before anything is asked: a mark of our own is none of those.

        :raises PreFlightError: the action that is to be finished tells
            nothing, or what a mark tells makes no sense
        :raises TurnUnknown: the database does not tell
        """
        if self._has_looked:
            return
        begun, turn = self._task.finishes, self._context.slots
        told = turn.mark_of(CELL_MARK)
        if begun and not told:
            told = turn.mark_of(CELL_MARK, begun)
            if not told:
                raise faults.error(
                    Fault.BAD_PARAMETERS,
                    f'action {begun}, which it is to finish, has asked Nova '
                    'for nothing',
                )
        if told:
            self._mark = _sound(told)
        self._has_looked = True

    def _await_turn(self) -> None:
        """Wait for the turn, or while another delivery is at the move.

        :raises KronosException: see :meth:`begin`
        """
        while not self._is_elsewhere:
            try:
                self._turn.until(self._step)
            except slots.Replaced:
                self._leave_it()
            else:
                return

    def _step(self) -> str:
        """Why the move cannot begin yet; '' if it can, with its turn held.

        :raises StaleTask: Nova refuses all moves of the plan
        :raises KronosException: it must not be made
        """
        context = self._context
        self._find_mark()
        if self._mark is None:
            self._find_late()
        is_begun = self._mark is not None
        self._concurrency.look(self._plan(is_begun))
        reason = context.slots.take(self._concurrency.why_wait)
        if self._concurrency.is_behind:
            self._turn.put_off()
        if reason or is_begun:
            return reason
        try:
            # Another one may have had its turn, and its answer, meanwhile.
            self._plan(is_begun)
            preflight.check(self._settings, context)
        except exceptions.KronosException:
            context.slots.release()
            raise
        return ''

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
        self._mark = self._request.found()
        if self._mark is not None:
            self._started(self._mark)

    def _started(self, mark: Mark) -> None:
        task = self._task
        LOG.info(
            'Instance %s: %s %s/%s -> %s/%s, request %s',
            task.instance,
            task.mode,
            task.source_cell,
            task.source,
            task.destination_cell,
            task.destination,
            mark.request,
        )
        self._context.notices.started(
            request_id=mark.request, retry_count=self._retries
        )

    def _attempt(self) -> str:
        if self._mark is None:
            self._mark = self._ask()
        mark, evidence = self._mark, self.evidence
        evidence.began, evidence.before = mark.at, mark.before
        evidence.migration = mark.migration
        evidence.requests.setdefault(self._task.mode, mark.request)
        return self._follow(
            BegunMove(self._settings, self._context, mark, evidence)
        )

    def _ask(self) -> Mark:
        """Ask Nova for the move; the request is in the mark."""
        context, task = self._context, self._task
        context.stop_if_cancelled()
        before = checks.before(context, task.instance)
        if before is None:
            raise faults.error(Fault.INSTANCE_GONE, 'the instance is gone')
        self.evidence.began = context.wall()
        self.evidence.before = before.document()
        mark = Mark(context.wall(), before.status, before.document())
        self._request.send(mark)
        self._started(mark)
        return mark

    def _follow(self, begun: BegunMove) -> str:
        """Follow it to its end.

        :raises MigrationError: it did not come to a good one
        """
        progress = Progress(begun)
        progress.write()
        ending = Ending(begun, progress)
        was = begun.mark.stage
        look = progress.until(self._settings.timing.move_timeout)
        if look is None:
            ending.leave_unpinned(self._task.source_zone)
            raise BrokenEnds(begun).of_endless(progress.seen)
        before = Details.from_document(begun.mark.before)
        arrival = Arrival(begun, ending, before)
        match look.standing:
            case Standing.ARRIVED:
                remark = arrival.settle()
                self._outcome = arrival.outcome
                return remark
            case Standing.CONFIRMED:
                return arrival.confirmed(was)
            case Standing.GONE:
                raise deleted()
            case Standing.REVERTED:
                raise ending.reverted(was)
            case _:
                raise self._broken(look, ending, BrokenEnds(begun))

    def _broken(
        self, look: Look, ending: Ending, broken: BrokenEnds
    ) -> exceptions.MigrationError:
        """The error of a move that Nova gave up."""
        if look.instance and look.instance.host != self._task.source:
            # Somebody has confirmed it, and that was what failed.
            return ending.half_confirmed(look)
        error = broken.of_move(look)
        return worded(error, joined(str(error), ending.pin_back()))

    def _try_again(self, error: exceptions.KronosException) -> None:
        """After a failure, wait until the move may begin once more.

        :raises KronosException: it may not
        """
        context, settings = self._context, self._settings
        error = self._with_leftovers(error)
        delay = None
        if self._mark is None:
            delay = next_try(settings, error, self._retries)
        context.slots.release()
        self._fail(error, delay is None)
        if delay is None:
            raise given_up(settings, error, _count(self._retries)) from error
        self._retries += 1
        try:
            back_off(settings, context, error, delay)
            self._await_turn()
        except exceptions.KronosException as later:
            if self._is_late(later):
                return
            self._retries -= 1
            self._fail(later, True)
            raise

    def _is_late(self, error: exceptions.KronosException) -> bool:
        """Whether a request arrived of a plan that was cancelled meanwhile.

        It is taken back as soon as it is followed.
        """
        if not isinstance(error, exceptions.MigrationCancelled):
            return False
        try:
            self._find_late()
        except exceptions.NovaClientError as away:
            LOG.warning('Instance %s: %s', self._task.instance, away)
        return self._mark is not None

    def _with_leftovers(
        self, error: exceptions.KronosException
    ) -> exceptions.KronosException:
        """The same error; of a server that is gone, with what is left."""
        mark, gone = self._mark, isinstance(error, exceptions.StaleTask)
        if mark is None or not gone:
            return error
        consumers = filter(None, (self._task.instance, mark.migration))
        left = repair.room_of_deleted(
            self._settings, self._context, *consumers
        )
        self.evidence.commands += left
        told = (f'still in Placement: "{one}"' for one in left)
        return type(error)(joined(str(error), *told), **error.kwargs)

    def _fail(self, error: exceptions.KronosException, final: bool) -> None:
        self._context.notices.failed(
            record=self._record(),
            error=error,
            retry_count=self._retries,
            final=final,
        )
        if final:
            stale = isinstance(error, exceptions.StaleTask)
            self._keep(SKIPPED if stale else FAILED, str(error))

    def _keep(self, outcome: str, told: str) -> None:
        """Keep the evidence of a move that Nova was asked for."""
        if self.evidence.before:
            context = self._context
            context.keep(self.evidence.document(context.wall(), outcome, told))

    def _record(self) -> notifications.Record:
        evidence, mark = self.evidence, self._mark
        return notifications.Record(
            request_id=mark.request if mark else '',
            migration_uuid=mark.migration if mark else '',
            status=evidence.seen[-1].migration if evidence.seen else '',
            total_seconds=self._context.wall() - evidence.began
            if evidence.before
            else None,
        )


def _sound(told: dict[str, Any]) -> Mark:
    """A mark that can be followed.

    :raises PreFlightError: somebody has edited it
    """
    mark = Mark.of(told)
    try:
        Details.from_document(mark and mark.before)
    except ValueError as error:
        mark = None
        LOG.warning('The mark of a move makes no sense: %s', error)
    if mark is None:
        raise faults.error(
            Fault.BAD_PARAMETERS,
            f'what its row tells of an earlier request ({CELL_MARK}) makes '
            'no sense: nothing is asked, see what the server does',
        )
    return mark


def _count(retries: int) -> str:
    return f'tried {retries + 1} times' if retries > 0 else ''
