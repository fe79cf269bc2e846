# SPDX-License-Identifier: Apache-2.0
"""The allocations that a move leaves in Placement, when it is over."""

from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core.context import MoveContext
from kronos.actions.core.parameters import MoveSettings
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand

LOG = logging.getLogger(__name__)

ALLOCATION_SECONDS = 30.0
"""For Placement to follow: Nova puts the allocations right before it says
that a migration is over."""


class Allocations:
    """What Placement holds of an instance and of its migration."""

    def __init__(self, settings: MoveSettings, context: MoveContext) -> None:
        self._task = settings.task
        self._poll_interval = settings.timing.poll_interval
        self._context = context
        self._nova = context.nova
        self._placement = context.placement
        self.were_put_back = False
        """Whether they were left as they are under way, as only a
        nova-compute does that is started again."""

    def of(self, migration: str, host: str) -> str:
        """Wait until Placement holds the instance once, on its host.

        :param migration: its uuid, '' if it is not known
        :returns: what it holds besides; '' if nothing
        """
        return self._once_clear(
            lambda: self._besides(migration, self._node(host))
        )

    def of_a_move(self, migration: str) -> str:
        """Wait until Placement holds nothing for a migration that is over."""
        return self._once_clear(lambda: self._of_migration(migration))

    def of_a_loss(self, migration: str) -> str:
        """Wait until Placement holds nothing of an instance that is gone."""
        return self._once_clear(lambda: self._held_of_a_loss(migration))

    def after_evacuation(self, migration: str, host: str, failed: str) -> str:
        """Wait until Placement holds it as after an evacuation.

        :param host: where it is now
        :param failed: from where it was evacuated: Nova gives its room there
            back when that host is up again
        """

        def besides() -> str:
            node = self._node(host)
            providers = self._placement.nodes_of(self._task.instance)
            if node <= providers <= node | self._node(failed):
                return self._of_migration(migration)
            return self._besides(migration, node)

        return self._once_clear(besides)

    def _once_clear(self, look: Callable[[], str]) -> str:
        """Wait until Placement has nothing to remark on.

        :param look: gives what there is to remark
        """
        deadline = self._context.clock() + ALLOCATION_SECONDS
        while True:
            try:
                remark = look()
            except exceptions.ClientError as error:
                remark = f'its allocations are not known: {error}'
            if not remark or self._context.clock() >= deadline:
                break
            self._context.sleep(self._poll_interval)
        if remark:
            LOG.warning('Instance %s: %s', self._task.instance, remark)
        return remark

    def _besides(self, migration: str, node: set[str]) -> str:
        providers = self._placement.nodes_of(self._task.instance)
        if len(providers) != 1 or (node and providers != node):
            nodes = ' and '.join(sorted(providers)) or 'no host'
            heal = ShellCommand.HEAL_ALLOCATIONS.of(server=self._task.instance)
            besides = self._of_migration(migration)
            return (
                f'Placement has its allocations on {nodes}: "{heal}" corrects '
                f'them{f"; {besides}" if besides else ""}'
            )
        return self._of_migration(migration)

    def _held_of_a_loss(self, migration: str) -> str:
        providers = self._placement.nodes_of(self._task.instance)
        if providers:
            nodes = ' and '.join(sorted(providers))
            return f'Placement still has allocations for it on {nodes}'
        return self._of_migration(migration)

    def _of_migration(self, migration: str) -> str:
        providers = self._placement.nodes_of(migration) if migration else set()
        if not providers:
            return ''
        nodes = ' and '.join(sorted(providers))
        free = ShellCommand.ALLOCATION_DELETE.of(consumer=migration)
        return (
            f'Placement still has allocations for its migration on {nodes}: '
            f'"{free}" releases them'
        )

    def put_back(self, migration: str, remark: str) -> str:
        """Do what Nova does when it takes a migration back.

        A nova-compute that is started again drops its migrations and
        leaves their allocations as they were under way: the destination
        held by the instance, the source by the migration.

        :returns: what is still not in order, or what was done
        """
        task = self._task
        try:
            providers = self._placement.nodes_of(task.instance)
            besides = self._placement.nodes_of(migration)
            if (providers, besides) != (
                self._node(task.destination),
                self._node(task.source),
            ):
                return remark
            self.were_put_back = True
            self._placement.put_back(task.instance, migration)
        except exceptions.ClientError as error:
            LOG.warning('Instance %s: %s', task.instance, error)
            return remark
        LOG.warning(
            'Instance %s: its allocations on %s were given back to it in '
            'Placement; Nova had left them with the migration %s',
            task.instance,
            task.source,
            migration,
        )
        return 'its allocations in Placement were put back'

    def _node(self, host: str) -> set[str]:
        hypervisor = self._nova.get_compute_host(host)
        if hypervisor is None or not hypervisor.node:
            return set()
        return {hypervisor.node}
