# SPDX-License-Identifier: Apache-2.0
"""The NUMA facts of a cloud, and the hosts of which they are the whole truth.

What the nodes of a host have is configured, and what its servers use of them
is in Nova's topology API. A host of which anything else may be true has no
slots for servers with a NUMA topology.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kronos.common.names.name_marks import HostName, Uuid
from kronos.engine.slots import flavors
from kronos.engine.slots.numa_nodes import (
    HostNodes,
    NodeLayout,
    NodeLimits,
    NumaDemand,
)
from kronos.engine.types import Headroom, Host, Instance, Snapshot

SHARED, PINNED, MEMORY = 'VCPU', 'PCPU', 'MEMORY_MB'
PAGES_KB = (None, 4)
"""Sizes of pages that are those of all memory."""
UNCLEAR = (
    'hw:mem_page_size',
    'hw:pmem',
    'hw:cpu_thread_policy=isolate',
    'hw:emulator_threads_policy=isolate',
    'trait:HW_CPU_HYPERTHREADING',
    'pci_passthrough:',
    'hw:pci_',
    'accel:',
)
"""Extra specs, or their beginnings, of servers that use more of a node than
their CPUs and memory, or change the order of nodes."""
HIDDEN = 'Nova does not show the NUMA topology of server'
SMALL_PAGES = 'hw:mem_page_size=small'


@dataclass(frozen=True)
class PlacedNode:
    """A NUMA node of a server, on a node of its host."""

    host_node: int
    cpus: int
    memory_mb: int
    pinned: int = 0
    """CPUs that have a CPU of the host for themselves."""


@dataclass(frozen=True)
class ServerTopology:
    """What Nova shows of a server's NUMA topology."""

    nodes: list[PlacedNode]
    page_size_kb: int | None = None
    host: HostName = ''
    """Where it was then; '': where it is."""

    @property
    def demand(self) -> NumaDemand:
        return NumaDemand(
            tuple((node.cpus, node.memory_mb) for node in self.nodes),
            any(node.pinned for node in self.nodes),
        )

    @property
    def host_nodes(self) -> tuple[int, ...]:
        return tuple(node.host_node for node in self.nodes)


@dataclass
class NumaFacts:
    """What is known of NUMA nodes; nothing unless somebody configured it."""

    layouts: dict[HostName, NodeLayout] = field(default_factory=dict)
    """By host."""
    topologies: dict[Uuid, ServerTopology] = field(default_factory=dict)
    """By server, of those on these hosts that have one and show it."""


def of(beside: Iterable[object]) -> NumaFacts:
    """The facts among what extensions keep beside a snapshot.

    :param beside: one that read them has them as ``numa``
    """
    return next(
        (
            facts
            for each in beside
            if isinstance(facts := getattr(each, 'numa', None), NumaFacts)
        ),
        NumaFacts(),
    )


class NodeHosts:
    """The hosts of a scope, as far as their NUMA nodes are known."""

    def __init__(self, snapshot: Snapshot, facts: NumaFacts) -> None:
        self._hosts, self._facts = snapshot.hosts, facts
        self._servers: dict[str, list[Instance]] = {
            host: [] for host in facts.layouts
        }
        self._reasons: dict[str, str] = {}
        for server in snapshot.instances.values():
            if server.host in self._servers:
                self._servers[server.host].append(server)

    def why_none(self, host: str) -> str:
        """Why the nodes of a host are not known; '' if they are.

        :param host: with an inventory in Placement
        """
        if host not in self._facts.layouts:
            return 'no aggregate of it is in numa_cells'
        if host not in self._reasons:
            reasons = filter(None, self._doubts(host))
            self._reasons[host] = next(reasons, '')
        return self._reasons[host]

    def used(self, host: str) -> HostNodes:
        """The nodes of a host with its servers."""
        nodes = nodes_of(self._hosts[host], self._facts.layouts[host])
        for topology in self._topologies(host):
            nodes.take(topology.demand, topology.host_nodes)
        return nodes

    def _topologies(self, host: str) -> list[ServerTopology]:
        by_server = self._facts.topologies
        return [
            by_server[server.uuid]
            for server in self._servers[host]
            if server.uuid in by_server
        ]

    def _doubts(self, host: str) -> Iterator[str]:
        layout = self._facts.layouts[host]
        headroom = self._hosts[host].headroom or {}
        topologies = self._topologies(host)
        yield from of_inventory(headroom, layout)
        for server in self._servers[host]:
            yield _unclear(server)
            if flavors.numa(server.extra_specs):
                topology = self._facts.topologies.get(server.uuid)
                yield _unreadable(server, topology, layout)
        if len({each.demand.is_pinned for each in topologies}) > 1:
            yield (
                'servers with floating and with dedicated CPUs share its nodes'
            )
        if PINNED in headroom:
            yield _of_use(headroom[PINNED], topologies)


