# SPDX-License-Identifier: Apache-2.0
"""The Nova client that reads: hosts, services, servers, migrations."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from oslo_log import log as logging

from kronos.clients import rest
from kronos.clients.nova import rows, schema, server_listing
from kronos.clients.nova.api import Api, quoted
from kronos.clients.nova.instance_actions import (
    MIGRATE,
    RESIZE,
    STOP,
    InstanceActions,
    Stop,
)
from kronos.clients.nova.rows import HostAggregate
from kronos.clients.nova.server_groups import ServerGroups
from kronos.common import exceptions
from kronos.engine import types

LOG = logging.getLogger(__name__)

COMPUTE = 'nova-compute'
SERVER_ERROR = 500
AT_ONCE_SECONDS = 2.0
"""Of silence that is endured where an answer is of use at once alone."""
_NO_DIAGNOSTICS = frozenset({400, 404, 501})
"""What Nova answers where a driver has none, or the guest is unknown."""


class NovaClient(ServerGroups):
    """Nova, as an administrator reads it; nothing is cached or decided.

    Every method raises :class:`~kronos.common.exceptions.NovaClientError`
    whose ``kwargs`` are those of :class:`~kronos.clients.rest.Wire`.

    One class, since whoever reads gets one client for one adapter.

    :param compute: an openstacksdk compute proxy, or any keystoneauth1
        adapter for the service type ``compute``
    :param options: of :class:`~kronos.clients.rest.Wire`
    """

    hidden = 0
    """Servers of the newest listing whose hosts Nova does not tell."""

    def __init__(self, compute: Any, **options: Any) -> None:
        self.api = Api(compute, **options)
        self._quick = rest.Wire(
            compute,
            exceptions.NovaClientError,
            max_retries=0,
            timeout=AT_ONCE_SECONDS,
        )

    @property
    def microversion(self) -> str:
        """As of :attr:`.Api.microversion`."""
        return self.api.microversion

    def list_compute_hosts(self) -> list[types.Host]:
        """All hypervisors, whatever their type; a host may have several."""
        listing = self.api.wire.get_all(
            '/os-hypervisors/detail',
            'hypervisors',
            self.api.microversion,
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
        body = self.api.get(
            '/servers/detail',
            {'all_tenants': '1', 'host': host, 'limit': '1'},
            shape=schema.Placed,
        )
        nodes = [rows.node(row) for row in body['servers']]
        return next((node for node in nodes if node), '')

    def _hypervisor_of(self, name: str) -> types.Host | None:
        path = '/os-hypervisors/detail'
        query = {'hypervisor_hostname_pattern': name}
        # 404 is Nova's word for an empty result.
        body = self.api.find(path, query, shape=schema.Hypervisors)
        like_it = (
            [rows.host(row) for row in body['hypervisors']] if body else []
        )
        return _named(name, like_it) or _named(name, self.list_compute_hosts())

    def list_compute_services(self) -> dict[str, types.ComputeService]:
        """nova-compute services by host."""
        by_host: dict[str, types.ComputeService] = {}
        for service in self._services():
            # Were two cells to use one name, the worse one counts.
            earlier = by_host.get(service.host)
            if earlier is None or earlier.is_available:
                by_host[service.host] = service
        return by_host

    def get_service(self, host: str) -> types.ComputeService | None:
        """The nova-compute service of one host, if it has one."""
        return next(iter(self._services(host=host)), None)

    def _services(self, **filters: str) -> list[types.ComputeService]:
        body = self.api.get(
            '/os-services',
            {'binary': COMPUTE, **filters},
            shape=schema.ServicePage,
        )
        services = [rows.service(row) for row in body['services']]
        return [s for s in services if s.binary == COMPUTE]

    def list_aggregates(self) -> list[HostAggregate]:
        body = self.api.get('/os-aggregates', shape=schema.Aggregates)
        return [rows.aggregate(row) for row in body['aggregates']]

    def list_migrations(self, since: float) -> list[types.Event]:
        """Moves that began or changed after ``since`` (Unix seconds).

        Of every type: live and cold migrations, resizes to another host,
        evacuations; those made by hand are among them.
        """
        return [rows.event(row) for row in self._moves(since)]

    def list_history(
        self, since: float
    ) -> tuple[list[types.Event], list[types.Disruption]]:
        """The same moves, also as budgets count them: without resizes.

        The projects of their servers are not known from them.
        """
        events = [(rows.event(row), row) for row in self._moves(since)]
        disruptions = [
            rows.disruption(row)
            for event, row in events
            if not event.is_resize
        ]
        return [event for event, _ in events], disruptions

    def list_past_migrations(self, since: float) -> list[types.Event]:
        """The same, each with when it began."""
        return [rows.past_event(row) for row in self._moves(since)]

    def _moves(self, since: float) -> Iterator[rows.Row]:
        filters = {'changes-since': rows.time_of(since)}
        return filter(rows.is_move, self.api.migrations(**filters))

    def list_unfinished_migrations(self) -> list[types.Event]:
        """Moves under way, however long ago Nova last touched their rows.

        One call per status, since Nova filters by one at a time. Rows that
        a killed nova-compute left behind are among them.
        """
        moves = {
            row['uuid']: row
            for status in rows.UNDER_WAY
            for row in self.api.migrations(status=status)
        }
        return [rows.event(row) for row in moves.values() if rows.is_move(row)]

    def list_instances(self) -> list[types.Instance]:
        """All servers of all projects that have a host, in one listing."""
        return self._instances()

    def list_instances_on_host(self, host: str) -> list[types.Instance]:
        return self._instances(host=host)

    def _instances(self, **filters: str) -> list[types.Instance]:
        instances, hidden = server_listing.read(
            self.api.wire, self.api.microversion, filters
        )
        self.hidden = hidden
        if hidden:
            LOG.warning(
                'Nova does not show the hosts of %d servers: their cell is '
                'down, or the user of Kronos is no administrator.',
                hidden,
            )
        return instances

    def is_guest_running(
        self, uuid: str, at_once: bool = False
    ) -> bool | None:
        """Whether the hypervisor of a server's host runs its guest now.

        Nova asks nova-compute, which asks the hypervisor; that a row of the
        database says so is not enough.

        :param at_once: whether an answer is of use within seconds alone
        :returns: None if nobody can tell: the host is away, or its driver
            gives no diagnostics
        """
        path = f'/servers/{quoted(uuid)}/diagnostics'
        wire = self.api.wire if not at_once else self._quick
        try:
            row = wire.get(
                path, self.api.microversion, shape=schema.Diagnostics
            )
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] == 409:
                # Nova names a host that is down, or the guest's power state.
                off = 'power state' in error.kwargs['reason']
                return False if off else None
            if error.kwargs['status'] in _NO_DIAGNOSTICS:
                return None
            raise
        return bool(row['state'] == 'running')

    @property
    def _actions(self) -> InstanceActions:
        return InstanceActions(self.api)

    def last_stop(self, uuid: str) -> Stop | None:
        """As :meth:`.InstanceActions.last_stop`."""
        return self._actions.last_stop(uuid)

    def own_stop(self, uuid: str) -> str:
        """Id of the newest request to stop a server, if it is Kronos' own.

        Of anybody who has the same user; '': it is somebody else's.
        """
        user = self.api.user_id
        return self._actions.newest_of(uuid, STOP, (STOP,), user)

    def own_migration(self, uuid: str) -> str:
        """As :meth:`own_stop`, for a cold migration or a resize."""
        user = self.api.user_id
        return self._actions.newest_of(uuid, MIGRATE, (MIGRATE, RESIZE), user)

    def is_moved_by(self, uuid: str, requests: Collection[str]) -> bool:
        """As :meth:`.InstanceActions.is_moved_by`."""
        return self._actions.is_moved_by(uuid, requests)

    def get_instance(self, uuid: str) -> types.Instance | None:
        """A server as it is now; None if there is none (any more).

        :raises NovaClientError: also when its cell is down
        """
        path = f'/servers/{quoted(uuid)}'
        body = self.api.find(path, shape=schema.OneServer)
        if body is None:
            return None
        if rows.is_partial(body['server']):
            raise self.api.untold(uuid)
        return rows.instance(body['server'])


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
        service.state is None for service in (services or {}).values()
    )
