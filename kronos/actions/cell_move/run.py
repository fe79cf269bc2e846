# SPDX-License-Identifier: Apache-2.0
"""The run of a move to another cell, from its turn to its end.

Nova is asked once and the move is followed until somebody has to confirm it.
It is confirmed if all checks pass; else it is taken back.
"""

from collections.abc import Sequence

from oslo_log import log as logging

from kronos.actions import notifications
from kronos.actions.cell_move import checks, preflight
from kronos.actions.cell_move.broken_ends import BrokenEnds
from kronos.actions.cell_move.concurrency import CellConcurrency
from kronos.actions.cell_move.context import CellMoveContext
from kronos.actions.cell_move.ending import Ending
from kronos.actions.cell_move.evidence import Evidence
from kronos.actions.cell_move.mark import Mark, PlanStanding, Stage
from kronos.actions.cell_move.parameters import CellMoveSettings
from kronos.actions.cell_move.progress import Progress, Standing
from kronos.actions.cell_move.request import CellMoveRequest
from kronos.actions.migration.retries import (
    back_off,
    given_up,
    joined,
    next_try,
)
from kronos.actions.migration.turn import delivery, slots, turn_wait
from kronos.clients.nova.server_details import Details
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.snapshots.watcher_actions import CELL_MARK

LOG = logging.getLogger(__name__)