def nodes_of(host: Host, layout: NodeLayout) -> HostNodes:
    """The nodes of a host without its servers.

    Placement shows capacity with the allocation ratio and less what is
    reserved: if that is more than the nodes have, each may be used so much
    more.
    """
    headroom = host.headroom or {}
    if PINNED in headroom:
        return HostNodes(layout)

    def limit(resource: str, amount: int) -> int:
        amounts = headroom.get(resource, Headroom(0, 0))
        return max(amount, amounts.capacity // layout.nodes)

    limits = NodeLimits(
        limit(SHARED, layout.cpus), limit(MEMORY, layout.memory_mb)
    )
    return HostNodes(layout, limits)


def of_inventory(
    headroom: Mapping[str, Headroom], layout: NodeLayout
) -> Iterator[str]:
    """Why nodes are not known, by what Placement has of their host."""
    if PINNED in headroom and SHARED in headroom:
        yield (
            'it has both shared and dedicated CPUs, and numa_cells is about '
            'one of them'
        )
    cpus = layout.nodes * layout.cpus
    if PINNED in headroom and headroom[PINNED].capacity != cpus:
        yield (
            f'numa_cells has {layout.nodes} nodes of {layout.cpus} CPUs, and '
            f'Placement has {headroom[PINNED].capacity} PCPU'
        )


def _unclear(server: Instance) -> str:
    for key, value in sorted(server.extra_specs.items()):
        spec = f'{key}={value}'
        if spec.startswith(UNCLEAR) and spec != SMALL_PAGES:
            return (
                f'server {server.uuid} has the extra spec {spec}, whose '
                'effect on NUMA nodes Kronos does not compute'
            )
    return ''


def _unreadable(
    server: Instance, topology: ServerTopology | None, layout: NodeLayout
) -> str:
    uuid = server.uuid
    if topology is None or not topology.nodes:
        return f'{HIDDEN} {uuid}'
    if topology.host not in ('', server.host):
        return f'the plan of another scope moves server {uuid} there'
    if topology.page_size_kb not in PAGES_KB:
        return f'server {uuid} uses pages of {topology.page_size_kb} KiB'
    for node in topology.nodes:
        if not 0 <= node.host_node < layout.nodes:
            return (
                f'server {uuid} is on node {node.host_node}, and numa_cells '
                f'has {layout.nodes} nodes'
            )
        if node.pinned not in (0, node.cpus):
            return f'server {uuid} has floating and dedicated CPUs'
    return ''


def _of_use(headroom: Headroom, topologies: Iterable[ServerTopology]) -> str:
    """What Placement counts beyond servers: migrations, threads, leftovers."""
    cpus = sum(node.pinned for each in topologies for node in each.nodes)
    if cpus == headroom.used:
        return ''
    return (
        f'its servers have {cpus} dedicated CPUs, and Placement has '
        f'{headroom.used} PCPU in use'
    )
