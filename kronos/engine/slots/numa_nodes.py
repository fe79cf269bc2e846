# SPDX-License-Identifier: Apache-2.0
"""The NUMA nodes of a host: what is free on each, and which Nova chooses.

No API chooses the node of a server. Nova sorts the nodes of the host by free
CPUs, then by free memory, and takes the first ones that fit: those with the
most first, or the fewest if it packs. A server with as many nodes as the host
takes them in order.
"""

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class NodeLayout:
    """The NUMA nodes of a host, all alike."""

    nodes: int
    cpus: int
    """Of a node, those that servers may use."""
    memory_mb: int
    """Of a node, in pages of the default size."""
    packing: bool = False
    """Whether Nova takes the fullest node first:
    ``packing_host_numa_cells_allocation_strategy`` in nova.conf."""


@dataclass(frozen=True)
class NumaDemand:
    """What a server takes of NUMA nodes."""

    nodes: tuple[tuple[int, int], ...]
    """CPUs and memory (MiB) of each of its own nodes."""
    is_pinned: bool
    """Whether each of its CPUs has a CPU of the host for itself."""


@dataclass(frozen=True)
class NodeLimits:
    """What all servers of a node may use together."""

    cpus: int
    memory_mb: int


class HostNodes:
    """What servers use of the nodes of one host.

    :param limits: more than a node has, if its host shares CPUs
    """

    def __init__(
        self, layout: NodeLayout, limits: NodeLimits | None = None
    ) -> None:
        self.layout = layout
        self._limits = limits or NodeLimits(layout.cpus, layout.memory_mb)
        self.cpus = [0] * layout.nodes
        """Used, by node."""
        self.memory_mb = [0] * layout.nodes

    def copy(self) -> 'HostNodes':
        other = HostNodes(self.layout, self._limits)
        other.cpus, other.memory_mb = [*self.cpus], [*self.memory_mb]
        return other

    def choice(self, demand: NumaDemand) -> tuple[int, ...] | None:
        """The node that Nova chooses for each node of a server.

        :returns: None: it does not fit
        """
        order = [*range(self.layout.nodes)]
        if len(demand.nodes) < self.layout.nodes:
            order.sort(key=self._rank)
        if len({*demand.nodes}) == 1:
            order = [
                node for node in order if self._fits(node, *demand.nodes[:1])
            ]
        for nodes in itertools.permutations(order, len(demand.nodes)):
            if all(map(self._fits, nodes, demand.nodes)):
                return nodes
        return None

    def _rank(self, node: int) -> tuple[int, int]:
        sign = -1 if self.layout.packing else 1
        return sign * self.cpus[node], sign * self.memory_mb[node]

    def _fits(self, node: int, amounts: tuple[int, int]) -> bool:
        """No server may use more than the node has, whatever the limits."""
        cpus, memory_mb = amounts
        return (
            cpus <= self.layout.cpus
            and memory_mb <= self.layout.memory_mb
            and self.cpus[node] + cpus <= self._limits.cpus
            and self.memory_mb[node] + memory_mb <= self._limits.memory_mb
        )

    def limit(self) -> tuple[int, int]:
        """CPUs and memory of a node that servers may use together."""
        return self._limits.cpus, self._limits.memory_mb

    def free(self, node: int) -> tuple[int, int]:
        """What is left of them."""
        cpus, memory_mb = self.limit()
        return cpus - self.cpus[node], memory_mb - self.memory_mb[node]

    def take(self, demand: NumaDemand, nodes: tuple[int, ...]) -> None:
        self._add(demand, nodes, 1)

    def release(self, demand: NumaDemand, nodes: tuple[int, ...]) -> None:
        self._add(demand, nodes, -1)

    def _add(
        self, demand: NumaDemand, nodes: tuple[int, ...], times: int
    ) -> None:
        for node, (cpus, memory_mb) in zip(nodes, demand.nodes, strict=True):
            self.cpus[node] += times * cpus
            self.memory_mb[node] += times * memory_mb

    def slots(self, demand: NumaDemand, most: int) -> int:
        """How many more servers Nova places, one after another.

        :param most: so many are enough
        """
        nodes = self.copy()
        for number in range(most):
            chosen = nodes.choice(demand)
            if chosen is None:
                return number
            nodes.take(demand, chosen)
        return most
