# SPDX-License-Identifier: Apache-2.0
"""The cluster of a forecast: memory and vCPUs of hosts, and servers on them.

It knows of no other constraint, so what it says of a run is a figure to be
expected, and the run itself is planned by the search.
"""

from collections.abc import Collection, Sequence

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.types import Instance, Snapshot

KINDS = 'VCPU', 'MEMORY_MB'


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
        finite = np.where(np.isfinite(self.capacity), self.capacity, np.nan)
        mean = np.nan_to_num(np.nanmean(finite, axis=1), nan=1.0)
        size = np.max(self.need / np.maximum(mean, 1.0)[:, None], axis=0)
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
        free = self.free[:, targets].copy()
        capacity = self.capacity[:, targets]
        result: list[int | None] = []
        for server in servers:
            rest = free - self.need[:, server, None]
            takes = (rest >= 0).all(axis=0)
            if not takes.any():
                result.append(None)
                continue
            least = np.where(takes, (rest / capacity).min(axis=0), -np.inf)
            best = int(np.argmax(np.nan_to_num(least, nan=1.0)))
            free[:, best] = rest[:, best]
            result.append(int(targets[best]))
        return result

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


def _room(
    snapshot: Snapshot, hosts: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """[2, H]: the capacity of hosts, and what is used of it."""
    rows = [snapshot.hosts[name].headroom or {} for name in hosts]
    capacity = [
        [float(row[kind].capacity) if kind in row else np.inf for row in rows]
        for kind in KINDS
    ]
    used = [
        [float(row[kind].used) if kind in row else 0.0 for row in rows]
        for kind in KINDS
    ]
    return np.array(capacity), np.array(used)
