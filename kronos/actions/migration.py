# SPDX-License-Identifier: Apache-2.0
"""How is one live migration started, followed and, if need be, aborted?

Two clocks: one for Nova's queue, one that starts when the migration leaves
it. Errors of Nova while it is being watched are endured until a clock runs
out, for the migration goes on meanwhile.
"""

import time
from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions import aftermath, preflight
from kronos.clients import nova
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

QUEUED = frozenset({'accepted', 'queued'})
INSTEAD = 'completed instead of cancelled'


class Migration:
    """One try to move one instance.

    :param is_cancelled: asked between two looks; True: abort
    :param clock: seconds that only grow
    :param sleep: waits so many seconds, or less when it is to end early
    """

    def __init__(
        self,
        client: nova.NovaClient,
        task: preflight.Task,
        timing: aftermath.Timing,
        is_cancelled: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._nova = client
        self._task = task
        self._timing = timing
        self._is_cancelled = is_cancelled
        self._clock = clock
        self._sleep = sleep
        self._aftermath = aftermath.Aftermath(
            client, task, timing, clock, sleep
        )
        self._request = ''
        self._key = ''
        self._seen: nova.MigrationStatus | None = None

    def run(self) -> str:
        """Move the instance and make sure that it arrived (K8).

        :returns: a remark on the success; empty if all went as planned
        :raises PreFlightError: Nova's scheduler or a host refused (P3)
        :raises MigrationFailed: it failed on the way, or its outcome is
            inconsistent
        :raises MigrationTimeout: it was too slow and was aborted (Q8)
        :raises MigrationCancelled: it was aborted on request (Q6)
        :raises NovaClientError: Nova could not be asked to start it
        """
        try:
            self._request = self._key = self._nova.live_migrate(
                self._task.instance, self._task.destination
            )
        except exceptions.NovaClientError as error:
            return self._not_started(error)
        LOG.info(
            'Instance %s: live migration %s -> %s, request %s',
            self._task.instance,
            self._task.source,
            self._task.destination,
            self._request,
        )
        return self._follow()

    def _not_started(self, error: exceptions.NovaClientError) -> str:
        status = error.kwargs.get('status')
        if status is not None and 400 <= status < 500 and status != 429:
            reason = f'rejected by Nova: {error.kwargs["reason"]}'
            if status == 400 and 'could not be found' in reason:
                # Its service is up, or the pre-flight had refused it (S15).
                reason = (
                    f'destination {self._task.destination} is in another '
                    'cell, or unmapped'
                )
            raise exceptions.PreFlightError(reason) from error
        if error.kwargs.get('sent') is False:
            raise error
        # Nova may have got it; what the instance does will show.
        self._sleep(self._timing.poll_interval)
        limit = self._timing.queue_timeout + self._timing.migration_timeout
        instance = self._aftermath.settle(limit)
        if instance is None or instance.host != self._task.destination:
            raise error
        self._aftermath.check_arrival()
        return ''

    def _follow(self) -> str:
        started = self._clock()
        left_queue: float | None = None
        while True:
            status = self._look()
            if status is not None and status.is_over:
                self._conclude(status)
                return ''
            now = self._clock()
            if left_queue is None and self._seen is not None:
                left_queue = None if self._seen.status in QUEUED else now
            if self._is_cancelled():
                return self._abort(
                    exceptions.MigrationCancelled('its plan was cancelled')
                )
            late = self._late(now, started, left_queue)
            if late is not None:
                return self._abort(late)
            self._sleep(self._timing.poll_interval)

    def _late(
        self, now: float, started: float, left_queue: float | None
    ) -> exceptions.MigrationTimeout | None:
        if left_queue is None:
            limit, since = self._timing.queue_timeout, started
            where = "in Nova's queue"
        else:
            limit, since = self._timing.migration_timeout, left_queue
            where = f'under way ({self._now()})'
        if now - since < limit:
            return None
        return exceptions.MigrationTimeout(
            f'aborted after {limit:g} s {where}'
        )

    def _look(self) -> nova.MigrationStatus | None:
        """The migration as it is now; None if Nova does not tell.

        :raises MigrationFailed: the instance is gone
        """
        task = self._task
        try:
            status = self._nova.get_migration_status(task.instance, self._key)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', task.instance, error)
            if error.kwargs.get('status') == 404:
                self._check_existence()
            return None
        if self._seen is None or status.status != self._seen.status:
            LOG.info('Instance %s: migration %s', task.instance, status.status)
        self._seen = status
        self._key = status.uuid or self._key
        return status

    def _check_existence(self) -> None:
        try:
            gone = self._nova.get_instance(self._task.instance) is None
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return
        if gone:
            raise exceptions.MigrationFailed('the instance is gone')

    def _conclude(self, status: nova.MigrationStatus) -> None:
        """:raises MigrationError: unless the instance has arrived"""
        if status.status in {'completed', 'confirmed', 'done'}:
            self._aftermath.check_arrival()
        elif status.status == 'cancelled':
            raise exceptions.MigrationCancelled(
                'cancelled in Nova, not by Kronos (by an operator, or '
                f'nova-compute was stopped){self._aftermath.of_a_stay()}'
            )
        else:
            raise self._aftermath.failure(status, self._request)

    def _abort(self, because: exceptions.MigrationError) -> str:
        """Abort in Nova and wait until the migration is over (Q5, Q8).

        What cannot be aborted is watched on, for as long as a migration
        may take: it may still complete.
        """
        LOG.warning('Instance %s: %s', self._task.instance, because)
        deadline = self._clock() + self._timing.migration_timeout
        taken = False
        while True:
            taken = taken or self._ask_abort()
            status = self._look()
            if status is not None and status.is_over:
                return self._conclude_abort(status, because)
            if self._clock() >= deadline:
                raise type(because)(
                    f'{because}, but not over in Nova yet: {self._now()}'
                ) from because
            self._sleep(self._timing.poll_interval)

    def _ask_abort(self) -> bool:
        if self._seen is None:
            return False
        try:
            result = self._nova.abort_migration(
                self._task.instance, self._seen
            )
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return False
        if result.text:
            LOG.warning(
                'Instance %s: not aborted: %s',
                self._task.instance,
                result.text,
            )
        return result.outcome is not nova.AbortOutcome.REFUSED

    def _conclude_abort(
        self,
        status: nova.MigrationStatus,
        because: exceptions.MigrationError,
    ) -> str:
        if status.status != 'cancelled':
            self._conclude(status)
            return INSTEAD
        after = self._aftermath.of_a_stay()
        raise type(because)(f'{because}{after}') from because

    def _now(self) -> str:
        return self._seen.status if self._seen else 'unknown'
