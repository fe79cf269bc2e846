# SPDX-License-Identifier: Apache-2.0
"""The cluster as counts: free capacity, and interchangeable servers by host.

A host has one node, or several NUMA nodes with the same resource classes; a
resource is a class in a node, node by node. A server stands on a host in one
of several ways: on either node, say, or on both.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kronos.engine.arrays import IntArray


@dataclass(frozen=True)
class Way:
    """How servers of a kind take the resources of a host."""

    kind: int
    """Servers of a kind are interchangeable."""
    demand: tuple[int, ...]
    """By resource, as it stands on a host in this way."""
    memory_mb: int = 0
    """What a live migration of it copies."""


@dataclass(frozen=True)
class Cluster:
    """The hosts that may receive servers, and what may move between them."""

    hosts: tuple[str, ...]
    free: IntArray
    """[hosts, resources]; negative where a host is overfull."""
    ways: tuple[Way, ...]
    slots: tuple[tuple[int, ...], ...]
    """The demand of a server that is to be created, in each way it can stand.
    All take the same amounts, and no two need the same resource."""
    servers: Mapping[tuple[int, int], tuple[str, ...]]
    """Movable servers by host and way, those first that are to move first."""
    nodes: int = 1
    """Of each host."""
    apart: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By movable server the groups whose members share no host."""
    occupied: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """By host such groups with a member there that does not move."""

    @functools.cached_property
    def kinds(self) -> int:
        return 1 + max((way.kind for way in self.ways), default=-1)

    @functools.cached_property
    def demands(self) -> IntArray:
        """[ways, resources]."""
        shape = len(self.ways), self.free.shape[1]
        rows = [way.demand for way in self.ways]
        return np.array(rows, dtype=np.intp).reshape(shape)

    def counts(self) -> IntArray:
        """Movable servers, [hosts, ways]."""
        counts = np.zeros((len(self.hosts), len(self.ways)), dtype=np.intp)
        for (host, way), servers in self.servers.items():
            counts[host, way] = len(servers)
        return counts

    def slot_counts(self, free: IntArray) -> IntArray:
        """How many more of the wanted servers fit.

        :param free: [..., resources]
        :returns: [...]; an overfull resource has none
        """
        total = np.zeros(free.shape[:-1], dtype=np.intp)
        for slot in self.slots:
            demand = np.array(slot, dtype=np.intp)
            needed = demand > 0
            each = np.maximum(free[..., needed], 0) // demand[needed]
            total += each.min(axis=-1)
        return total

    def by_sum(self) -> int:
        """How many would fit if free capacity could be joined across hosts."""
        shape = len(self.hosts) * self.nodes, -1
        free = np.maximum(self.free, 0).reshape(shape).sum(axis=0)
        demand = np.array(self.slots[0], dtype=np.intp)
        required = demand.reshape(self.nodes, -1).sum(axis=0)
        needed = required > 0
        return int((free[needed] // required[needed]).min())
