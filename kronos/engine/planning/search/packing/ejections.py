# SPDX-License-Identifier: Apache-2.0
"""The ejections: an instance that finds no room has another one make it.

First one that the plan moves anyway is sent elsewhere, which costs nothing;
then one that would have stayed, which costs a migration.
"""

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.simulation.simulation import Simulation

TRIES = 30
"""Instances that are tried to make room for one."""
FEW_HOSTS = 8
"""Hosts that are cleared for one, or tried to."""
MOST_TRIES = 2000
"""Instances that are tried in all."""


class EjectingPacking(BinPacking):
    """A bin packing that makes room where there is none.

    :param simulation: in phase pack or evacuate
    :param evens: whether the emptiest host is taken, not the fullest
    """

    def __init__(self, simulation: Simulation, evens: bool = False) -> None:
        super().__init__(simulation)
        if evens:
            self.load = -self.load
            self._sign = -1.0
        self._simulation = simulation
        self._spare = 0.0
        self._tries = MOST_TRIES

    def place_all(
        self,
        instances: IntArray,
        hosts: BoolArray,
        spare: float,
        first: int,
    ) -> int | None:
        """As :meth:`place`, with ejections.

        :param spare: so many of those that would have stayed may move
        :param first: the first of the moves that may change
        """
        self._spare = spare
        allowed = self._rules.rows(instances) & hosts
        for instance, row in zip(instances.tolist(), allowed, strict=True):
            if not self._put(instance, row) and not (
                self.redirect(instance, hosts, first)
                or self._displace(instance, hosts)
                or self._clear(instance, hosts)
            ):
                return int(instance)
        return None

    def redirect(
        self, instance: int, hosts: BoolArray, first: int = 0
    ) -> bool:
        """Send one elsewhere that was placed before, and put one there.

        It comes last in the order then: nothing is asked of it at a moment
        at which it was not.

        :param first: the first of the moves that may change
        """
        helpful = self._helpful(instance, hosts)
        number = range(len(self.moves) - 1, first - 1, -1)
        some = [
            position for position in number if helpful[self.moves[position][0]]
        ]
        for position in some[:TRIES]:
            other, source, host = self.moves.pop(position)
            self._shift(other, host, source)
            if self._exchange(other, instance, host, hosts):
                return True
            self._shift(other, source, host)
            self.moves.insert(position, (other, source, host))
        return False

    def _displace(self, instance: int, hosts: BoolArray) -> bool:
        """Move one away that would have stayed."""
        if self._spare < 1:
            return False
        helpful = self._helpful(instance, hosts) & self._simulation.movable
        helpful[[placed for placed, _, _ in self.moves]] = False
        stay = np.flatnonzero(helpful)
        memory = self._utilization.memory_mb[stay]
        lightest = stay[np.argsort(memory, kind='stable')][:TRIES]
        for other in lightest.tolist():
            host = int(self._placement.host_of[other])
            if self._exchange(other, instance, host, hosts):
                self._spare -= 1
                return True
        return False

    def _clear(self, instance: int, hosts: BoolArray) -> bool:
        """Move several away from one host, where one is not enough."""
        lacks = self._lacks(instance)
        able = np.flatnonzero(hosts & np.isfinite(lacks))
        nearest = able[np.argsort(lacks[able], kind='stable')][:FEW_HOSTS]
        return self._spare > 1 and any(
            self._make_room(instance, host, hosts) for host in nearest.tolist()
        )

    def _lacks(self, instance: int) -> FloatArray:
        """[H]: what it lacks most there, as a share of what it needs."""
        shares: FloatArray = np.zeros(len(self.load))
        for need, free in [
            *self._rules.free_capacities(),
            *self._rules.ceilings(),
        ]:
            if need[instance] > 0:
                lacking = 1.0 - free / need[instance]
                shares = np.maximum(shares, lacking)
        return shares

    def _make_room(self, instance: int, host: int, hosts: BoolArray) -> bool:
        """Move the largest away, one after the other, until it fits."""
        before = len(self.moves)
        instances = self._placement.on(host)
        stay = instances[self._simulation.movable[instances]]
        moved = {placed for placed, _, _ in self.moves}
        for other in self.heaviest_first(stay).tolist():
            if other in moved or not self._tries:
                continue
            self._tries -= 1
            row = self._rules.rows(np.array([other]))[0] & hosts
            row[host] = False
            if not self._put(other, row):
                continue
            if not self._rules.why_not(instance, host):
                self._spare -= len(self.moves) - before
                self.put(instance, host)
                return True
            if len(self.moves) - before >= self._spare:
                break
        self.take_back(before)
        return False

    def _helpful(self, instance: int, hosts: BoolArray) -> BoolArray:
        """[V]: whose leaving makes as much room as an instance lacks."""
        host_of = self._placement.host_of
        mask: BoolArray = hosts[host_of].copy()
        for need, free in [
            *self._rules.free_capacities(),
            *self._rules.ceilings(),
        ]:
            lacks = need[instance] - free[host_of]
            mask &= (lacks <= need + EPSILON) | (need[instance] == 0)
        return mask

    def _exchange(
        self, other: int, instance: int, host: int, hosts: BoolArray
    ) -> bool:
        """Put one on a host, and another one anywhere else before."""
        if not self._tries:
            return False
        self._tries -= 1
        row = self._rules.rows(np.array([other]))[0] & hosts
        row[host] = False
        if not self._put(other, row):
            return False
        if self._rules.why_not(instance, host):
            self.take_back(len(self.moves) - 1)
            return False
        self.put(instance, host)
        return True
