# SPDX-License-Identifier: Apache-2.0
"""The reader of NUMA nodes: of which hosts, and what their servers use."""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from kronos.clients.nova.rows import HostAggregate
from kronos.clients.nova.server_topology import ServerTopologies
from kronos.common.exceptions import ConfigurationError
from kronos.common.names import near_names
from kronos.engine.slots import flavors
from kronos.engine.slots.numa_facts import NumaFacts
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.extensions.room import numa_cells
from kronos.extensions.room.numa_cells import NumaCells
from kronos.snapshots.reader import Look

OPTION = '[kronos] numa_cells'


def configured(lines: Iterable[str]) -> dict[str, NumaCells]:
    """The cells by name of an aggregate, from the option.

    :raises ConfigurationError: names the option and what is wrong
    """
    try:
        return numa_cells.by_aggregate(lines)
    except ValueError as error:
        raise ConfigurationError(reason=f'{OPTION}: {error}') from None


def facts(look: Look, cells: Mapping[str, NumaCells]) -> NumaFacts:
    """What is known of the NUMA nodes of the hosts that are planned.

    :raises ConfigurationError: there is no such aggregate, or a host has the
        cells of two
    :raises NovaClientError: Nova is away
    """
    if not cells:
        return NumaFacts()
    planned = {host.name for hosts in look.hosts.values() for host in hosts}
    layouts = _layouts(look.gathered.cloud.aggregates, cells, planned)
    reader = ServerTopologies(look.nova.api)
    topologies = {}
    for server in look.gathered.instances:
        if server.host in layouts and flavors.numa(server.extra_specs):
            topology = reader.get(server.uuid)
            if topology is not None:
                topologies[server.uuid] = dataclasses.replace(
                    topology, host=server.host
                )
    look.report(f'NUMA topologies of {len(topologies)} servers')
    return NumaFacts(layouts, topologies)


def _layouts(
    aggregates: Sequence[HostAggregate],
    cells: Mapping[str, NumaCells],
    planned: Collection[str],
) -> dict[str, NodeLayout]:
    """The nodes by host."""
    hosts_of = {each.name: each.hosts for each in aggregates}
    sources: dict[str, str] = {}
    layouts: dict[str, NodeLayout] = {}
    for aggregate, of_hosts in cells.items():
        if aggregate not in hosts_of:
            hint = near_names.of_cloud(aggregate, sorted(hosts_of))
            raise ConfigurationError(
                reason=f'{OPTION}: there is no aggregate {aggregate}; {hint}'
            )
        layout = NodeLayout(
            of_hosts.nodes, of_hosts.cpus, of_hosts.memory_mb, of_hosts.packing
        )
        for host in sorted({*hosts_of[aggregate]} & {*planned}):
            if layouts.setdefault(host, layout) != layout:
                raise ConfigurationError(
                    reason=f'{OPTION}: host {host} is in {sources[host]} and '
                    f'in {aggregate}, which have different cells'
                )
            sources.setdefault(host, aggregate)
    return layouts