INSTEAD = 'completed instead of cancelled'
MOVED, WAITS, FAILED, SKIPPED = 'moved', 'waits', 'failed', 'skipped'
"""Outcomes, as the evidence has them."""


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
            self._find_mark()
            self._await_turn()
        except (exceptions.StaleTask, exceptions.MigrationCancelled):
            raise
        except exceptions.KronosException as error:
            self._fail(error, 0, True)
            raise

    def carry_out(self) -> str:
        """Move the server, once its turn has come.

        :returns: where it is, and what there is to remark
        :raises StaleTask: it was deleted meanwhile
        :raises KronosException: what the last try failed of
        """
        retries = 0
        while not self._is_elsewhere:
            try:
                remark = self._attempt(retries)
            except exceptions.KronosException as error:
                self._try_again(error, retries)
            else:
                self._keep(self._outcome, remark)
                self._context.notices.completed(
                    record=self._record(), retry_count=retries, remark=remark
                )
                return remark
            retries += 1
        return ''

    def _is_over(self) -> bool:
        context = self._context
        return delivery.is_over(self._settings, context, context.slots)

    def _find_mark(self) -> None:
        """Take over what an applier has begun that died.

        :raises PreFlightError: the action that is to be finished tells
            nothing
        :raises TurnUnknown: the database does not tell
        """
        if self._is_elsewhere:
            return
        begun, turn = self._task.finishes, self._context.slots
        self._mark = Mark.of(turn.mark_of(CELL_MARK, begun))
        if begun and self._mark is None:
            raise faults.error(
                Fault.BAD_PARAMETERS,
                f'action {begun}, which it is to finish, has asked Nova for '
                'nothing',
            )

    def _await_turn(self) -> None:
        """Wait for the turn, or while another delivery is at the move.

        :raises KronosException: see :meth:`begin`
        """
        while not self._is_elsewhere:
            try:
                self._turn.until(self._step)
            except slots.Replaced:
                self._is_elsewhere = self._is_over()
            else:
                return

    def _step(self) -> str:
        """Why the move cannot begin yet; '' if it can, with its turn held.

        :raises StaleTask: Nova refuses all moves of the plan
        :raises KronosException: it must not be made
        """
        context, is_begun = self._context, self._mark is not None
        standing = PlanStanding(True, '') if is_begun else context.plan()
        if standing.refused:
            raise faults.error(Fault.PLAN_REFUSED, standing.refused)
        self._concurrency.look(standing)
        reason = context.slots.take(self._concurrency.why_wait)
        if reason or is_begun:
            return reason
        try:
            preflight.check(self._settings, context)
        except exceptions.KronosException:
            context.slots.release()
            raise
        return ''

    def _attempt(self, retries: int) -> str:
        mark = self._mark
        if mark is None:
            mark = self._ask(retries)
        else:
            self.evidence.before = mark.before
            LOG.info('Instance %s: its move is finished', self._task.instance)
        self._mark = mark
        self.evidence.migration = mark.migration
        progress = Progress(self._settings, self._context, mark, self.evidence)
        progress.write()
        return self._follow(mark, progress)

    def _ask(self, retries: int) -> Mark:
        """Ask Nova for the move; the request is in the mark."""
        context, task = self._context, self._task
        before = context.details.get(task.instance)
        if before is None:
            raise faults.error(Fault.INSTANCE_GONE, 'the instance is gone')
        self.evidence.before = before.document()
        mark = Mark(context.wall(), before.status, before.document())
        context.stop_if_cancelled()
        request = self._request.send(mark)
        self.evidence.requests[task.mode] = request
        LOG.info(
            'Instance %s: %s %s/%s -> %s/%s, request %s',
            task.instance,
            task.mode,
            task.source_cell,
            task.source,
            task.destination_cell,
            task.destination,
            request,
        )
        context.notices.started(request_id=request, retry_count=retries)
        return mark

    def _follow(self, mark: Mark, progress: Progress) -> str:
        """Follow it to its end.

        :raises MigrationError: it did not come to a good one
        """
        parts = (self._settings, self._context, mark, self.evidence)
        ending = Ending(*parts, progress)
        broken = BrokenEnds(*parts)
        was = mark.stage
        look = progress.until(self._settings.timing.move_timeout)
        if look is None:
            raise broken.of_endless(progress.seen)
        match look.standing:
            case Standing.ARRIVED:
                return self._arrived(mark, ending)
            case Standing.CONFIRMED:
                return self._confirmed(was, ending)
            case Standing.GONE:
                raise self._deleted()
            case Standing.REVERTED:
                error = faults.error(
                    Fault.ABORTED,
                    'taken back, as its last action had begun to'
                    if was is Stage.REVERTING
                    else 'somebody else reverted it in Nova',
                )
            case _:
                error = broken.of_move(look)
        if self._task.unpins:
            told = ending.pin(self._task.source_zone)
            error = _worded(error, joined(str(error), told))
        raise error

    def _arrived(self, mark: Mark, ending: Ending) -> str:
        """What is done with a move that waits to be confirmed."""
        if mark.stage is Stage.REVERTING:
            self._take_back(
                ending,
                faults.error(
                    Fault.ABORTED, 'its last action had begun to revert it'
                ),
            )
        self._stop_if_cancelled(ending)
        failed = self._check()
        if failed:
            self._take_back(
                ending, faults.error(Fault.CELL_CHECK_FAILED, failed)
            )
        self._stop_if_cancelled(ending)
        if self._task.is_manual:
            self._outcome = WAITS
            uuid = self._task.instance
            commands = [
                f'openstack server resize {what} {uuid}'
                for what in ('confirm', 'revert')
            ]
            self.evidence.commands += commands
            return f'{self._short()}; now: "{commands[0]}", or revert'
        remark = ending.confirm()
        if self._context.is_cancelled():
            remark = joined(INSTEAD, remark)
        return joined(self._short(), remark)

    def _confirmed(self, was: Stage, ending: Ending) -> str:
        """What is told of a move that is confirmed, whoever did that.

        :raises MigrationFailed: a check fails, and nobody can revert it
        """
        remark = ending.of_confirmed()
        if was is Stage.CONFIRMING:
            return joined(self._short(), remark)
        failed = self._check(is_confirmed=True)
        by_whom = (
            'confirmed by somebody else or by resize_confirm_window: no '
            'revert is possible'
        )
        if failed:
            raise faults.error(
                Fault.CELL_CHECK_FAILED, joined(by_whom, failed, remark)
            )
        return joined(self._short(), by_whom, remark)

    def _stop_if_cancelled(self, ending: Ending) -> None:
        if self._context.is_cancelled():
            self._take_back(
                ending,
                faults.error(Fault.PLAN_CANCELLED, 'its plan was cancelled'),
            )

    def _check(self, is_confirmed: bool = False) -> str:
        """All checks of the server in its new cell; '' if they pass."""
        mark = self._mark
        assert mark is not None  # noqa: S101
        found = checks.of_arrival(
            self._settings,
            self._context,
            Details.from_document(mark.before),
            mark.migration,
            is_confirmed,
        )
        self.evidence.note(found)
        self.evidence.after = self._details()
        return _failed(found)

    def _take_back(
        self, ending: Ending, because: exceptions.MigrationError
    ) -> None:
        """:raises MigrationError: always; why, and how it went"""
        mark = self._mark
        assert mark is not None  # noqa: S101
        LOG.warning('Instance %s: %s', self._task.instance, because)
        after = ending.revert(because)
        found = checks.of_return(
            self._settings,
            self._context,
            Details.from_document(mark.before),
            mark.migration,
        )
        self.evidence.note(found, reverted=True)
        wrong = _failed(found)
        told = f'; not as before: {wrong}' if wrong else ''
        raise _worded(because, f'{because}; taken back{after}{told}')

    def _details(self) -> dict[str, object]:
        try:
            now = self._context.details.get(self._task.instance)
        except exceptions.ClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return {}
        return now.document() if now else {}

    def _deleted(self) -> exceptions.MigrationError:
        return faults.error(
            Fault.INSTANCE_GONE, 'the instance was deleted while it moved'
        )

    def _short(self) -> str:
        seen = self.evidence.seen
        host = seen[-1].host if seen else self._task.destination
        return self.evidence.short(host)

    def _try_again(
        self, error: exceptions.KronosException, retries: int
    ) -> None:
        """After a failure, wait until the move may begin once more.

        :raises KronosException: it may not
        """
        context, settings = self._context, self._settings
        delay = None if self._mark else next_try(settings, error, retries)
        context.slots.release()
        self._fail(error, retries, delay is None)
        if delay is None:
            raise given_up(settings, error, _count(retries)) from error
        try:
            back_off(settings, context, error, delay)
            self._await_turn()
        except exceptions.KronosException as later:
            self._fail(later, retries, True)
            raise

    def _fail(
        self, error: exceptions.KronosException, retries: int, final: bool
    ) -> None:
        self._context.notices.failed(
            record=self._record(),
            error=error,
            retry_count=retries,
            final=final,
        )
        if final:
            stale = isinstance(error, exceptions.StaleTask)
            self._keep(SKIPPED if stale else FAILED, str(error))

    def _keep(self, outcome: str, told: str) -> None:
        """Keep the evidence of a move that Nova was asked for."""
        if self._mark is not None:
            context = self._context
            context.keep(self.evidence.document(context.wall(), outcome, told))

    def _record(self) -> notifications.Record:
        evidence, mark = self.evidence, self._mark
        return notifications.Record(
            request_id=mark.request if mark else '',
            migration_uuid=mark.migration if mark else '',
            status=evidence.seen[-1].migration if evidence.seen else '',
            total_seconds=self._context.wall() - evidence.began,
        )


def _failed(found: Sequence[checks.Check]) -> str:
    """What the checks say that do not pass; '' if all do."""
    return '; '.join(one.told for one in found if not one.ok)


def _worded(
    error: exceptions.MigrationError, text: str
) -> exceptions.MigrationError:
    """The same error in other words."""
    return type(error)(text, **error.kwargs)


def _count(retries: int) -> str:
    return f'tried {retries + 1} times' if retries > 0 else ''
