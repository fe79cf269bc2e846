# SPDX-License-Identifier: Apache-2.0
"""The reader of hosts: their services, aggregates, cells and headroom."""

import time
from collections.abc import Callable, Collection

from oslo_log import log as logging

from kronos.clients import placement
from kronos.clients.nova import client
from kronos.clients.nova.client import NovaClient
from kronos.clients.placement import PlacementClient
from kronos.common import exceptions
from kronos.engine import wording
from kronos.engine.scoring import labels
from kronos.engine.types import ComputeService, Host
from kronos.options import choices
from kronos.snapshots import cells, scopes
from kronos.snapshots.cloud import NO_HEADROOM, CloudInventory

LOG = logging.getLogger(__name__)


class HostReader:
    """Reads what Nova and Placement know of hosts, and nothing of servers.

    :param hypervisor_types: types that are planned, in any case
    :param cell_source: where the operator tells the cells of hosts
    :param is_strict: whether it raises if services or headroom are not known
    :param clock: Unix seconds
    :param report: takes a line of text as each part has been read
    :raises ValueError: ``cell_source`` is not ``metadata`` or ``az``
    """

    def __init__(
        self,
        nova: NovaClient,
        placement: PlacementClient,
        *,
        hypervisor_types: Collection[str] = choices.HYPERVISOR_TYPES,
        cell_source: str = 'metadata',
        is_strict: bool = False,
        clock: Callable[[], float] = time.time,
        report: Callable[[str], None] = LOG.debug,
    ) -> None:
        self._nova = nova
        self._placement = placement
        self._types = {name.lower() for name in hypervisor_types}
        self._cell_source = cells.CellSource(cell_source)
        self._is_strict = is_strict
        self._clock = clock
        self._report = report

    def begin(self) -> CloudInventory:
        """The hosts without their headroom, in few and short listings.

        :raises NovaClientError: aggregates or hypervisors are not listed
        """
        taken_at = self._clock()
        services = self._services()
        cloud, warnings = self._cloud(services)
        source = self._cell_source
        cloud.cells = cells.claims(source, cloud.aggregates, services)
        hosts = [*cloud.hosts.values(), *cloud.other_hosts.values()]
        cells.fill_in(source, hosts, cloud.cells)
        aggregates = len(cloud.aggregates)
        self._report(f'{len(hosts)} hosts in {aggregates} aggregates')
        return CloudInventory(
            cloud, services, taken_at=taken_at, warnings=warnings
        )

    def _services(self) -> dict[str, ComputeService] | None:
        try:
            return self._nova.list_compute_services()
        except exceptions.NovaClientError as error:
            if self._is_strict:
                raise
            LOG.error(
                'The state of the compute services is not known, so Kronos '
                'migrates no server: %s',
                error,
            )
            return None

    def _cloud(
        self, services: dict[str, ComputeService] | None
    ) -> tuple[scopes.Cloud, list[str]]:
        """The cloud, and what every scope should tell of it."""
        cloud = scopes.Cloud({}, {}, self._nova.list_aggregates())
        hosts, warnings = self._hosts(services)
        for host in hosts:
            planned = host.hypervisor_type.lower() in self._types
            table = cloud.hosts if planned or warnings else cloud.other_hosts
            table[host.name] = host
            if services and host.name in services:
                host.availability_zone = services[host.name].zone
        all_hosts = cloud.hosts | cloud.other_hosts
        for aggregate in cloud.aggregates:
            # Nova takes the name of a host there in any case.
            names = (
                labels.find_host(name, all_hosts) or name
                for name in aggregate.hosts
            )
            aggregate.hosts = list(dict.fromkeys(names))
        return cloud, warnings

    def _hosts(
        self, services: dict[str, ComputeService] | None
    ) -> tuple[list[Host], list[str]]:
        """The hypervisors; while a cell is down the services' hosts.

        A host of the cells that are up then gets its node from Placement,
        or takes no part. Of the others nothing is known.
        """
        try:
            return self._nova.list_compute_hosts(), []
        except exceptions.NovaClientError as error:
            if not client.is_of_down_cell(error, services):
                raise
            down = [
                name
                for name, service in sorted((services or {}).items())
                if service.state is None
            ]
            warning = (
                'a cell is down, so Nova lists no hypervisors: Kronos takes '
                'the hosts from os-services and Placement, whatever their '
                f'hypervisor type, and has no data about {wording.some(down)}'
            )
            LOG.warning('%s: %s', warning, error)
        return [Host(name) for name in sorted(services or {})], [warning]

    def fill_in(self, gathered: CloudInventory) -> None:
        """Add headroom and traits; without Placement, a warning.

        :raises PlacementClientError: where it is strict
        """
        rooms: dict[str, placement.Room] = {}
        try:
            rooms = self._placement.headroom()
        except exceptions.PlacementClientError as error:
            if self._is_strict:
                raise
            warning = f'{error}; {NO_HEADROOM}'
            gathered.warnings.append(warning)
            LOG.error('%s', warning)
        for host in gathered.cloud.hosts.values():
            if not host.node:
                host.node = placement.like(host.name, rooms)
            if not host.node:
                host.frozen = (
                    'while a cell is down its hypervisor is not known, and '
                    'Placement has no provider with its name'
                )
            if host.node in rooms:
                host.headroom, host.traits = rooms[host.node]
        self._report('headroom of the hosts')
