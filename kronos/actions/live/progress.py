# SPDX-License-Identifier: Apache-2.0
"""The progress of a migration as Nova shows it, and the life of its hosts."""

from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core import checks, notifications
from kronos.actions.core.parameters import MigrationTask
from kronos.actions.live import verification
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.actions.live.passes import MigrationSize, Passes, PassLook
from kronos.actions.live.request import SentRequest
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.progress import Progress as Figures
from kronos.clients.nova.rows import MigrationStatus
from kronos.common import exceptions
from kronos.engine import faults, types
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)

QUEUED = frozenset({'accepted', 'queued'})
RUNNING = 'running'
PROGRESS_SECONDS = 30.0
"""Between two lines on progress in the log."""
DOWN_SECONDS = 30.0
"""For so long a destination has to be down before it is given up: three
reports of a nova-compute, of which one may be late or lost."""
IDLE_SECONDS = 30.0
"""For so long a server is idle before its migration is called lost: Nova
writes the two one after the other."""
FINISHING_SECONDS = 600.0
"""The same where it has arrived and its source is up: that host looks at all
of its servers and disks before it calls the migration completed."""


class MigrationProgress:
    """The clocks of a migration, and the figures of its driver."""

    def __init__(
        self,
        settings: MigrationSettings,
        record: notifications.Record,
        clock: Callable[[], float],
    ) -> None:
        self._task = settings.task
        self._stall_timeout = settings.timing.stall_timeout
        self._record = record
        self._clock = clock
        self.began = self._changed = self._looked = clock()
        self.left_queue: float | None = None
        self.has_run = False
        """Whether data were being sent at any look."""
        self._was_blind = False
        self._told = float('-inf')
        self._figures: Figures | None = None
        self._figures_at: float | None = None
        """When the last figures were seen that were others than before."""
        self._best: tuple[int, int] | None = None
        self.size = MigrationSize()
        self.text = ''
        """How far it has come; '' if its driver does not tell."""
        self.passes = Passes()
        """Over the guest's memory."""

    def note(self, status: MigrationStatus) -> None:
        """Take one look's result into the clocks, the record and the log."""
        now, record = self._clock(), self._record
        if self._was_blind:
            # Nobody knows what was sent meanwhile.
            self._changed += now - self._looked
            self._figures_at = None
        record.migration_uuid = status.uuid or record.migration_uuid
        record.status = status.status
        if self.left_queue is None and status.status not in QUEUED:
            self.left_queue = self._changed = now
        self.has_run = self.has_run or status.status == RUNNING
        since = now if self.left_queue is None else self.left_queue
        record.queued_seconds = since - self.began
        record.running_seconds = now - since
        record.total_seconds = now - self.began
        if status.progress is None or status.status != RUNNING:
            # Without figures nobody can say that it stands still.
            self._changed, self._figures_at = now, None
        if status.progress is not None:
            self._note_figures(status.progress, now)
        self._looked, self._was_blind = now, False

    def miss(self) -> None:
        """A look that failed: it says nothing of the migration."""
        self._was_blind = True

    def _note_figures(self, figures: Figures, now: float) -> None:
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            LOG.info('Instance %s: %s', self._task.instance, figures)
        if figures == self._figures:
            # Nova has written nothing since the last look.
            return
        self._check_pace(now)
        self._figures, self.text = figures, str(figures)
        self.size.note(figures)
        if figures.memory_total and figures.memory_processed is not None:
            # While a disk is copied, nothing is told of memory but zeros.
            look = PassLook(
                now,
                figures.memory_processed,
                figures.memory_remaining or 0,
                after=self._looked,
                written_at=figures.written_at,
            )
            self.passes.note(look)
        self._record.memory_bytes = figures.memory_processed
        self._record.disk_bytes = figures.disk_processed
        done, remaining = figures.done, figures.remaining
        if (
            self._best is None
            or done > self._best[0]
            or remaining < self._best[1]
        ):
            self._changed = now
            best = self._best or (done, remaining)
            self._best = max(done, best[0]), min(remaining, best[1])

    def _check_pace(self, now: float) -> None:
        """Warn where figures come too seldom to tell a standstill by them."""
        since, self._figures_at = self._figures_at, now
        gap = 0.0 if since is None else now - since
        if gap <= self._stall_timeout / 2 or not self._stall_timeout:
            return
        LOG.warning(
            'Instance %s: no new figures of its migration for %d s, and '
            'stall_timeout is %g s. If nova-compute writes them so seldom, '
            'set live_migration_monitor_interval in its nova.conf to less '
            'than half of stall_timeout',
            self._task.instance,
            gap,
            self._stall_timeout,
        )

    def stands_still(self) -> float:
        """Seconds in which it was seen not to move on."""
        return self._looked - self._changed


