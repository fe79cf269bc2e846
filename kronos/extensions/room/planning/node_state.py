# SPDX-License-Identifier: Apache-2.0
"""The state of NUMA nodes while servers move: who is where, and the slots.

A server goes to the nodes that Nova would choose at that moment.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kronos.engine.eligibility import free_capacity
from kronos.engine.settings import Settings
from kronos.engine.slots import counting, numa_facts
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.slots.numa_facts import NodeHosts, NumaFacts
from kronos.engine.slots.numa_nodes import HostNodes, NumaDemand
from kronos.engine.types import Instance, Snapshot

Nodes = tuple[int, ...]


@dataclass(frozen=True)
class NodeMove:
    """A live migration between NUMA nodes."""

    server: str
    source: str
    source_nodes: Nodes
    destination: str
    nodes: Nodes
    """Those that Nova chooses on the destination."""


class NodeState:
    """The hosts whose NUMA nodes are known.

    :param flavor: whose slots are counted
    :param apart: whether a host takes one new server at most
    """

    def __init__(
        self,
        snapshot: Snapshot,
        facts: NumaFacts,
        flavor: SlotFlavor,
        demand: NumaDemand,
        settings: Settings,
        apart: bool,
    ) -> None:
        self._flavor, self._demand, self._apart = flavor, demand, apart
        self._instances = snapshot.instances
        self.hosts: dict[str, HostNodes] = {}
        self._free: dict[str, dict[str, int]] = {}
        self._takes: set[str] = set()
        self._dedicated: set[str] = set()
        self._counted: dict[str, int] = {}
        """Slots by host, as long as nothing changes there."""
        self._add_hosts(snapshot, NodeHosts(snapshot, facts), settings)
        self.places = _places(snapshot, facts, self.hosts)
        """By server its host, and its nodes there."""
        self.servers: dict[str, set[str]] = {
            host: set() for host in self.hosts
        }
        """By host."""
        for server, (host, _) in self.places.items():
            self.servers[host].add(server)
        self._demands = {
            uuid: facts.topologies[uuid].demand for uuid in self.places
        }

    def _add_hosts(
        self, snapshot: Snapshot, nodes: NodeHosts, settings: Settings
    ) -> None:
        flavor = self._flavor
        for name in sorted(snapshot.hosts):
            headroom = snapshot.hosts[name].headroom
            if headroom is None or nodes.why_none(name):
                continue
            self.hosts[name] = nodes.used(name)
            if numa_facts.PINNED in headroom:
                self._dedicated.add(name)
            self._free[name] = {
                resource: free_capacity.free(resource, headroom)
                for resource in flavor.demand
            }
            if not counting.why_none(snapshot, name, flavor, settings, nodes):
                self._takes.add(name)

    def demand(self, server: str) -> NumaDemand:
        return self._demands[server]

    def slots(self, host: str) -> int:
        """How many new servers fit on a host."""
        if host not in self._takes:
            return 0
        if host not in self._counted:
            self._counted[host] = self._count(host)
        return self._counted[host]

    def _count(self, host: str) -> int:
        free = self._free[host]
        most = min(
            max(free[resource], 0) // amount
            for resource, amount in self._flavor.demand.items()
        )
        if self._apart:
            most = min(most, 1)
        return self.hosts[host].slots(self._demand, most)

    def total(self) -> int:
        return sum(map(self.slots, self._takes))

    def to(self, server: str, host: str) -> NodeMove | None:
        """The move of a server to a host; None: no nodes there take it."""
        source, source_nodes = self.places[server]
        demand = self._demands[server]
        is_dedicated = host in self._dedicated
        if host == source or demand.is_pinned is not is_dedicated:
            return None
        nodes = self.hosts[host].choice(demand)
        if nodes is None:
            return None
        return NodeMove(server, source, source_nodes, host, nodes)

    def make(self, move: NodeMove) -> None:
        self._release(move.server)
        self._place(move.server, move.destination, move.nodes)

    def take_back(self, move: NodeMove) -> None:
        self._release(move.server)
        self._place(move.server, move.source, move.source_nodes)

    def slots_without(self, host: str, servers: tuple[str, ...]) -> int:
        """The slots of a host if some of its servers were gone."""
        if host not in self._takes:
            return 0
        before = self.slots(host)
        for server in servers:
            self._add(server, host, self.places[server][1], -1)
        slots = self._count(host)
        for server in servers:
            self._add(server, host, self.places[server][1], 1)
        self._counted[host] = before
        return slots

    def _release(self, server: str) -> None:
        host, nodes = self.places.pop(server)
        self.servers[host].remove(server)
        self._add(server, host, nodes, -1)

    def _place(self, server: str, host: str, nodes: Nodes) -> None:
        self.places[server] = host, nodes
        self.servers[host].add(server)
        self._add(server, host, nodes, 1)

    def _add(self, server: str, host: str, nodes: Nodes, times: int) -> None:
        demand = self._demands[server]
        self._counted.pop(host, None)
        if times > 0:
            self.hosts[host].take(demand, nodes)
        else:
            self.hosts[host].release(demand, nodes)
        amounts = _amounts(self._instances[server], demand)
        for resource in self._free[host]:
            self._free[host][resource] -= times * amounts.get(resource, 0)


def _places(
    snapshot: Snapshot, facts: NumaFacts, hosts: Mapping[str, HostNodes]
) -> dict[str, tuple[str, Nodes]]:
    return {
        uuid: (server.host, facts.topologies[uuid].host_nodes)
        for uuid, server in sorted(snapshot.instances.items())
        if server.host in hosts and uuid in facts.topologies
    }


def _amounts(server: Instance, demand: NumaDemand) -> dict[str, int]:
    amounts = dict(server.demand)
    if demand.is_pinned:
        amounts[numa_facts.PINNED] = amounts.pop(numa_facts.SHARED)
    return amounts
