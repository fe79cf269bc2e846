# SPDX-License-Identifier: Apache-2.0
"""The ejections: an instance that finds no room has another one make it.

First one that the plan moves anyway is sent elsewhere, which costs nothing;
then one that would have stayed, which costs a migration.
"""

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, IntArray
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.simulation.simulation import Simulation

TRIES = 30
"""Instances that are tried to make room for one."""


class EjectingPacking(BinPacking):
    """A bin packing that makes room where there is none.

    :param simulation: in phase pack
    :param spare: so many of those that would have stayed may move
    """

    def __init__(self, simulation: Simulation, spare: float) -> None:
        super().__init__(simulation)
        self._simulation = simulation
        self._spare = spare

    def place_all(self, instances: IntArray, hosts: BoolArray) -> int | None:
        """As :meth:`place`, with ejections."""
        allowed = self._rules.rows(instances) & hosts
        for instance, row in zip(instances.tolist(), allowed, strict=True):
            if not (self._put(instance, row) or self._eject(instance, hosts)):
                return int(instance)
        return None

    def _eject(self, instance: int, hosts: BoolArray) -> bool:
        """Have one of those leave a host that it takes room of."""
        helpful = self._helpful(instance, hosts)
        moved = {one: at for at, (one, _, _) in enumerate(self.moves)}
        placed = [one for one in reversed(moved) if helpful[one]]
        if any(
            self._redirect(moved[one], instance, hosts)
            for one in placed[:TRIES]
        ):
            return True
        if self._spare < 1:
            return False
        helpful[list(moved)] = False
        stay = np.flatnonzero(helpful & self._simulation.movable)
        memory = self._utilization.memory_mb[stay]
        lightest = stay[np.argsort(memory, kind='stable')][:TRIES].tolist()
        if any(self._displace(one, instance, hosts) for one in lightest):
            self._spare -= 1
            return True
        return False

    def _helpful(self, instance: int, hosts: BoolArray) -> BoolArray:
        """[V]: whose leaving makes as much room as an instance lacks."""
        host_of = self._placement.host_of
        found: BoolArray = hosts[host_of].copy()
        for need, free in [*self._rules.rooms(), *self._rules.ceilings()]:
            lacks = need[instance] - free[host_of]
            found &= (lacks <= need + EPSILON) | (need[instance] == 0)
        return found

    def _redirect(self, at: int, instance: int, hosts: BoolArray) -> bool:
        """Send one elsewhere that was placed before.

        It comes last in the order then: nothing is asked of it at a moment
        at which it was not.
        """
        other, source, host = self.moves[at]
        del self.moves[at]
        self._shift(other, host, source)
        if self._exchange(other, instance, host, hosts):
            return True
        self._shift(other, source, host)
        self.moves.insert(at, (other, source, host))
        return False

    def _displace(self, other: int, instance: int, hosts: BoolArray) -> bool:
        """Move one away that would have stayed."""
        host = int(self._placement.host_of[other])
        return self._exchange(other, instance, host, hosts)

    def _exchange(
        self, other: int, instance: int, host: int, hosts: BoolArray
    ) -> bool:
        """Put one on a host, and another one anywhere else before."""
        row = self._rules.rows(np.array([other]))[0] & hosts
        row[host] = False
        if not self._put(other, row):
            return False
        if self._rules.why_not(instance, host):
            self.take_back(len(self.moves) - 1)
            return False
        self.put(instance, host)
        return True
