# SPDX-License-Identifier: Apache-2.0
"""The state of NUMA nodes while servers move: who is where, and the slots.

A server goes to the nodes that Nova would choose at that moment.
"""

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kronos.engine.eligibility import free_capacity
from kronos.engine.settings import Settings
from kronos.engine.slots import counting, flavors, numa_facts
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.slots.numa_facts import NodeHosts, NumaFacts
from kronos.engine.slots.numa_nodes import NumaDemand
from kronos.engine.types import Snapshot
from kronos.extensions.room.planning.host_state import (
    Filling,
    HostState,
    Nodes,
)


@dataclass(frozen=True)
class NodeMove:
    """A live migration, between NUMA nodes if its server has a topology."""

    server: str
    source: str
    source_nodes: Nodes
    destination: str
    nodes: Nodes
    """Those that Nova chooses on the destination."""


class NodeState:
    """The hosts of a scope, and the slots of one flavor after the other.

    :param targets: flavors, in the order in which their servers are created
    :param apart: whether a host takes one new server at most
    """

    def __init__(
        self,
        snapshot: Snapshot,
        facts: NumaFacts,
        targets: Sequence[SlotFlavor],
        settings: Settings,
        apart: bool,
    ) -> None:
        self._instances = snapshot.instances
        nodes = NodeHosts(snapshot, facts)
        self.hosts = _hosts(snapshot, facts, nodes, targets)
        takes = [
            frozenset(
                name
                for name in self.hosts
                if not counting.why_none(
                    snapshot, name, flavor, settings, nodes
                )
            )
            for flavor in targets
        ]
        self._filling = Filling(targets, takes, apart)
        self._reserved: dict[str, list[int]] = {
            host: [] for host in self.hosts
        }
        """By host, new servers of the flavors before the present one."""
        self._counted: dict[str, int] = {}
        """Slots by host, as long as nothing changes there."""
        self._demands: dict[str, NumaDemand | None] = {}
        self.places: dict[str, tuple[str, Nodes]] = {}
        """By server its host, and its nodes there."""
        self.servers: dict[str, set[str]] = {
            host: set() for host in self.hosts
        }
        """By host."""
        self._add_servers(facts)

    def _add_servers(self, facts: NumaFacts) -> None:
        """Those that may move as far as nodes are known."""
        for uuid, server in sorted(self._instances.items()):
            host = self.hosts.get(server.host)
            if host is None:
                continue
            topology = facts.topologies.get(uuid)
            if topology is not None and host.nodes is not None:
                self._demands[uuid] = topology.demand
                self.places[uuid] = server.host, topology.host_nodes
            elif not flavors.numa(server.extra_specs):
                self._demands[uuid] = None
                self.places[uuid] = server.host, ()
            else:
                continue
            self.servers[server.host].add(uuid)

    def demand(self, server: str) -> object:
        """What a server takes: those with the same are alike."""
        demand = self._demands[server]
        if demand is not None:
            return demand
        return tuple(sorted(self._instances[server].demand.items()))

    def takers(self, place: int) -> Collection[str]:
        """The hosts that take new servers of one of the flavors."""
        return self._filling.takes[place]

    def takes(self, host: str) -> bool:
        """Whether new servers of the present flavor may be created there."""
        return host in self.takers(len(self._reserved[host]))

    def slots(self, host: str) -> int:
        """How many new servers of the present flavor fit on a host.

        :returns: -1: those reserved for flavors before it fit no more
        """
        if host not in self._counted:
            self._counted[host] = self._count(host)
        return self._counted[host]

    def _count(self, host: str) -> int:
        return self._filling.slots(
            host, self.hosts[host], self._reserved[host]
        )

    def alone(self, place: int) -> dict[str, int]:
        """The slots of one of the flavors by host, with none reserved."""
        return {
            host: self._filling.slots(host, state, [0] * place)
            for host, state in self.hosts.items()
        }

    def fill(self, host: str, server: str) -> int:
        """How full a host is for a server, among others."""
        return self.hosts[host].fill(self._demands[server])

    def total(self) -> int:
        return sum(max(0, self.slots(host)) for host in self.hosts)

    def reserve(self, number: int) -> None:
        """Reserve slots of the present flavor, and go on to the next.

        Those are taken first that cost later flavors least.
        """
        slots = {host: self.slots(host) for host in self.hosts}
        for reserved in self._reserved.values():
            reserved.append(0)
        heap = [(self._loss(host), host) for host in slots if slots[host] > 0]
        heapq.heapify(heap)
        for _ in range(number):
            _, host = heapq.heappop(heap)
            self._reserved[host][-1] += 1
            if self._reserved[host][-1] < slots[host]:
                heapq.heappush(heap, (self._loss(host), host))
        self._counted.clear()

    def _loss(self, host: str) -> int:
        return self._filling.loss(host, self.hosts[host], self._reserved[host])

    def to(self, server: str, host: str) -> NodeMove | None:
        """The move of a server to a host; None: no nodes there take it."""
        source, source_nodes = self.places[server]
        if host == source:
            return None
        nodes = self.hosts[host].choice(
            self._instances[server], self._demands[server]
        )
        if nodes is None:
            return None
        return NodeMove(server, source, source_nodes, host, nodes)

    def make(self, move: NodeMove) -> None:
        self.remove(move.server)
        self._place(move.server, move.destination, move.nodes)

    def take_back(self, move: NodeMove) -> None:
        self.remove(move.server)
        self._place(move.server, move.source, move.source_nodes)

    def slots_without(self, host: str, servers: tuple[str, ...]) -> int:
        """The slots of a host if some of its servers were gone."""
        before = self.slots(host)
        for server in servers:
            self._add(server, host, self.places[server][1], -1)
        slots = self._count(host)
        for server in servers:
            self._add(server, host, self.places[server][1], 1)
        self._counted[host] = before
        return slots

    def remove(self, server: str) -> None:
        """Take a server off its host."""
        host, nodes = self.places.pop(server)
        self.servers[host].remove(server)
        self._add(server, host, nodes, -1)

    def _place(self, server: str, host: str, nodes: Nodes) -> None:
        self.places[server] = host, nodes
        self.servers[host].add(server)
        self._add(server, host, nodes, 1)

    def _add(self, server: str, host: str, nodes: Nodes, times: int) -> None:
        self._counted.pop(host, None)
        self.hosts[host].add(
            self._instances[server], self._demands[server], nodes, times
        )


def _hosts(
    snapshot: Snapshot,
    facts: NumaFacts,
    nodes: NodeHosts,
    targets: Sequence[SlotFlavor],
) -> dict[str, HostState]:
    """Those whose inventory is known."""
    resources = sorted({name for flavor in targets for name in flavor.demand})
    hosts = {}
    for name in sorted(snapshot.hosts):
        headroom = snapshot.hosts[name].headroom
        if headroom is None:
            continue
        hosts[name] = HostState(
            {each: free_capacity.free(each, headroom) for each in resources},
            None if nodes.why_none(name) else nodes.used(name),
            numa_facts.PINNED in headroom,
        )
    return hosts