class MigrationHosts:
    """Both ends of a migration; what goes wrong there is said once."""

    def __init__(
        self,
        client: NovaClient,
        task: MigrationTask,
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
        self._see(checks.SOURCE, task.source)
        self._see(checks.DESTINATION, task.destination)
        if self._is_silent(checks.DESTINATION):
            return ''
        return self._troubles.get(checks.DESTINATION, '')

    def is_source_down(self) -> bool:
        """Whether it was for long enough, at the last look."""
        where = checks.SOURCE
        return where in self._down_since and not self._is_silent(where)

    def fault(self) -> Fault | None:
        """Whose fault a failure is, by what was wrong at the last look."""
        if checks.DESTINATION in self._down_since:
            return Fault.DESTINATION_FAILED
        if checks.SOURCE in self._down_since:
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
        text = ', '.join(checks.host_reasons(service, where, host))
        if text != self._troubles.get(where, ''):
            LOG.warning(
                'Instance %s is being migrated: %s',
                self._task.instance,
                text or f'{where} {host} is available again',
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

    def text(self) -> str:
        """What is wrong at either end, to go behind another reason."""
        troubles = [text for text in self._troubles.values() if text]
        return ''.join(f'; {text}' for text in troubles)


class Observation:
    """One migration as Nova shows it, again and again.

    :param sent: the request that began it; if it is not surely ours, a
        migration to another host is left alone
    :param record: filled in by each look
    """

    def __init__(
        self,
        context: MigrationContext,
        settings: MigrationSettings,
        checks: verification.Verification,
        sent: SentRequest,
        record: notifications.Record,
    ) -> None:
        self._task = settings.task
        self._nova = context.nova
        self._live_migration = context.live_migration
        self._clock = context.clock
        self._verification = checks
        self._key = sent.request_id
        self._sent = sent
        self._idle_since: float | None = None
        self.progress = MigrationProgress(settings, record, context.clock)
        self.seen: MigrationStatus | None = None
        """As it was last seen."""
        self.is_there = False
        """Whether its server is on the destination, and Nova at no task."""

    def look(self) -> MigrationStatus | None:
        """The migration as it is now; None if Nova does not tell.

        :raises MigrationFailed: the instance is gone
        :raises MigrationCancelled: somebody else moves it elsewhere
        """
        task = self._task
        try:
            status = self._live_migration.get_migration_status(
                task.instance, self._key, self._sent.earlier
            )
        except Exception as error:
            self.tell(error)
            self.progress.miss()
            if isinstance(error, exceptions.ClientError) and (
                error.kwargs.get('status') == 404
            ):
                self._check_existence()
            return None
        if self.seen is None or status.status != self.seen.status:
            LOG.info('Instance %s: migration %s', task.instance, status.status)
        elsewhere = status.destination not in ('', task.destination)
        if elsewhere and not self._sent.is_ours:
            raise faults.error(
                Fault.TAKEN_OVER,
                f'the instance is being moved to {status.destination} by '
                'somebody else',
            )
        self.seen = status
        self._key = status.uuid or self._key
        self.progress.note(status)
        return status

    def is_lost(self, status: MigrationStatus, is_source_down: bool) -> bool:
        """Whether Nova has dropped it: the server is not busy any more.

        A nova-compute that is started again resets its servers and leaves
        rows of migrations behind. One that was accepted is still in the
        message queue and may yet begin. One whose server has arrived is
        ended by its source, which may take its time.
        """
        try:
            instance = self._nova.get_instance(self._task.instance)
        except Exception as error:
            self.tell(error)
            return False
        if instance is None:
            raise self._vanished()
        self.progress.size.note_instance(instance)
        self.is_there = False
        if instance.task_state or status.status == 'accepted':
            self._idle_since = None
            return False
        self.is_there = instance.host == self._task.destination
        is_finishing = self.is_there and not is_source_down
        now = self._clock()
        self._idle_since = self._idle_since or now
        patience = FINISHING_SECONDS if is_finishing else IDLE_SECONDS
        return now - self._idle_since >= patience

    def has_arrived(self) -> bool:
        try:
            instance = self._verification.settle(0)
        except Exception as error:
            self.tell(error)
            return False
        return bool(instance and instance.host == self._task.destination)

    def text(self) -> str:
        """Its status, and how far it has come."""
        status = self.seen.status if self.seen else 'of unknown status'
        text = self.progress.text
        return f'{status}, {text}' if text else status

    def tell(self, error: Exception) -> None:
        """Tell of a look that failed; the migration goes on meanwhile.

        Whatever it failed of: to stop following would leave it to itself.
        """
        foreseen = isinstance(error, exceptions.KronosException)
        LOG.warning(
            'Instance %s: %s',
            self._task.instance,
            error if foreseen else f'{type(error).__name__}: {error}',
            exc_info=None if foreseen else error,
        )

    def _check_existence(self) -> None:
        try:
            gone = self._nova.get_instance(self._task.instance) is None
        except Exception as error:
            self.tell(error)
            return
        if gone:
            raise self._vanished()

    def _vanished(self) -> exceptions.MigrationError:
        remark = self._verification.of_a_loss(
            self.seen.uuid if self.seen else ''
        )
        return faults.error(
            Fault.INSTANCE_VANISHED, f'the instance is gone{remark}'
        )
