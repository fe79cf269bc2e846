# SPDX-License-Identifier: Apache-2.0
"""The progress of a migration, and the life of its two hosts meanwhile."""

from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.migration import notifications, preflight
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.rows import MigrationStatus
from kronos.common import exceptions
from kronos.engine import types
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)

QUEUED = frozenset({'accepted', 'queued'})
PROGRESS_SECONDS = 30.0
"""Between two lines on progress in the log."""
DOWN_SECONDS = 30.0
"""For so long a destination has to be down before it is given up: three
reports of a nova-compute, of which one may be late or lost."""
IDLE_SECONDS = 30.0
"""For so long a server is idle before its migration is called lost: Nova
writes the two one after the other."""


class Progress:
    """The clocks of a migration, and the figures of its driver."""

    def __init__(
        self,
        task: preflight.MigrationTask,
        record: notifications.Record,
        clock: Callable[[], float],
    ) -> None:
        self._task = task
        self._record = record
        self._clock = clock
        self.began = self._changed = self._looked = clock()
        self.left_queue: float | None = None
        self._was_blind = False
        self._told = float('-inf')
        self._best: tuple[int, int] | None = None
        self.text = ''

    def note(self, status: MigrationStatus) -> None:
        """Take one look's result into the clocks, the record and the log."""
        now, record = self._clock(), self._record
        if self._was_blind:
            # Nobody knows what was sent meanwhile.
            self._changed += now - self._looked
        self._looked, self._was_blind = now, False
        record.migration_uuid = status.uuid or record.migration_uuid
        record.status = status.status
        if self.left_queue is None and status.status not in QUEUED:
            self.left_queue = self._changed = now
        since = now if self.left_queue is None else self.left_queue
        record.queued_seconds = since - self.began
        record.running_seconds = now - since
        record.total_seconds = now - self.began
        self._note_figures(status, now)

    def miss(self) -> None:
        """A look that failed: it says nothing of the migration."""
        self._was_blind = True

    def _note_figures(self, status: MigrationStatus, now: float) -> None:
        figures = status.progress
        if figures is None or status.status != 'running':
            # Without figures nobody can say that it stands still.
            self._changed = now
        if figures is None:
            return
        self.text = str(figures)
        self._record.memory_bytes = figures.memory_processed
        self._record.disk_bytes = figures.disk_processed
        done, left = figures.done, figures.remaining
        if self._best is None or done > self._best[0] or left < self._best[1]:
            self._changed = now
            best = self._best or (done, left)
            self._best = max(done, best[0]), min(left, best[1])
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            LOG.info('Instance %s: %s', self._task.instance, self.text)

    def stands_still(self) -> float:
        """Seconds in which it was seen not to move on."""
        return self._looked - self._changed


class Hosts:
    """Both ends of a migration; what goes wrong there is said once."""

    def __init__(
        self,
        client: NovaClient,
        task: preflight.MigrationTask,
        clock: Callable[[], float],
    ) -> None:
        self._nova = client
        self._task = task
        self._clock = clock
        self._troubles: dict[str, str] = {}
        self._down_since: dict[str, float] = {}

    def look(self) -> str:
        """Ask Nova for both services.

        :returns: why the migration must not go on; '' if it may
        """
        task = self._task
        self._see(preflight.SOURCE, task.source)
        self._see(preflight.DESTINATION, task.destination)
        if self._is_silent(preflight.DESTINATION):
            return ''
        return self._troubles.get(preflight.DESTINATION, '')

    def fault(self) -> Fault | None:
        """Whose fault a failure is, by what was wrong at the last look."""
        if preflight.DESTINATION in self._down_since:
            return Fault.DESTINATION_FAILED
        if preflight.SOURCE in self._down_since:
            return Fault.SOURCE_FAILED
        return None

    def _is_silent(self, where: str) -> bool:
        """Whether a host is down that may only be late to report."""
        since = self._down_since.get(where)
        return since is not None and self._clock() - since < DOWN_SECONDS

    def _see(self, where: str, host: str) -> None:
        try:
            service = self._nova.get_service(host)
        except exceptions.NovaClientError as error:
            LOG.warning('%s %s: %s', where.capitalize(), host, error)
            return
        self._note(where, service)
        text = ', '.join(preflight.host_reasons(service, where, host))
        if text != self._troubles.get(where, ''):
            LOG.warning(
                'Instance %s is being migrated: %s',
                self._task.instance,
                text or f'{where} {host} is well again',
            )
        self._troubles[where] = text

    def _note(self, where: str, service: types.ComputeService | None) -> None:
        """Since when a host is down; what was forced down is so at once."""
        if service is not None and service.is_up:
            self._down_since.pop(where, None)
        else:
            forced = service is not None and service.forced_down
            since = float('-inf') if forced else self._clock()
            self._down_since.setdefault(where, since)

    def told(self) -> str:
        """What is wrong at either end, to go behind another reason."""
        found = [text for text in self._troubles.values() if text]
        return ''.join(f'; {text}' for text in found)
