# SPDX-License-Identifier: Apache-2.0
"""What is in the cloud? Nova's answers.

Raw calls with explicit microversions: openstacksdk's own calls truncate
the server groups.
"""

from typing import Any
from urllib import parse

from oslo_log import log as logging

from kronos.clients import nova_rows as rows
from kronos.clients import wire
from kronos.clients.nova_rows import HostAggregate
from kronos.common import exceptions
from kronos.engine import types

LOG = logging.getLogger(__name__)

MINIMUM = (2, 68)
"""Live migration without ``force``: the scheduler always checks (P6)."""
WANTED = (2, 100)
"""2.84 tells refusals, 2.96 pinned zones, 2.98 image properties."""
COMPUTE = 'nova-compute'
_PAGE = 1000
_TRIES = 5


class NovaReader:
    """The reading half of :class:`~kronos.clients.nova.NovaClient`.

    Every method raises :class:`~kronos.common.exceptions.NovaClientError`
    whose ``kwargs`` are those of :class:`~kronos.clients.wire.Wire`.

    :param compute: an openstacksdk compute proxy, or any keystoneauth1
        adapter for the service type ``compute``
    :param options: of :class:`~kronos.clients.wire.Wire`
    """

    def __init__(self, compute: Any, **options: Any) -> None:
        self._wire = wire.Wire(compute, exceptions.NovaClientError, **options)
        self._version = ''

    @property
    def microversion(self) -> str:
        """The one in use: Nova's newest, at most 2.100.

        :raises NovaClientError: Nova's newest is older than 2.68
        """
        if not self._version:
            newest = self._newest()
            if newest < MINIMUM:
                raise self._wire.failure(
                    f'its newest microversion is {_dotted(newest)}; Kronos '
                    f'needs {_dotted(MINIMUM)} (the scheduler must check '
                    'the destination); upgrade Nova'
                )
            self._version = _dotted(min(newest, WANTED))
        return self._version

    def _newest(self) -> tuple[int, int]:
        try:
            data = self._wire.adapter.get_endpoint_data()
        except wire.FAILURES as error:
            raise self._wire.failure(
                f'the compute endpoint cannot be found: {error}',
                transient=True,
            ) from error
        newest = data.max_microversion if data else None
        if not newest:
            raise self._wire.failure(
                'the compute endpoint names no microversions; does the '
                'Keystone catalog have an endpoint of type compute that '
                'ends in /v2.1?'
            )
        return newest[0], newest[1]

    def list_compute_hosts(self) -> list[types.Host]:
        """All hypervisors, whatever their type; a host may have several."""
        listing = self._wire.get_all(
            '/os-hypervisors/detail', 'hypervisors', self.microversion
        )
        return [rows.host(row) for row in listing]

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
            '/os-services', self.microversion, {'binary': COMPUTE, **filters}
        )
        services = [rows.service(row) for row in body['services']]
        return [s for s in services if s.binary == COMPUTE]

    def list_aggregates(self) -> list[HostAggregate]:
        body = self._wire.get('/os-aggregates', self.microversion)
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
        listing = list(
            self._wire.get_all(
                '/servers/detail',
                'servers',
                self.microversion,
                {'all_tenants': '1', **filters},
            )
        )
        lost = sum(1 for row in listing if rows.is_partial(row))
        if lost:
            LOG.warning(
                'Nova does not tell the hosts of %d servers: their cell '
                'is down, or the user of Kronos is no administrator.',
                lost,
            )
        whole = [row for row in listing if not rows.is_partial(row)]
        found = [rows.instance(row) for row in whole]
        return [instance for instance in found if instance.host]

    def get_instance(self, uuid: str) -> types.Instance | None:
        """A server as it is now; None if there is none (any more).

        :raises NovaClientError: also when its cell is down
        """
        path = f'/servers/{quoted(uuid)}'
        try:
            row = self._wire.get(path, self.microversion)['server']
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

    def list_server_groups(self) -> list[types.ServerGroup]:
        """The groups of all projects (E1).

        Pages overlap by one row: another row in its place means that a
        group was deleted meanwhile, and the listing starts anew.

        :raises NovaClientError: also when the groups will not hold still
        """
        for _ in range(_TRIES):
            listing = self._groups_once()
            if listing is not None:
                return [rows.group(row) for row in listing.values()]
        raise self._wire.failure(
            'the server groups kept changing while they were listed',
            transient=True,
        )

    def _groups_once(self) -> dict[str, wire.Json] | None:
        found: dict[str, wire.Json] = {}
        page = self._group_page(0)
        # A server that gives one row at a time leaves none to overlap.
        overlap = 1 if len(page) > 1 else 0
        while page:
            found.update((row['id'], row) for row in page)
            last = page[-1]['id']
            page = self._group_page(len(found) - overlap)
            if overlap and (not page or page[0]['id'] != last):
                return None
            page = page[overlap:]
        return found

    def _group_page(self, offset: int) -> list[wire.Json]:
        body = self._wire.get(
            '/os-server-groups',
            self.microversion,
            {'all_projects': 'True', 'limit': _PAGE, 'offset': offset},
        )
        page: list[wire.Json] = body['server_groups']
        return page


def _dotted(version: tuple[int, int]) -> str:
    return f'{version[0]}.{version[1]}'


def quoted(part: str) -> str:
    return parse.quote(part, safe='')
