# SPDX-License-Identifier: Apache-2.0
"""The NUMA facts of a cloud, and the hosts of which they are the whole truth.

What the nodes of a host have is configured, and what its servers use of them
is in Nova's topology API. A host of which anything else may be true has no
slots for servers with a NUMA topology.
"""

from collections.abc import Iterable, Iterator
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


def why_none(snapshot: Snapshot, host: str, facts: NumaFacts) -> str:
    """Why the NUMA nodes of a host are not known; '' if they are.

    :param host: with an inventory in Placement
    """
    if host not in facts.layouts:
        return 'no aggregate of it is in [kronos] numa_cells'
    headroom = snapshot.hosts[host].headroom or {}
    reasons = (
        *_of_inventory(headroom, facts.layouts[host]),
        *_of_servers(snapshot, host, facts),
        *_of_use(snapshot, host, headroom, facts),
    )
    return next(filter(None, reasons), '')


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


def used_nodes(snapshot: Snapshot, host: str, facts: NumaFacts) -> HostNodes:
    """The nodes of a host with its servers."""
    nodes = nodes_of(snapshot.hosts[host], facts.layouts[host])
    for _, topology in _placed(snapshot, host, facts):
        nodes.take(topology.demand, topology.host_nodes)
    return nodes


def _placed(
    snapshot: Snapshot, host: str, facts: NumaFacts
) -> Iterator[tuple[Instance, ServerTopology]]:
    for server in snapshot.instances.values():
        topology = facts.topologies.get(server.uuid)
        if server.host == host and topology is not None:
            yield server, topology


def _of_inventory(
    headroom: dict[str, Headroom], layout: NodeLayout
) -> Iterator[str]:
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


def _of_servers(
    snapshot: Snapshot, host: str, facts: NumaFacts
) -> Iterator[str]:
    for server in snapshot.instances.values():
        if server.host == host:
            yield _unclear(server)
            if flavors.numa(server.extra_specs):
                yield _unreadable(server.uuid, facts, facts.layouts[host])
    pinned = {
        topology.demand.is_pinned
        for _, topology in _placed(snapshot, host, facts)
    }
    if len(pinned) > 1:
        yield 'servers with floating and with dedicated CPUs share its nodes'


def _unclear(server: Instance) -> str:
    for key, value in sorted(server.extra_specs.items()):
        spec = f'{key}={value}'
        if spec.startswith(UNCLEAR) and spec != SMALL_PAGES:
            return (
                f'server {server.uuid} has the extra spec {spec}, whose '
                'effect on NUMA nodes Kronos does not compute'
            )
    return ''


def _unreadable(uuid: str, facts: NumaFacts, layout: NodeLayout) -> str:
    topology = facts.topologies.get(uuid)
    if topology is None or not topology.nodes:
        return f'Nova does not show the NUMA topology of server {uuid}'
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


def _of_use(
    snapshot: Snapshot,
    host: str,
    headroom: dict[str, Headroom],
    facts: NumaFacts,
) -> Iterator[str]:
    """What Placement counts beyond servers: migrations, threads, leftovers."""
    if PINNED not in headroom:
        return
    cpus = sum(
        node.pinned
        for _, topology in _placed(snapshot, host, facts)
        for node in topology.nodes
    )
    if cpus != headroom[PINNED].used:
        yield (
            f'its servers have {cpus} dedicated CPUs, and Placement has '
            f'{headroom[PINNED].used} PCPU in use'
        )
