# SPDX-License-Identifier: Apache-2.0
"""The cluster of a forecast: memory and vCPUs of hosts, and servers on them.

It knows of no other constraint, so what it says of a run is a figure to be
expected, and the run itself is planned by the search.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.types import Instance, Snapshot

KINDS = 'VCPU', 'MEMORY_MB'
UNLIMITED = 2.0**50
"""The capacity of a host of which Placement does not know any."""


class Cluster:
    """Who is on which host, and what is free there.

    :param staying: uuids of servers that never move
    """

    def __init__(self, snapshot: Snapshot, staying: Collection[str]) -> None:
        self.hosts = sorted(snapshot.hosts)
        self.position = {name: n for n, name in enumerate(self.hosts)}
        self.servers: list[Instance] = [
            instance
            for uuid, instance in sorted(snapshot.instances.items())
            if uuid not in staying
        ]
        self.capacity, used = _room(snapshot, self.hosts)
        """[2, H]"""
        self.free: FloatArray = self.capacity - used
        """[2, H]"""
        self.need: FloatArray = np.array(
            [
                [server.demand[kind] for server in self.servers]
                for kind in KINDS
            ],
            dtype=float,
        ).reshape(2, len(self.servers))
        """[2, N]"""
        self.on: list[list[int]] = [[] for _ in self.hosts]
        size = np.max(self.need / _mean(self.capacity)[:, None], axis=0)
        for server in np.lexsort((np.arange(len(size)), -size)).tolist():
            host = self.position[self.servers[server].host]
            self.on[host].append(server)

    def move(self, server: int, source: int, target: int) -> None:
        self.on[source].remove(server)
        self.on[target].append(server)
        self.free[:, source] += self.need[:, server]
        self.free[:, target] -= self.need[:, server]

    def places(
        self, servers: Sequence[int], targets: IntArray
    ) -> list[int | None]:
        """A host for each server, the emptiest that takes it; None: none.

        Nothing is moved.
        """
        free = self.free[:, targets]
        return [
            None if place is None else int(targets[place])
            for place in self._places(servers, free, targets)
        ]

    def takes_all(self, servers: Sequence[int], targets: IntArray) -> bool:
        """Whether each server has a host, placed as :meth:`places` does."""
        free = self.free[:, targets]
        return None not in self._places(servers, free, targets)

    def _places(
        self, servers: Sequence[int], free: FloatArray, targets: IntArray
    ) -> Iterator[int | None]:
        """Positions among the targets; takes from what is free of each."""
        capacity = self.capacity[:, targets]
        for server in servers:
            rest = free - self.need[:, server, None]
            takes = (rest >= 0).all(axis=0)
            if not takes.any():
                yield None
                continue
            least = (rest / capacity).min(axis=0)
            least[~takes] = -np.inf
            best = int(least.argmax())
            free[:, best] = rest[:, best]
            yield best

    def may_fit(self, servers: Sequence[int], targets: IntArray) -> bool:
        """Whether the sum of what is free takes the sum of the servers."""
        need = self.need[:, list(servers)].sum(axis=1)
        free = np.maximum(self.free[:, targets], 0.0).sum(axis=1)
        return bool((need <= free).all())

    def most_that_fit(self, servers: Sequence[int], targets: IntArray) -> int:
        """At most so many of some servers fit, however they are placed."""
        free = np.maximum(self.free[:, targets], 0.0).sum(axis=1)
        numbers = [
            int(np.searchsorted(np.cumsum(np.sort(row)), limit, side='right'))
            for row, limit in zip(
                self.need[:, list(servers)], free, strict=True
            )
        ]
        return min(numbers)


def _mean(capacity: FloatArray) -> FloatArray:
    """[2]: the mean of those that are known."""
    finite = capacity < UNLIMITED
    total: FloatArray = np.where(finite, capacity, 0.0).sum(axis=1)
    mean: FloatArray = total / np.maximum(finite.sum(axis=1), 1)
    mean[mean < 1.0] = 1.0
    return mean


def _room(
    snapshot: Snapshot, hosts: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """[2, H]: the capacity of hosts, and what is used of it."""
    rows = [snapshot.hosts[name].headroom or {} for name in hosts]
    capacity = [
        [
            max(1.0, row[kind].capacity) if kind in row else UNLIMITED
            for row in rows
        ]
        for kind in KINDS
    ]
    used = [
        [float(row[kind].used) if kind in row else 0.0 for row in rows]
        for kind in KINDS
    ]
    return np.array(capacity, dtype=float), np.array(used)
