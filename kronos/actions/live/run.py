# SPDX-License-Identifier: Apache-2.0
"""The run of a move, from its turn to its end.

It is asked of Nova and followed; what fails for a passing reason is tried
again, from the start.
"""

from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core import notifications
from kronos.actions.core.retries import back_off, given_up, joined, next_try
from kronos.actions.core.turn import delivery, slots
from kronos.actions.live import admission, monitor, request
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.common import exceptions

LOG = logging.getLogger(__name__)


class MigrationRun:
    """One move of one instance."""

    def __init__(
        self, settings: MigrationSettings, context: MigrationContext
    ) -> None:
        self._settings = settings
        self._task = settings.task
        self._context = context
        self._admission = admission.Admission(settings, context)
        self._request = request.MigrationRequest(settings, context)
        self._is_elsewhere = False
        """Whether another delivery of the plan has carried the move out."""

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
            self._fail(notifications.Record(), error, 0, True)
            raise

    def carry_out(self) -> str:
        """Move the instance, once its turn has come.

        :returns: a remark on the success; empty if all went as planned
        :raises KronosException: what the last try failed of
        """
        retries = 0
        while not (self._admission.arrived or self._is_elsewhere):
            record = notifications.Record()
            try:
                remark = self._attempt(record, retries)
            except exceptions.KronosException as error:
                self._try_again(record, error, retries)
            else:
                remark = joined(remark, _count(retries))
                self._context.notices.completed(
                    record=record, retry_count=retries, remark=remark
                )
                return remark
            retries += 1
        if self._is_elsewhere:
            return ''
        remark = f'the instance was on {self._task.destination} already'
        if retries:
            # Its failures were told.
            self._context.notices.completed(
                record=notifications.Record(),
                retry_count=retries - 1,
                remark=remark,
            )
        return remark

    def _await_turn(self, found: Callable[[], object] | None = None) -> None:
        """Wait for the turn, or while another delivery is at the move.

        :param found: as for :meth:`.admission.Admission.wait`
        :raises KronosException: see :meth:`begin`
        """
        while not self._is_elsewhere:
            try:
                self._admission.wait(found)
            except slots.Replaced:
                self._is_elsewhere = self._is_over()
            else:
                return

    def _is_over(self) -> bool:
        """Whether another delivery has carried the move out.

        :raises KronosException: see :meth:`begin`
        """
        context = self._context
        return delivery.is_over(self._settings, context, context.slots)

    def _attempt(self, record: notifications.Record, retries: int) -> str:
        sent = self._request.send()
        record.request_id = sent.request_id
        LOG.info(
            'Instance %s: live migration %s -> %s, request %s',
            self._task.instance,
            self._task.source,
            self._task.destination,
            sent.request_id,
        )
        self._context.notices.started(
            request_id=sent.request_id, retry_count=retries
        )
        return monitor.Migration(
            self._settings, self._context, sent, record
        ).follow()

    def _try_again(
        self,
        record: notifications.Record,
        error: exceptions.KronosException,
        retries: int,
    ) -> None:
        """After a failure, wait until the move may begin once more.

        :raises KronosException: it may not
        """
        self._context.slots.release()
        delay = next_try(self._settings, error, retries)
        self._fail(record, error, retries, delay is None)
        if delay is None:
            raise given_up(self._settings, error, _count(retries)) from error
        try:
            back_off(self._settings, self._context, error, delay)
            self._await_turn(self._request.found)
        except exceptions.MigrationCancelled as cancelled:
            if self._is_asked():
                # It is aborted as soon as it is followed.
                return
            self._fail(record, cancelled, retries, True)
            raise
        except exceptions.KronosException as later:
            # What the move died of comes first.
            told = given_up(self._settings, error, f'not tried again: {later}')
            self._fail(record, told, retries, True)
            raise told from later

    def _is_asked(self) -> bool:
        """Whether a request did arrive after all, as far as Nova tells."""
        try:
            return bool(self._request.found())
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return False

    def _fail(
        self,
        record: notifications.Record,
        error: exceptions.KronosException,
        retries: int,
        final: bool,
    ) -> None:
        self._context.notices.failed(
            record=record, error=error, retry_count=retries, final=final
        )


def _count(retries: int) -> str:
    return f'tried {retries + 1} times' if retries > 0 else ''
