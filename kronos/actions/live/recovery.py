# SPDX-License-Identifier: Apache-2.0
"""The recovery of a server that a failed migration has left in ERROR.

Nova puts it there when it loses sight of its migration, as when libvirtd is
killed on the way; the guest may run on untouched. Who looks at Nova alone
takes it for broken.
"""

from collections.abc import Callable, Mapping

from oslo_log import log as logging

from kronos.actions.core.parameters import MigrationTask
from kronos.actions.live.context import GuestStates, MigrationContext
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import types
from kronos.engine.scoring.labels import match_hosts, of_series
from kronos.engine.settings import HostMatch

LOG = logging.getLogger(__name__)

ERROR = 'ERROR'
RUNNING = 1
"""What libvirt and its exporters call a domain that runs."""
UUID = 'UUID'
"""Stands for the server's in a query."""


def states_of(
    connect: Callable[[], PrometheusClient],
    query: str,
    task: MigrationTask,
) -> GuestStates:
    """What the exporters at both ends tell.

    :param query: ``[kronos] guest_state_query``; '': nobody is asked
    """

    def states(uuid: str) -> dict[str, float]:
        if not query:
            return {}
        read = connect().instant_query(query.replace(UUID, uuid), 'instance')
        if read.error:
            raise exceptions.PrometheusError(url=read.query, reason=read.error)
        values = {
            of_series(sample.series).get('host', sample.label): sample.value
            for sample in read.samples
        }
        ends = {task.source, task.destination}
        names = match_hosts(values, ends, HostMatch.SHORT).hosts
        return {names.get(label, label): values[label] for label in values}

    return states


class ServerRecovery:
    """What is seen of the guest, and what puts its server right.

    :param mends: whether the server's row may be set to ACTIVE
    """

    def __init__(
        self, task: MigrationTask, context: MigrationContext, mends: bool
    ) -> None:
        self._nova = context.nova
        self._live_migration = context.live_migration
        self._task = task
        self._mends = mends
        self._states = context.guest_states
        self.in_short = ''
        """What an operator has to know before all else; '' if nothing."""
        self.is_elsewhere = False
        """Whether the guest is seen on another host than its server's."""

    def of_an_error(self, instance: types.Instance, clear: bool) -> str:
        """What is to be said of a server in ERROR; '' where nobody knows.

        :param clear: whether Placement holds it on its source alone
        """
        host = instance.host
        by_nova = self._asked_nova()
        states = self._asked_exporters()
        by_exporters = states or {}
        elsewhere = _elsewhere(by_exporters, host)
        if elsewhere:
            self.is_elsewhere = True
            self.in_short = f'in ERROR, its guest runs on {elsewhere}'
            return (
                f'its guest is seen running on {elsewhere} '
                '(guest_state_query): look at both hypervisors before you do '
                'anything to that server'
            )
        self.in_short = 'in ERROR'
        if by_nova is None:
            return f'it is unknown whether its guest runs on {host}'
        if not by_nova or by_exporters.get(host, RUNNING) != RUNNING:
            self.in_short = f'in ERROR, its guest does not run on {host}'
            return f'its guest does not run on {host}'
        seen = 'nova-compute has asked the hypervisor'
        if host in by_exporters:
            seen += ', and its exporter reports the same'
        text = f'its guest runs on {host} all the same ({seen})'
        self.in_short = f'in ERROR, its guest runs on {host}'
        if host == self._task.source and clear and not instance.task_state:
            return f'{text}; {self._mend(states is not None)}'
        return text

    def of_a_missing_guest(self, instance: types.Instance) -> str:
        """What is to be said of an ACTIVE server without a guest on its host.

        :returns: '' if it runs there, or nobody knows
        """
        host, destination = instance.host, self._task.destination
        if self._asked_nova() is not False:
            return ''
        elsewhere = _elsewhere(self._asked_exporters() or {}, host)
        if elsewhere:
            seen = f'its guest runs on {elsewhere} (guest_state_query)'
        else:
            seen = f'its guest does not run there: look at {destination}'
        self.in_short = f'its guest does not run on {host}'
        return (
            f'the instance is ACTIVE on {host}, but {seen}; its allocations '
            'in Placement are left as they are'
        )

    def _asked_nova(self) -> bool | None:
        try:
            return self._nova.is_guest_running(self._task.instance)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return None

    def _asked_exporters(self) -> dict[str, float] | None:
        try:
            return self._states(self._task.instance)
        except exceptions.KronosException as error:
            LOG.warning('Instance %s: %s', self._task.instance, error)
            return None

    def _mend(self, were_asked: bool) -> str:
        """Set the row to ACTIVE, or say what does.

        :param were_asked: whether the exporters could be; if not, nobody
            knows whether the guest runs at the other end, too
        """
        uuid = self._task.instance
        command = (
            f'"{ShellCommand.SERVER_SET_ACTIVE_UNASKED.of(server=uuid)}" '
            'repairs its row'
        )
        if not self._mends:
            self.in_short += f': "{ShellCommand.SERVER_SET_ACTIVE.short}"'
            return command
        if not were_asked:
            return f'{command}; guest_state_query gave no answer'
        try:
            self._live_migration.set_active(uuid)
        except exceptions.NovaClientError as error:
            return f'its row was not repaired (recover_rows): {error}'
        LOG.warning(
            'Instance %s: Nova set it to ERROR after its migration failed; '
            'its guest runs on %s, so Kronos set it to ACTIVE',
            uuid,
            self._task.source,
        )
        self.in_short = 'was in ERROR, set to ACTIVE'
        return 'its row was set to ACTIVE (recover_rows)'


def _elsewhere(states: Mapping[str, float], host: str) -> str:
    """The other hosts on which a guest is seen running."""
    return ' and '.join(
        name
        for name, state in sorted(states.items())
        if state == RUNNING and name != host
    )
