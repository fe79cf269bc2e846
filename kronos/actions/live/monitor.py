# SPDX-License-Identifier: Apache-2.0
"""The monitor of one live migration: it follows, and aborts where it must.

Two clocks: one for Nova's queue, one that starts when the migration leaves
it. Errors of Nova while it is being watched are endured until a clock runs
out, for the migration goes on meanwhile.
"""

from oslo_log import log as logging

from kronos.actions.core import notifications
from kronos.actions.core.retries import joined, reworded
from kronos.actions.core.window import WindowGuard
from kronos.actions.live import (
    abort,
    force_complete,
    progress,
    verification,
)
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.actions.live.request import SentRequest
from kronos.clients.nova.rows import MigrationStatus
from kronos.common import durations, exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)

INSTEAD = 'completed instead of cancelled'
_ARRIVED = frozenset({'completed', 'confirmed', 'done'})


class MigrationMonitor:
    """One migration of one instance, from Nova's answer to its end.

    One class, since an abort may be overtaken by any end that a migration can
    take without one.

    :param sent: the request that began it
    :param record: filled in while it goes on
    :param window: at whose end it may be aborted
    """

    def __init__(
        self,
        settings: MigrationSettings,
        context: MigrationContext,
        sent: SentRequest,
        record: notifications.Record,
        window: WindowGuard | None = None,
    ) -> None:
        task = self._task = settings.task
        self._settings = settings
        self._timing = settings.timing
        self._context = context
        self._live_migration = context.live_migration
        self._clock = context.clock
        self._sleep = context.sleep
        self._sent = sent
        self._window = window
        self._hosts = progress.MigrationHosts(
            context.nova, task, context.clock
        )
        self._verification = verification.Verification(
            settings, context, sent.earlier
        )
        self._forced: force_complete.ForceComplete | None = None
        """None: Nova was not asked to complete it by force."""
        self._observed = progress.Observation(
            context, settings, self._verification, sent, record
        )
        self._because: exceptions.MigrationError | None = None
        """Why it is aborted; None: it is not."""
        self._last: MigrationStatus
        """What has ended the watch."""

    def watch(self) -> None:
        """Watch it until it is over or dropped; abort it where it must be.

        :raises MigrationFailed: its instance is gone
        :raises MigrationTimeout: no abort has ended it
        :raises MigrationCancelled: so it was, and no abort has ended it; or
            somebody else moves its instance elsewhere
        """
        while not self._is_ended():
            because = self._why_stop()
            if because is not None:
                self._abort(because)
                return
            self._sleep(self._interval())

    def conclude(self) -> str:
        """Make sure of its end.

        :returns: a remark on the success; empty if all went as planned
        :raises PreFlightError: Nova's scheduler or a host refused
        :raises MigrationFailed: it failed on the way or stood still, or
            its outcome is inconsistent
        :raises MigrationTimeout: it was too slow and was aborted
        :raises MigrationCancelled: it was aborted on request, or for
            its destination's sake; if nova-compute was stopped before it
            ran, with ``transient`` in its kwargs
        """
        try:
            return self._concluded(self._last)
        except exceptions.MigrationError as error:
            urgent = self._verification.urgent
            if not urgent:
                raise
            # A status message is short.
            raise reworded(error, f'{urgent}; {error}') from error

    def _concluded(self, status: MigrationStatus) -> str:
        if self._because is not None:
            return self._conclude_abort(status, self._because)
        if status.is_over:
            return self._conclude(status)
        return self._conclude_lost(status)

    def _is_ended(self) -> bool:
        """Look; whether it is over, or Nova has dropped it."""
        status = self._observed.look()
        if status is None:
            return False
        self._last = status
        return status.is_over or self._is_lost(status)

    def _is_lost(self, status: MigrationStatus) -> bool:
        is_source_down = self._hosts.is_source_down()
        return self._observed.is_lost(status, is_source_down)

    def _interval(self) -> float:
        often = force_complete.INTERVAL
        longest = self._timing.poll_interval
        return min(often, longest) if self._forced else longest

    def _conclude_lost(self, status: MigrationStatus) -> str:
        """:raises MigrationError: unless the instance has arrived"""
        if self._observed.has_arrived():
            remark = self._verification.of_an_arrival(
                status.uuid, status.is_over
            )
            return joined(f'Nova left its migration {status.status}', remark)
        after = self._verification.of_a_stay(status)
        if status.status in verification.NOT_BEGUN:
            raise faults.error(
                Fault.DROPPED,
                f'Nova dropped the migration while it was {status.status}; '
                f'nova-compute was probably restarted{after}',
            )
        raise faults.error(
            Fault.INCONSISTENT,
            f'inconsistent: Nova calls the migration {status.status}, but '
            f'the instance is not being moved{after}',
        )

    def _why_stop(self) -> exceptions.MigrationError | None:
        """Why it has to be aborted now; None if it may go on."""
        if self._context.is_cancelled():
            return faults.error(Fault.PLAN_CANCELLED, 'its plan was cancelled')
        trouble = self._trouble()
        if self._observed.is_there:
            # It has arrived; its source alone has still something to do.
            return None
        if trouble:
            return faults.error(
                Fault.DESTINATION_CLOSED,
                f'aborted {self._observed.text()}: {trouble}',
            )
        ended = self._window.why_abort() if self._window else None
        return ended or self._why_late()

    def _trouble(self) -> str:
        """Why a host makes it stop; '' if none does, as far as is known."""
        try:
            return self._hosts.look()
        except Exception as error:
            self._observed.tell(error)
            return ''

    def _why_late(self) -> exceptions.MigrationError | None:
        timing, come, now = (
            self._timing,
            self._observed.progress,
            self._clock(),
        )
        if come.left_queue is None:
            if now - come.began < timing.queue_timeout:
                return None
            return self._queued_too_long()
        limit = timing.limit(come.size.gib)
        if now - come.left_queue >= limit:
            return self._late(
                Fault.TOO_SLOW,
                f'aborted after {durations.exact(limit)} under way '
                f'({self._observed.text()}){self._hosts.text()}',
            )
        if 0 < timing.stall_timeout <= come.stands_still():
            return self._late(
                Fault.MIGRATION_STALLED,
                'aborted: no progress for '
                f'{durations.exact(timing.stall_timeout)} '
                f'({self._observed.text()}){self._hosts.text()}',
            )
        if self._forced:
            return self._why_take_back(self._forced)
        if 0 < timing.stall_passes <= come.passes.in_vain():
            return self._why_no_force()
        return None

    def _queued_too_long(self) -> exceptions.MigrationError:
        """:raises MigrationTimeout: there is nothing to abort"""
        seconds = self._timing.queue_timeout
        seen = self._observed.seen
        if seen is not None and seen.id is None:
            raise faults.error(
                Fault.QUEUED_TOO_LONG,
                f'Nova took the request {durations.rounded(seconds)} ago and '
                'has made no migration for it, so there was no migration to '
                'abort; the server stays migrating, and a nova-conductor that '
                f'comes back may still begin{self._hosts.text()}',
            )
        return faults.error(
            Fault.QUEUED_TOO_LONG,
            f"aborted after {durations.exact(seconds)} in Nova's queue"
            f'{self._hosts.text()}',
        )

    def _why_take_back(
        self, forced: force_complete.ForceComplete
    ) -> exceptions.MigrationError | None:
        """Why a forced end is given up; None: it may go on."""
        seen = self._observed.seen
        passes = self._observed.progress.passes
        reason = forced.why_give_up(seen, passes) if seen else ''
        if not reason:
            return None
        return self._late(
            Fault.MIGRATION_STALLED,
            f'aborted: {reason} ({self._observed.text()})',
        )

    def _why_no_force(self) -> exceptions.MigrationError | None:
        """Why its passes in vain are its end; None: it is forced to one."""
        seen, come = self._observed.seen, self._observed.progress
        settings = self._settings
        forced = force_complete.ForceComplete(
            self._context,
            self._task,
            settings.at_stall,
            settings.max_pause_seconds,
        )
        refused = forced.ask(seen, come.passes) if seen else ''
        if forced.is_asked:
            self._forced = forced
            return None
        vain = self._timing.stall_passes
        more = f'; {refused}' if refused else ''
        return self._late(
            Fault.MIGRATION_STALLED,
            f'aborted: it does not converge ({come.passes}): {vain} more '
            f'passes did not reduce the remaining memory{more} '
            f'({self._observed.text()}){self._hosts.text()}',
        )

    def _late(self, fault: Fault, text: str) -> exceptions.MigrationError:
        """Where a host is down, that is why."""
        error = faults.error(fault, text)
        error.kwargs['fault'] = self._hosts.fault() or fault
        return error

    def _conclude(self, status: MigrationStatus) -> str:
        """:raises MigrationError: unless the instance has arrived"""
        if status.status in _ARRIVED:
            return joined(
                self._forced.remark if self._forced else '',
                self._verification.of_an_arrival(status.uuid),
            )
        if status.status != 'cancelled':
            raise self._failure(status)
        after = self._after(status)
        if self._was_aborted():
            raise faults.error(
                Fault.ABORTED, f'aborted in Nova by somebody else{after}'
            )
        if self._observed.progress.has_run:
            # Only its hypervisor and Nova's own timeout do that.
            raise faults.error(
                Fault.ABORTED,
                "aborted without a request to Nova's API: on its "
                'hypervisor, or by live_migration_completion_timeout of '
                f'nova-compute{after}',
            )
        raise faults.error(
            Fault.DROPPED,
            'cancelled by Nova: nova-compute was stopped before the '
            f'migration ran{after}',
        )

    def _after(self, status: MigrationStatus) -> str:
        """What is not as it was before."""
        has_run = self._observed.progress.has_run
        return self._verification.of_a_stay(status, has_run)

    def _failure(self, status: MigrationStatus) -> exceptions.MigrationError:
        error = self._verification.failure(
            status,
            self._sent.request_id,
            self._observed.progress.has_run,
        )
        if isinstance(error, exceptions.PreFlightError):
            return error
        self._trouble()
        return faults.error(
            self._hosts.fault() or faults.of_error(error),
            f'{error}{self._hosts.text()}',
        )

    def _was_aborted(self) -> bool:
        """Whether somebody asked for it; if unknown, what is safe is yes."""
        try:
            requests = self._live_migration.actions.abort_requests(
                self._task.instance
            )
        except Exception as error:
            self._observed.tell(error)
            return True
        return bool(set(requests) - self._sent.earlier)

    def _abort(self, because: exceptions.MigrationError) -> None:
        """Abort in Nova and wait until the migration is over.

        What cannot be aborted is watched on, for as long as a migration
        may take: it may still complete.
        """
        LOG.warning('Instance %s: %s', self._task.instance, because)
        size = self._observed.progress.size
        deadline = self._clock() + self._timing.limit(size.gib)
        request = abort.Abort(self._context, self._task)
        self._because = because
        while True:
            request.ask(self._observed.seen)
            self._trouble()
            if self._is_ended():
                return
            if self._clock() >= deadline:
                raise self._not_over(because, request.refusal)
            self._sleep(self._timing.poll_interval)

    def _not_over(
        self, because: exceptions.MigrationError, refusal: str
    ) -> exceptions.MigrationError:
        """The error of a migration that no abort has ended.

        :param refusal: Nova's last words; '' if it took the request
        """
        text, seen = str(because), self._observed.seen
        if text.startswith('aborted'):
            text = f'to be {text}'
        state = f'but not over in Nova yet: {self._observed.text()}'
        if seen is not None and seen.id is None:
            state = (
                'and Nova has made no migration for its request, so there was '
                'no migration to abort; it may still begin'
            )
        elif refusal:
            state += f'; {refusal}'
        return reworded(because, f'{text}, {state}')

    def _conclude_abort(
        self,
        status: MigrationStatus,
        because: exceptions.MigrationError,
    ) -> str:
        if not status.is_over:
            if self._observed.has_arrived():
                return self._instead(status)
            after = self._verification.of_a_stay(status)
            raise reworded(because, f'{because}{after}') from because
        if status.status in _ARRIVED:
            return self._instead(status)
        was_refused = status.status == 'error' and not status.destination
        if was_refused and not self._context.is_cancelled():
            # Nova has looked as well, and tells why.
            raise self._failure(status)
        after = self._after(status)
        if status.status != 'cancelled':
            after = f'; the migration ended as {status.status}{after}'
        raise reworded(because, f'{because}{after}') from because

    def _instead(self, status: MigrationStatus) -> str:
        """:raises MigrationFailed: it has not arrived in order"""
        remark = self._verification.of_an_arrival(status.uuid, status.is_over)
        return joined(INSTEAD, remark)
