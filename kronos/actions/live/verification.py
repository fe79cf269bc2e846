# SPDX-License-Identifier: Apache-2.0
"""The verification of a migration: where and how its instance is."""

import functools
from collections.abc import Collection

from oslo_log import log as logging

from kronos.actions.core.allocations import Allocations
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.actions.live.recovery import ERROR, ServerRecovery
from kronos.clients.nova.rows import MigrationStatus
from kronos.common import exceptions
from kronos.engine import faults, types
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)

CONFLICT = 'conflict'
"""Status of a migration that Nova's scheduler refused; no code of Nova 34
writes it."""
NOT_BEGUN = frozenset({'queued', 'preparing'})
"""Statuses in which nothing of the instance has been sent."""
AFTERMATH_SECONDS = 5.0
"""For Nova to find out that libvirt has not done what it was asked for."""
LOOK_SECONDS = 1.0


class Verification:
    """Wait until the instance is in order, and judge what became of it.

    Every wait is bounded: Nova may call a migration completed and leave
    the instance on its source, with a task, for ever.

    One class, since an arrival, a stay and a loss are told apart by the same
    looks at the instance and its allocations.
    """

    def __init__(
        self,
        settings: MigrationSettings,
        context: MigrationContext,
        earlier: Collection[str] = (),
    ) -> None:
        self._nova = context.nova
        self._requests = context.live_migration
        self._task = settings.task
        self._timing = settings.timing
        self._clock = context.clock
        self._sleep = context.sleep
        self._earlier = earlier
        self._allocations = Allocations(settings, context)
        self._recover = functools.partial(
            ServerRecovery, settings.task, context, settings.recover_rows
        )
        self._recovery: ServerRecovery | None = None
        """None: its guest was not asked for."""

    @property
    def urgent(self) -> str:
        """What an operator has to know before all else; '' if nothing."""
        return self._recovery.in_short if self._recovery else ''

    def failure(
        self, status: MigrationStatus, request: str, has_run: bool
    ) -> exceptions.MigrationError:
        """Tell a refusal before anything moved from a failure.

        Nova calls a migration ``error`` before it has cleaned up, so its
        reasons are asked for when the instance is in order.
        """
        after = self.of_a_stay(status, has_run)
        try:
            said = self._requests.actions.refusal_reason(
                self._task.instance, request
            )
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            said = ''
        reason = said or 'Nova gives no reason'
        if not status.destination or status.status == CONFLICT:
            # Nova names the destination when all checks have passed.
            return self._refused(status, reason, after)
        if self._allocations.were_put_back and not said:
            return faults.error(
                Fault.SOURCE_FAILED,
                f'migration {status.status}: nova-compute on '
                f'{self._task.source} was probably restarted{after}',
            )
        return faults.error(
            Fault.MIGRATION_FAILED,
            f'migration {status.status}: {reason}{after}',
        )

    def _refused(
        self, status: MigrationStatus, reason: str, after: str
    ) -> exceptions.MigrationError:
        if status.status == CONFLICT:
            return faults.error(
                Fault.CONFLICT, f'destination refused: {reason}{after}'
            )
        return self._task.refused(reason, after)

    def of_a_stay(self, status: MigrationStatus, has_run: bool = False) -> str:
        """What is not as it was; empty if it is untouched.

        :param status: of the migration, as it was last seen
        :param has_run: whether its data were being sent
        """
        try:
            instance = self.settle(self._timing.settle_timeout)
            if has_run and status.is_over:
                instance = self._await_aftermath(instance)
        except exceptions.NovaClientError as error:
            return f'; Nova does not answer: {error}'
        if instance is None:
            return f'; the instance is gone{self.of_a_loss(status.uuid)}'
        if not _is_settled(instance, self._task.source):
            # It may have arrived all the same, or be in ERROR.
            remarks = [_place(instance)]
            if _is_idle(instance, None):
                self._check_evacuation(instance, status.uuid)
                remarks += self._remarks(instance, status.uuid)
            return ''.join(f'; {remark}' for remark in remarks if remark)
        remark = self._allocations.of(status.uuid, self._task.source)
        # Of one that Nova dropped while it ran nobody knows where it got.
        never_ran = status.is_over or status.status in NOT_BEGUN
        if remark and status.uuid and never_ran:
            # libvirt may have moved a guest whose nova-compute was away.
            self._recovery = self._recover()
            lost = self._recovery.of_a_missing_guest(instance)
            remark = lost or self._allocations.put_back(status.uuid, remark)
        return f'; {remark}' if remark else ''

    def _remarks(self, instance: types.Instance, migration: str) -> list[str]:
        """What Placement and its guest tell of one that is not in order."""
        allocated = self._allocations.of(migration, instance.host)
        if instance.status != ERROR:
            return [allocated]
        self._recovery = self._recover()
        guest = self._recovery.of_an_error(instance, not allocated)
        # Where its guest is elsewhere, so may be what it holds.
        return [guest] if self._recovery.is_elsewhere else [allocated, guest]

    def _check_evacuation(
        self, instance: types.Instance, migration: str
    ) -> None:
        """Whether somebody has evacuated it since the request.

        :param migration: uuid of ours, '' if it is not known
        :raises MigrationError: so it is, whatever became of ours
        """
        try:
            evacuations = self._requests.evacuations(instance.uuid)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', instance.uuid, error)
            return
        for evacuation in evacuations:
            if (
                evacuation.uuid in self._earlier
                or evacuation.destination != instance.host
            ):
                continue
            host = evacuation.source
            failed = {
                self._task.source: Fault.SOURCE_FAILED,
                self._task.destination: Fault.DESTINATION_FAILED,
            }
            remark = self._allocations.after_evacuation(
                migration, instance.host, host
            )
            raise faults.error(
                failed.get(host, Fault.TAKEN_OVER),
                f'the server was evacuated from {host} to {instance.host} '
                f'meanwhile; {_place(instance)}'
                f'{f"; {remark}" if remark else ""}',
            )

    def _await_aftermath(
        self, instance: types.Instance | None
    ) -> types.Instance | None:
        """Wait for what may come after a migration that was carried out.

        With the driver of libvirt, Nova 34 calls it cancelled or failed and
        the server ACTIVE; a second later the one is an error, and then the
        other in ERROR.
        """
        deadline = self._clock() + AFTERMATH_SECONDS
        while self._clock() < deadline:
            if instance is None or not _is_settled(
                instance, self._task.source
            ):
                return self.settle(self._timing.settle_timeout)
            self._sleep(min(LOOK_SECONDS, self._timing.poll_interval))
            instance = self._nova.get_instance(self._task.instance)
        return instance

    def of_an_arrival(self, migration: str, is_over: bool = True) -> str:
        """On the destination, ACTIVE, without a task, paid once.

        :param migration: its uuid, '' if it is not known
        :param is_over: whether Nova says so; if not, its server may have
            been evacuated there
        :returns: what is not in order all the same; '' if all is
        :raises MigrationFailed: it has not arrived
        :raises NovaClientError: nobody knows; never ``transient``, for a
            migration that is completed is not tried again blindly
        """
        try:
            instance = self.settle(
                self._timing.settle_timeout, self._task.destination
            )
        except exceptions.NovaClientError as error:
            raise exceptions.NovaClientError(
                f'the migration is completed, but Nova does not answer: '
                f'{error}'
            ) from error
        if instance is None:
            raise faults.error(
                Fault.INSTANCE_VANISHED,
                'the migration is completed, but the instance is gone'
                f'{self.of_a_loss(migration)}',
            )
        is_settled = _is_settled(instance, self._task.destination)
        if not is_settled or not is_over:
            self._check_evacuation(instance, migration)
        if not is_settled:
            raise faults.error(
                Fault.INCONSISTENT,
                f'inconsistent: the migration is completed, but '
                f'{_place(instance)}',
            )
        return self._allocations.of(migration, self._task.destination)

    def of_a_loss(self, migration: str) -> str:
        """What is left of an instance that is gone; empty if nothing.

        Nova forgets the room of the other end when one is deleted while it
        moves.

        :param migration: its uuid, '' if it is not known
        """
        remark = self._allocations.of_a_loss(migration)
        return f'; {remark}' if remark else ''

    def settle(
        self, limit: float, host: str | None = None
    ) -> types.Instance | None:
        """Wait until the instance has no task, and is on ``host`` if given.

        :returns: it as it was last seen; None: it is gone
        :raises NovaClientError: Nova did not answer in the end
        """
        deadline = self._clock() + limit
        while True:
            late = self._clock() >= deadline
            try:
                instance = self._nova.get_instance(self._task.instance)
            except exceptions.NovaClientError as error:
                LOG.warning('Instance %s: %s', self._task.instance, error)
                if late:
                    raise
            else:
                if late or _is_idle(instance, host):
                    return instance
            self._sleep(self._timing.poll_interval)


def _is_idle(instance: types.Instance | None, host: str | None) -> bool:
    """Whether nothing more will happen to it; so with one that is gone."""
    return instance is None or (
        not instance.task_state and host in (None, instance.host)
    )


def _is_settled(instance: types.Instance, host: str) -> bool:
    return (
        instance.host == host
        and instance.status == 'ACTIVE'
        and not instance.task_state
    )


def _place(instance: types.Instance) -> str:
    task = f', task state {instance.task_state}' if instance.task_state else ''
    return f'the instance is {instance.status} on {instance.host}{task}'
