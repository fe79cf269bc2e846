# SPDX-License-Identifier: Apache-2.0
"""The reader of NUMA nodes: of which hosts, and what their servers use."""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kronos.clients.nova import schema
from kronos.clients.nova.api import Api, quoted
from kronos.clients.nova.rows import HostAggregate
from kronos.common.exceptions import ConfigurationError, NovaClientError
from kronos.common.names import near_names
from kronos.engine.slots import flavors
from kronos.engine.slots.numa_facts import (
    NumaFacts,
    PlacedNode,
    ServerTopology,
)
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Instance
from kronos.options import numa_cells
from kronos.options.numa_cells import NumaCells

OPTION = '[kronos] numa_cells'
FIRST = (2, 78)
"""The microversion that shows the topology of a server."""


def configured(
    lines: Iterable[str], option: str = OPTION
) -> dict[str, NumaCells]:
    """The cells by name of an aggregate, from an option.

    :raises ConfigurationError: names the option and what is wrong
    """
    try:
        return numa_cells.by_aggregate(lines)
    except ValueError as error:
        raise ConfigurationError(reason=f'{option}: {error}') from None


def layouts(
    aggregates: Sequence[HostAggregate],
    cells: Mapping[str, NumaCells],
    planned: Collection[str],
    option: str = OPTION,
) -> dict[str, NodeLayout]:
    """The nodes by host.

    :param planned: hosts that count
    :raises ConfigurationError: there is no such aggregate, or a host has the
        cells of two
    """
    for fault in faults(aggregates, cells, planned):
        raise ConfigurationError(reason=f'{option}: {fault}')
    return {
        host: NodeLayout(**dataclasses.asdict(cells[each.name]))
        for each in aggregates
        if each.name in cells
        for host in sorted({*each.hosts} & {*planned})
    }


def faults(
    aggregates: Sequence[HostAggregate],
    cells: Mapping[str, NumaCells],
    planned: Collection[str],
) -> Iterator[str]:
    """What is wrong with the names of aggregates, and with their hosts."""
    hosts_of = {each.name: each.hosts for each in aggregates}
    sources: dict[str, str] = {}
    for aggregate in cells:
        if aggregate not in hosts_of:
            hint = near_names.of_cloud(aggregate, sorted(hosts_of))
            yield f'there is no aggregate {aggregate}; {hint}'
        for host in sorted({*hosts_of.get(aggregate, ())} & {*planned}):
            first = sources.setdefault(host, aggregate)
            if cells[first] != cells[aggregate]:
                yield (
                    f'host {host} is in {first} and in {aggregate}, which '
                    'have different cells'
                )


def facts(
    api: Api, hosts: Mapping[str, NodeLayout], servers: Iterable[Instance]
) -> NumaFacts:
    """What is known of the NUMA nodes of hosts, by a request a server.

    :param api: of a :class:`.NovaClient`
    :param hosts: their nodes
    :param servers: those of these hosts, and maybe others
    :raises NovaClientError: Nova is away
    """
    reader = ServerTopologies(api)
    topologies = {}
    for server in servers:
        if server.host in hosts and flavors.numa(server.extra_specs):
            topology = reader.get(server.uuid)
            if topology is not None:
                topologies[server.uuid] = dataclasses.replace(
                    topology, host=server.host
                )
    return NumaFacts({**hosts}, topologies)


class ServerTopologies:
    """Asks Nova for them, one server a request: there is no listing.

    :param api: of a :class:`.NovaClient`
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def get(self, uuid: str) -> ServerTopology | None:
        """The topology of a server; one without nodes if it has none.

        :returns: None: Nova does not show it, or not the nodes of the host,
            which are for administrators
        :raises NovaClientError: Nova is away
        """
        if not self._api.is_at_least(FIRST):
            return None
        path = f'/servers/{quoted(uuid)}/topology'
        try:
            body = self._api.get(path, shape=schema.ServerTopology)
        except NovaClientError as error:
            if error.kwargs['transient']:
                raise
            return None
        nodes = body['nodes']
        if any('host_node' not in node for node in nodes):
            return None
        placed = [
            PlacedNode(
                node['host_node'],
                len(node['vcpu_set']),
                node['memory_mb'],
                len(node.get('cpu_pinning') or {}),
            )
            for node in nodes
        ]
        return ServerTopology(placed, body.get('pagesize_kb'))
