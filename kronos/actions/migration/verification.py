# SPDX-License-Identifier: Apache-2.0
"""The verification of a migration: where and how its instance is."""

from collections.abc import Callable
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.actions.migration.recovery import ERROR, Recovery
from kronos.actions.migration.task import MigrationTask
from kronos.clients import placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.live_migration import LiveMigration
from kronos.clients.nova.rows import MigrationStatus
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
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
ALLOCATION_SECONDS = 30.0
"""For Placement to follow: Nova puts the allocations right before it says
that a migration is over."""


@dataclass
class Timing:
    """Limits, in seconds."""

    queue_timeout: float = 1800.0
    migration_timeout: float = 600.0
    stall_timeout: float = 300.0
    """0: a migration may stand still."""
    stall_passes: int = 3
    """0: its passes may be in vain."""
    poll_interval: float = 5.0
    settle_timeout: float = 120.0
    """For the instance to be in order after the migration is over."""


class Verification:
    """Wait until the instance is in order, and judge what became of it.

    Every wait is bounded: Nova may call a migration completed and leave
    the instance on its source, with a task, for ever.

    One class, since an arrival, a stay and a loss are told apart by the same
    looks at the instance and its allocations.
    """

    def __init__(
        self,
        client: NovaClient,
        requests: LiveMigration,
        room: placement.PlacementClient,
        task: MigrationTask,
        timing: Timing,
        clock: Callable[[], float],
        sleep: Callable[[float], object],
        recovery: Recovery,
    ) -> None:
        self._nova = client
        self._requests = requests
        self._placement = room
        self._task = task
        self._timing = timing
        self._clock = clock
        self._sleep = sleep
        self._recovery = recovery
        self._is_dropped = False
        """Whether its allocations were left as they are under way, as only
        a nova-compute does that is started again."""

    def failure(
        self, status: MigrationStatus, request: str, has_run: bool
    ) -> exceptions.MigrationError:
        """Tell a refusal before anything moved from a failure.

        Nova calls a migration ``error`` before it has cleaned up, so its
        reasons are asked for when the instance is in order.
        """
        after = self.of_a_stay(status, has_run)
        try:
            said = self._requests.refusal_reason(self._task.instance, request)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            said = ''
        reason = said or 'Nova gives no reason'
        if not status.destination or status.status == CONFLICT:
            # Nova names the destination when all checks have passed.
            return self._refused(status, reason, after)
        if self._is_dropped and not said:
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
            found = [_place(instance)]
            if _is_idle(instance, None):
                held = self._of_allocations(status.uuid, instance.host)
                found.append(held)
                if instance.status == ERROR:
                    found.append(
                        self._recovery.of_an_error(instance, not held)
                    )
            return ''.join(f'; {one}' for one in found if one)
        remark = self._of_allocations(status.uuid, self._task.source)
        # Of one that Nova dropped while it ran nobody knows where it got.
        never_ran = status.is_over or status.status in NOT_BEGUN
        if remark and status.uuid and never_ran:
            remark = self._put_back(status.uuid, remark)
        return f'; {remark}' if remark else ''

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

    def of_an_arrival(self, migration: str) -> str:
        """On the destination, ACTIVE, without a task, paid once.

        :param migration: its uuid, '' if it is not known
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
        if not _is_settled(instance, self._task.destination):
            raise faults.error(
                Fault.INCONSISTENT,
                f'inconsistent: the migration is completed, but '
                f'{_place(instance)}',
            )
        return self._of_allocations(migration, self._task.destination)

    def of_a_loss(self, migration: str) -> str:
        """What is left of an instance that is gone; empty if nothing.

        Nova forgets the room of the other end when one is deleted while it
        moves.

        :param migration: its uuid, '' if it is not known
        """
        remark = self._once_clear(lambda: self._held_besides(migration))
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

    def _of_allocations(self, migration: str, host: str) -> str:
        """Wait until Placement holds the instance once, on its host.

        :returns: what it holds besides; '' if nothing
        """
        return self._once_clear(
            lambda: self._allocations(migration, self._node(host))
        )

    def _once_clear(self, look: Callable[[], str]) -> str:
        """Wait until Placement has nothing to remark on.

        :param look: gives what there is to remark
        """
        deadline = self._clock() + ALLOCATION_SECONDS
        while True:
            try:
                remark = look()
            except exceptions.ClientError as error:
                remark = f'its allocations are not known: {error}'
            if not remark or self._clock() >= deadline:
                break
            self._sleep(self._timing.poll_interval)
        if remark:
            LOG.warning('Instance %s: %s', self._task.instance, remark)
        return remark

    def _allocations(self, migration: str, node: set[str]) -> str:
        held = self._placement.nodes_of(self._task.instance)
        if len(held) != 1 or (node and held != node):
            nodes = ' and '.join(sorted(held)) or 'no host'
            heal = ShellCommand.HEAL_ALLOCATIONS.of(server=self._task.instance)
            besides = self._of_migration(migration)
            return (
                f'Placement holds room for it on {nodes}; "{heal}" puts that '
                'right'
                f'{f"; {besides}" if besides else ""}'
            )
        return self._of_migration(migration)

    def _held_besides(self, migration: str) -> str:
        held = self._placement.nodes_of(self._task.instance)
        if held:
            nodes = ' and '.join(sorted(held))
            return f'Placement still holds room for it on {nodes}'
        return self._of_migration(migration)

    def _of_migration(self, migration: str) -> str:
        held = self._placement.nodes_of(migration) if migration else set()
        if not held:
            return ''
        nodes = ' and '.join(sorted(held))
        free = ShellCommand.ALLOCATION_DELETE.of(consumer=migration)
        return (
            f'Placement still holds room for its migration on {nodes}; '
            f'"{free}" gives it back'
        )

    def _put_back(self, migration: str, remark: str) -> str:
        """Do what Nova does when it takes a migration back.

        A nova-compute that is started again drops its migrations and
        leaves their allocations as they were under way: the destination
        held by the instance, the source by the migration.

        :returns: what is still not in order, or what was done
        """
        task = self._task
        try:
            held = self._placement.nodes_of(task.instance)
            besides = self._placement.nodes_of(migration)
            if (held, besides) != (
                self._node(task.destination),
                self._node(task.source),
            ):
                return remark
            self._is_dropped = True
            self._placement.put_back(task.instance, migration)
        except exceptions.ClientError as error:
            LOG.warning('Instance %s: %s', task.instance, error)
            return remark
        LOG.warning(
            'Instance %s: its room on %s was given back to it in Placement; '
            'Nova had left it with the migration %s',
            task.instance,
            task.source,
            migration,
        )
        return 'its allocations in Placement were put back'

    def _node(self, host: str) -> set[str]:
        found = self._nova.get_compute_host(host)
        return {found.node} if found and found.node else set()


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
