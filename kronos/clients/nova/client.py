# SPDX-License-Identifier: Apache-2.0
"""What is in the cloud? Nova's answers."""

from collections.abc import Mapping

from oslo_log import log as logging

from kronos.clients.nova import rows, schema
from kronos.clients.nova.api import quoted
from kronos.clients.nova.rows import HostAggregate
from kronos.clients.nova.server_groups import NovaGroups
from kronos.common import exceptions
from kronos.engine import types

LOG = logging.getLogger(__name__)

COMPUTE = 'nova-compute'
SERVER_ERROR = 500


class NovaReader(NovaGroups):
    """The reading half of :class:`.live_migration.NovaClient`."""

    hidden = 0
    """Servers of the newest listing whose hosts Nova does not tell."""

    def list_compute_hosts(self) -> list[types.Host]:
        """All hypervisors, whatever their type; a host may have several."""
        listing = self._wire.get_all(
            '/os-hypervisors/detail',
            'hypervisors',
            self.microversion,
            shape=schema.Hypervisor,
        )
        return [rows.host(row) for row in listing]

    def get_compute_host(self, name: str) -> types.Host | None:
        """The hypervisor of one nova-compute service host, if it has one.

        Nova searches by node name; where that has nothing in common with
        the service's host name, all hypervisors are listed. While a cell is
        down Nova does neither: then the node is the one that servers on the
        host name, or '' if there are none.
        """
        try:
            return self._hypervisor_of(name)
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] != SERVER_ERROR:
                raise
            if not is_of_down_cell(error, self.list_compute_services()):
                raise
        service = self.get_service(name)
        if service is None or service.state is None:
            return None
        return types.Host(name, self._node_of_servers(name))

    def _node_of_servers(self, host: str) -> str:
        body = self._wire.get(
            '/servers/detail',
            self.microversion,
            {'all_tenants': '1', 'host': host, 'limit': '1'},
            shape=schema.Placed,
        )
        nodes = [rows.node(row) for row in body['servers']]
        return next((node for node in nodes if node), '')

    def _hypervisor_of(self, name: str) -> types.Host | None:
        path = '/os-hypervisors/detail'
        query = {'hypervisor_hostname_pattern': name}
        try:
            body = self._wire.get(
                path, self.microversion, query, shape=schema.Hypervisors
            )
        except exceptions.NovaClientError as error:
            # Nova's word for an empty result.
            if error.kwargs['status'] != 404:
                raise
            body = {'hypervisors': []}
        like_it = [rows.host(row) for row in body['hypervisors']]
        return _named(name, like_it) or _named(name, self.list_compute_hosts())

    def list_compute_services(self) -> dict[str, types.ComputeService]:
        """nova-compute services by host (E10, E16)."""
        found: dict[str, types.ComputeService] = {}
        for service in self._services():
            # Were two cells to use one name, the worse one counts.
            known = found.get(service.host)
            if known is None or known.is_available:
                found[service.host] = service
        return found

    def get_service(self, host: str) -> types.ComputeService | None:
        """The nova-compute service of one host, if it has one."""
        return next(iter(self._services(host=host)), None)

    def _services(self, **filters: str) -> list[types.ComputeService]:
        body = self._wire.get(
            '/os-services',
            self.microversion,
            {'binary': COMPUTE, **filters},
            shape=schema.Services,
        )
        services = [rows.service(row) for row in body['services']]
        return [s for s in services if s.binary == COMPUTE]

    def list_aggregates(self) -> list[HostAggregate]:
        body = self._wire.get(
            '/os-aggregates', self.microversion, shape=schema.Aggregates
        )
        return [rows.aggregate(row) for row in body['aggregates']]

    def get_aggregate(self, name: str) -> HostAggregate:
        """:raises NovaClientError: no such name; it lists the known (M8)"""
        known = self.list_aggregates()
        for aggregate in known:
            if aggregate.name == name:
                return aggregate
        names = ', '.join(sorted(a.name for a in known)) or 'none'
        raise self._wire.failure(
            f'there is no aggregate "{name}"; known aggregates: {names}'
        )

    def get_hosts_in_aggregate(self, name: str | None) -> list[str]:
        """Host names of an aggregate; None: those in no aggregate."""
        if name is not None:
            return list(self.get_aggregate(name).hosts)
        taken = {h for a in self.list_aggregates() for h in a.hosts}
        names = {host.name for host in self.list_compute_hosts()}
        return sorted(names - taken)

    def list_instances(self) -> list[types.Instance]:
        """All servers of all projects that have a host, in one listing."""
        return self._instances()

    def list_instances_on_host(self, host: str) -> list[types.Instance]:
        return self._instances(host=host)

    def _instances(self, **filters: str) -> list[types.Instance]:
        listing = self._wire.get_all(
            '/servers/detail',
            'servers',
            self.microversion,
            {'all_tenants': '1', **filters},
            shape=schema.Server,
        )
        found, hidden = [], 0
        # Page by page: no more than one is held as Nova wrote it.
        for row in listing:
            if rows.is_partial(row):
                hidden += 1
            elif row['OS-EXT-SRV-ATTR:host']:
                found.append(rows.instance(row))
        self.hidden = hidden
        if hidden:
            LOG.warning(
                'Nova does not tell the hosts of %d servers: their cell '
                'is down, or the user of Kronos is no administrator.',
                hidden,
            )
        return found

    def get_instance(self, uuid: str) -> types.Instance | None:
        """A server as it is now; None if there is none (any more).

        :raises NovaClientError: also when its cell is down
        """
        path = f'/servers/{quoted(uuid)}'
        try:
            row = self._wire.get(
                path, self.microversion, shape=schema.OneServer
            )['server']
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] == 404:
                return None
            raise
        if rows.is_partial(row):
            raise self._wire.failure(
                f'does not tell the host of server {uuid}: its cell is '
                'down, or the user of Kronos is no administrator',
                transient=True,
            )
        return rows.instance(row)

    def get_instance_status(self, uuid: str) -> str | None:
        instance = self.get_instance(uuid)
        return instance.status if instance else None

    def get_instance_host(self, uuid: str) -> str | None:
        instance = self.get_instance(uuid)
        return instance.host if instance else None


def _named(name: str, hosts: list[types.Host]) -> types.Host | None:
    return next((host for host in hosts if host.name == name), None)


def is_of_down_cell(
    error: exceptions.NovaClientError,
    services: Mapping[str, types.ComputeService] | None,
) -> bool:
    """Whether hypervisors are not listed for a cell that is down alone.

    Nova asks every cell for them, and one that does not answer is an error
    of the whole. Of its services only the names are known.

    :param services: by host; None if they are not known either
    """
    return error.kwargs['status'] == SERVER_ERROR and any(
        one.state is None for one in (services or {}).values()
    )
