# SPDX-License-Identifier: Apache-2.0
"""The run of an action: a pre-flight, a request, a watch, and a conclusion.

Each kind of action fills in these four. A move also takes its turn among all
others, and what fails for a passing reason is tried again from the start.
"""

import abc
from typing import Generic, TypeVar

from oslo_log import log as logging

from kronos.actions.core import move_metrics, notifications, slots, turn_wait
from kronos.actions.core.context import MoveContext
from kronos.actions.core.parameters import MoveSettings
from kronos.actions.core.retries import back_off, counted, given_up, next_try
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

Sent = TypeVar('Sent')
"""What was asked of Nova, or is about to be."""
Seen = TypeVar('Seen')
"""What the watch has seen last."""


class Run(abc.ABC, Generic[Sent, Seen]):
    """The four steps of an action, in their order."""

    def begin(self) -> None:
        """Wait until it may be done; Watcher calls it PENDING meanwhile.

        :raises StaleTask: it is pointless, or no turn came in time
        :raises KronosException: it must not be done; the class says why
        """
        self._preflight()

    def carry_out(self) -> str:
        """Do it; Watcher calls it ONGOING meanwhile.

        :returns: a remark on the success; '' if all went as planned
        :raises KronosException: what the last try failed of
        """
        return self._attempt()

    def _attempt(self) -> str:
        return self._conclude(self._watch(self._request()))

    @abc.abstractmethod
    def _preflight(self) -> str:
        """Why it cannot begin yet; '' if it can.

        :raises KronosException: it must not be done, or not now
        """

    @abc.abstractmethod
    def _request(self) -> Sent:
        """Ask Nova for it, once more looking whether it is right.

        :raises KronosException: Nova refuses, or surely does not do it
        """

    @abc.abstractmethod
    def _watch(self, sent: Sent) -> Seen:
        """Follow what was asked for until it is over, or takes too long."""

    @abc.abstractmethod
    def _conclude(self, seen: Seen) -> str:
        """Make sure of the end.

        :returns: as :meth:`carry_out`
        :raises KronosException: it is not a good one
        """


class MoveRun(Run[Sent, Seen]):
    """One move of one server, from its turn to its end."""

    waits_for_hosts = False
    """Whether a further try waits for a host that is not ready, too."""

    def __init__(self, settings: MoveSettings, context: MoveContext) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._metrics = move_metrics.MoveMetrics(settings)
        self._turn = turn_wait.TurnWait(settings, context, context.slots)
        self._retries = 0
        self._is_elsewhere = False
        """Whether another delivery of the plan has carried the move out."""
        self._has_arrived = False
        """Whether there was nothing left to do."""

    def begin(self) -> None:
        try:
            with self._metrics.waiting():
                self._is_elsewhere = self._is_over()
                self._await_turn()
        except (exceptions.StaleTask, exceptions.MigrationCancelled) as error:
            self._metrics.ended_early(error)
            raise
        except exceptions.KronosException as error:
            self._fail(error, final=True)
            raise

    def carry_out(self) -> str:
        while not (self._is_elsewhere or self._has_arrived):
            try:
                with self._metrics.running():
                    remark = self._attempt()
            except slots.Replaced:
                self._is_elsewhere = self._is_over()
                self._await_turn()
            except exceptions.KronosException as error:
                self._try_again(error)
            else:
                return self._complete(remark)
        return '' if self._is_elsewhere else self._arrived()

    @abc.abstractmethod
    def _record(self) -> notifications.Record:
        """What is known of this try."""

    @abc.abstractmethod
    def _is_late(self) -> bool:
        """Whether a request did arrive after all.

        :raises NovaClientError: Nova cannot be asked
        """

    def _with_leftovers(
        self, error: exceptions.KronosException
    ) -> exceptions.KronosException:
        """The error of a try, with what it has left behind."""
        return error

    def _after(
        self,
        error: exceptions.KronosException,
        later: exceptions.KronosException,
    ) -> exceptions.KronosException:
        """The error of a move that ended while it waited for a further try.

        :param error: what the try failed of
        :param later: what ended the wait
        """
        return later

    def _may_retry(self) -> bool:
        """Whether Nova was not asked for good."""
        return True

    def _await_turn(self) -> None:
        """Wait for the turn, or while another delivery is at the move.

        :raises KronosException: see :meth:`begin`
        """
        is_further_try = self.waits_for_hosts and self._retries > 0
        while not self._is_elsewhere:
            try:
                self._turn.until(self._preflight, is_further_try)
            except slots.Replaced:
                self._is_elsewhere = self._is_over()
            else:
                return

    def _is_over(self) -> bool:
        """Whether another delivery has carried the move out."""
        context = self._context
        return turn_wait.is_over(self._settings, context, context.slots)

    def _try_again(self, error: exceptions.KronosException) -> None:
        """After a failure, wait until the move may begin once more.

        :raises KronosException: it may not
        """
        context, settings, delay = self._context, self._settings, None
        error = self._with_leftovers(error)
        if self._may_retry():
            delay = next_try(settings, error, self._retries)
        context.slots.release()
        self._fail(error, final=delay is None)
        if delay is None:
            raise given_up(settings, error, counted(self._retries)) from error
        self._retries += 1
        try:
            back_off(settings, context, error, delay)
            self._await_turn()
        except exceptions.KronosException as later:
            cancelled = isinstance(later, exceptions.MigrationCancelled)
            if cancelled and self._is_asked():
                # It is aborted as soon as it is followed.
                return
            self._retries -= 1
            last = later if cancelled else self._after(error, later)
            self._fail(last, final=True)
            if last is later:
                raise
            raise last from later

    def _is_asked(self) -> bool:
        try:
            return self._is_late()
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return False

    def _complete(self, remark: str) -> str:
        self._metrics.succeeded(self._record())
        self._context.notices.completed(
            record=self._record(), retry_count=self._retries, remark=remark
        )
        return remark

    def _arrived(self) -> str:
        """The end of a move that somebody else has made."""
        remark = f'the instance was on {self._task.destination} already'
        if self._retries:
            # Its failures were told.
            self._context.notices.completed(
                record=notifications.Record(),
                retry_count=self._retries - 1,
                remark=remark,
            )
        return remark

    def _fail(self, error: exceptions.KronosException, final: bool) -> None:
        self._metrics.failed(error, final)
        self._context.notices.failed(
            record=self._record(),
            error=error,
            retry_count=self._retries,
            final=final,
        )
