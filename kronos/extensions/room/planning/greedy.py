# SPDX-License-Identifier: Apache-2.0
"""The greedy plan: one host after the other gives room for a slot.

It needs no solver, and has no proof. Each time, the host is taken that needs
the fewest servers to leave, and these go where they cost no slot.
"""

import numpy as np

from kronos.engine.arrays import IntArray
from kronos.extensions.room.planning import columns
from kronos.extensions.room.planning.cluster import Cluster
from kronos.extensions.room.planning.ordering import Move, Ordered

LEAVING = 4
"""At most so many servers leave a host for a slot."""
OFFERS = 8
"""Choices of servers to leave a host that are tried."""


def ordered(cluster: Cluster, moves: int) -> Ordered:
    """Plan slots host by host.

    :param moves: migrations, at most
    """
    return _Greedy(cluster).run(moves)


class _Greedy:
    """The cluster while hosts are emptied for slots."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._demands = cluster.demands
        self._free = cluster.free.copy()
        self._servers = {
            place: list(servers) for place, servers in cluster.servers.items()
        }
        self._groups: dict[int, list[str]] = {
            host: [*groups] for host, groups in cluster.occupied.items()
        }
        for (host, _), servers in cluster.servers.items():
            for server in servers:
                self._groups.setdefault(host, []).extend(
                    cluster.apart.get(server, ())
                )
        self._releases = columns.choices(len(cluster.ways), LEAVING)
        self._numbers = self._releases.sum(axis=1)
        self._refused: set[tuple[int, int]] = set()

    def run(self, moves: int) -> Ordered:
        result = Ordered()
        offers = [self._offers(host) for host in range(len(self._free))]
        while True:
            best = min(
                (
                    (price, host, release)
                    for host, of_host in enumerate(offers)
                    for price, release in of_host
                    if (host, release) not in self._refused
                    and self._numbers[release] <= moves - len(result.moves)
                ),
                default=None,
            )
            if best is None:
                break
            _, host, release = best
            steps = self._empty(host, self._release(release))
            if steps is None:
                self._refused.add((host, release))
                continue
            result.moves += steps
            touched = {host} | {
                self._cluster.hosts.index(move.destination) for move in steps
            }
            for changed in touched:
                offers[changed] = self._offers(changed)
        result.free = self._free
        return result

    def _release(self, number: int) -> list[int]:
        """The ways of the servers that leave."""
        row = self._releases[number]
        return [way for way, times in enumerate(row) for _ in range(times)]

    def _offers(self, host: int) -> list[tuple[float, int]]:
        """What may leave a host: the fewest servers a slot come first."""
        counts = np.array(
            [
                len(self._servers.get((host, way), ()))
                for way in range(len(self._cluster.ways))
            ]
        )
        possible = np.flatnonzero((self._releases <= counts).all(axis=1))
        after = self._free[host] + self._releases[possible] @ self._demands
        now = int(self._cluster.slot_counts(self._free[host]))
        gains = self._cluster.slot_counts(after) - now
        offers = [
            (
                float(self._numbers[possible[index]] / gains[index]),
                int(possible[index]),
            )
            for index in np.flatnonzero(gains > 0).tolist()
        ]
        return sorted(offers)[:OFFERS]

    def _empty(self, host: int, ways: list[int]) -> list[Move] | None:
        """Make the moves; None, and none made, if a server goes nowhere."""
        free = self._free.copy()
        moves: list[tuple[Move, int, int]] = []
        taken: list[str] = []
        for way in sorted(ways, key=lambda way: -self._demands[way].sum()):
            step = self._step(host, way, free, taken)
            if step is None:
                return None
            move, destination = step
            taken.append(move.server)
            free[host] += self._demands[way]
            free[destination] -= self._demands[move.way]
            moves.append((move, way, destination))
        self._free = free
        for move, way, destination in moves:
            self._servers[host, way].remove(move.server)
            place = destination, move.way
            self._servers.setdefault(place, []).insert(0, move.server)
            for group in self._cluster.apart.get(move.server, ()):
                self._groups[host].remove(group)
                self._groups.setdefault(destination, []).append(group)
        return [move for move, _, _ in moves]

    def _step(
        self, source: int, way: int, free: IntArray, taken: list[str]
    ) -> tuple[Move, int] | None:
        """Where a server of a way goes: the fullest host that loses none."""
        kind = self._cluster.ways[way].kind
        now = self._cluster.slot_counts(free)
        places = []
        for other, described in enumerate(self._cluster.ways):
            if described.kind != kind:
                continue
            after = free - self._demands[other]
            fits = ((after >= 0) | (self._demands[other] == 0)).all(axis=1)
            fits &= self._cluster.slot_counts(after) == now
            fits[source] = False
            places += [
                (int(after[host].sum()), host, other)
                for host in np.flatnonzero(fits).tolist()
            ]
        for _, host, other in sorted(places):
            for server in self._servers.get((source, way), ()):
                groups = self._cluster.apart.get(server, frozenset())
                if server in taken or groups & {*self._groups.get(host, ())}:
                    continue
                names = self._cluster.hosts
                return Move(server, names[source], names[host], other), host
        return None
