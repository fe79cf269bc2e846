# SPDX-License-Identifier: Apache-2.0
"""The room for the servers of one host: a place for each, or for none.

All of it goes through the simulation, so that every constraint holds. What
finds no place for all takes back its moves.
"""

from collections.abc import Iterator

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.local.random_numbers import RandomNumbers
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import Snapshot

HOLES = 3
"""Hosts that are tried for all servers of a host together."""
SHUFFLES = 4
"""Further orders of the servers that are tried."""
SWING = 0.3
"""By so much of its size the place of a server in such an order varies."""


class Room:
    """The room of a scope while its hosts are emptied.

    :param simulation: in the phase that empties them
    """

    def __init__(self, simulation: Simulation, snapshot: Snapshot) -> None:
        self._simulation = simulation
        names = simulation.utilization.index.hosts
        headroom = [snapshot.hosts[name].headroom or {} for name in names]
        self._capacity: FloatArray = np.array(
            [
                [max(1, row[kind].capacity) if kind in row else 1]
                for kind in ('VCPU', 'MEMORY_MB')
                for row in headroom
            ],
            dtype=float,
        ).reshape(2, len(names))
        """[2, H]"""

    def place_all(self, host: int, allowed: BoolArray) -> bool:
        """Move every movable server of a host to allowed hosts.

        :param allowed: [H]
        :returns: whether all have a place; none is moved otherwise
        """
        servers = self._simulation.on(host)
        if not servers.size:
            return True
        allowed = allowed.copy()
        allowed[host] = False
        if not self._may_fit(servers, allowed):
            return False
        start = len(self._simulation.steps)
        for order, is_even in self._orders(servers):
            if not self._place(order, allowed, is_even):
                return True
            self.take_back(start)
            if is_even and self._fill_hole(servers, allowed):
                return True
        return False

    def place_some(self, host: int, allowed: BoolArray) -> IntArray:
        """Move those that fit, the largest first.

        :returns: the movable servers that stay
        """
        allowed = allowed.copy()
        allowed[host] = False
        servers = self._by_size(self._simulation.on(host))
        return np.array(
            self._place(servers, allowed, True, stops=False), dtype=np.intp
        )

    def place(self, instance: int, allowed: BoolArray) -> bool:
        """Move one server to the emptiest allowed host, if any takes it."""
        return not self._place(np.array([instance]), allowed, True)

    def take_back(self, start: int) -> None:
        """Take back all moves but the first ones."""
        while len(self._simulation.steps) > start:
            self._simulation.take_back()

    def lacking(self, instance: int) -> FloatArray:
        """[H]: the share of itself that each host lacks for a server."""
        lacks = [
            (need[instance] - free) / self._capacity[kind]
            for kind, (need, free) in enumerate(self._free()[:2])
        ]
        most: FloatArray = np.max(lacks, axis=0)
        return most

    def _free(self) -> list[tuple[IntArray, IntArray]]:
        return self._simulation.constraints.free_capacities()

    def _may_fit(self, servers: IntArray, allowed: BoolArray) -> bool:
        """Whether the sum of what is free takes the sum of the servers."""
        return all(
            need[servers].sum() <= np.maximum(free[allowed], 0).sum()
            for need, free in self._free()
        )

    def _orders(self, servers: IntArray) -> Iterator[tuple[IntArray, bool]]:
        """Orders of the servers, and whether they go to the emptiest host."""
        yield self._by_size(servers), True
        yield self._by_size(servers), False
        numbers = RandomNumbers()
        for _ in range(SHUFFLES):
            swings = 1 + SWING * (2 * numbers.draw(len(servers)) - 1)
            yield self._by_size(servers, swings), False

    def _by_size(
        self, servers: IntArray, swings: FloatArray | None = None
    ) -> IntArray:
        """The largest first, by their share of a mean host."""
        mean = self._capacity.mean(axis=1)
        shares = [
            need[servers] / mean[kind]
            for kind, (need, _) in enumerate(self._free()[:2])
        ]
        size: FloatArray = np.max(shares, axis=0)
        if swings is not None:
            size = size * swings
        return servers[np.lexsort((servers, -size))]

    def _place(
        self,
        servers: IntArray,
        allowed: BoolArray,
        is_even: bool,
        stops: bool = True,
    ) -> list[int]:
        """Move servers one after the other.

        :param stops: whether the first one without a place is the end
        :returns: those without a place
        """
        without = []
        for instance in servers.tolist():
            row = self._simulation.constraints.rows(np.array([instance]))[0]
            hosts = np.flatnonzero(row & allowed)
            if hosts.size and self._simulation.remaining > 0:
                full = self._fullness(instance, hosts)
                best = full.argmin() if is_even else full.argmax()
                self._simulation.move(instance, int(hosts[best]))
                continue
            without.append(instance)
            if stops:
                break
        return without

    def _fullness(self, instance: int, hosts: IntArray) -> FloatArray:
        """[n]: how full n hosts are with a server, as Placement counts."""
        shares = [
            1 - (free[hosts] - need[instance]) / self._capacity[kind][hosts]
            for kind, (need, free) in enumerate(self._free()[:2])
        ]
        # Rounded, so that equals stay equal.
        full: FloatArray = np.round(np.max(shares, axis=0), 9)
        return full

    def _fill_hole(self, servers: IntArray, allowed: BoolArray) -> bool:
        """Move all servers to one host: that needs no packing."""
        constraints = self._simulation.constraints
        whole = np.flatnonzero(allowed & constraints.rows(servers).all(axis=0))
        takes = [
            host
            for host in whole.tolist()
            if constraints.takes_all(servers, host)
        ]
        full = self._fullness(int(servers[0]), np.array(takes, dtype=np.intp))
        start = len(self._simulation.steps)
        for position in np.argsort(full, kind='stable')[:HOLES].tolist():
            only = np.zeros_like(allowed)
            only[takes[position]] = True
            if not self._place(servers, only, True):
                return True
            self.take_back(start)
        return False
