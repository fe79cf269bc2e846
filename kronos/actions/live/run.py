# SPDX-License-Identifier: Apache-2.0
"""The run of a live migration, from its turn to its end."""

from oslo_log import log as logging

from kronos.actions.core import notifications
from kronos.actions.core.retries import counted, given_up, joined
from kronos.actions.core.run import MoveRun
from kronos.actions.live import preflight, request
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.monitor import MigrationMonitor
from kronos.actions.live.parameters import MigrationSettings
from kronos.common import exceptions

LOG = logging.getLogger(__name__)


class MigrationRun(MoveRun[MigrationMonitor, MigrationMonitor]):
    """One live migration of one instance."""

    waits_for_hosts = True
    _settings: MigrationSettings
    _context: MigrationContext

    def __init__(
        self, settings: MigrationSettings, context: MigrationContext
    ) -> None:
        super().__init__(settings, context)
        self._admission = preflight.Admission(
            settings, context, self._turn.put_off
        )
        self._requests = request.MigrationRequest(settings, context)
        self._tried = notifications.Record()

    def _preflight(self) -> str:
        if self._is_late():
            return ''
        reason = self._admission.why_wait()
        self._has_arrived = self._admission.arrived
        return reason

    def _request(self) -> MigrationMonitor:
        self._tried = notifications.Record()
        sent, task = self._requests.send(), self._task
        self._tried.request_id = sent.request_id
        LOG.info(
            'Instance %s: live migration %s -> %s, request %s',
            task.instance,
            task.source,
            task.destination,
            sent.request_id,
        )
        self._context.notices.started(
            request_id=sent.request_id, retry_count=self._retries
        )
        return MigrationMonitor(
            self._settings,
            self._context,
            sent,
            self._tried,
            self._admission.window,
        )

    def _watch(self, sent: MigrationMonitor) -> MigrationMonitor:
        sent.watch()
        return sent

    def _conclude(self, seen: MigrationMonitor) -> str:
        return seen.conclude()

    def _complete(self, remark: str) -> str:
        return super()._complete(joined(remark, counted(self._retries)))

    def _record(self) -> notifications.Record:
        return self._tried

    def _is_late(self) -> bool:
        return bool(self._requests.late())

    def _after(
        self,
        error: exceptions.KronosException,
        later: exceptions.KronosException,
    ) -> exceptions.KronosException:
        """What the move died of comes first."""
        return given_up(self._settings, error, f'not tried again: {later}')
