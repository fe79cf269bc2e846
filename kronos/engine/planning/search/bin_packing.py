# SPDX-License-Identifier: Apache-2.0
"""Bin packing: do these instances fit there, one after another?

It moves in the placement, so that each instance meets what the ones before it
leave: its caller surrounds it with a trial. The scores of the simulation stay
as they are.
"""

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.planning.search import ranking
from kronos.engine.simulation.simulation import Simulation


class BinPacking:
    """A trial on a simulation, inside :meth:`.Placement.trial`.

    :param simulation: has no move of it
    :param rules: instead of those of the simulation
    """

    def __init__(
        self, simulation: Simulation, rules: ConstraintSet | None = None
    ) -> None:
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._rules = rules or simulation.constraints
        self.load: FloatArray = (
            simulation.utilization.weights @ simulation.utilization.scores
        )
        """[H]: combined weighted scores, with what was placed"""
        self._sign = 1.0
        """-1 where ``load`` is negative, so that the emptiest is taken"""
        self.moves: list[tuple[int, int, int]] = []
        """Instance, source and destination"""

    def place(self, instances: IntArray, hosts: BoolArray) -> int | None:
        """Put each on the fullest host that may have it.

        :param instances: in the order in which they are placed
        :param hosts: [H], where they may go if the rules agree
        :returns: the first that finds no host, None if all do; those placed
            before it stay placed
        """
        allowed = self._rules.rows(instances) & hosts
        homeless = np.flatnonzero(~allowed.any(axis=1))
        if homeless.size:
            return int(instances[homeless[0]])
        for instance, row in zip(instances.tolist(), allowed, strict=True):
            if not self._put(instance, row):
                return int(instance)
        return None

    def place_some(
        self, instances: IntArray, hosts: BoolArray, most: float
    ) -> tuple[list[int], list[int]]:
        """The same, but go on with the next where one finds no host.

        :param most: so many are placed
        :returns: those that find no host, and those after the last placed
        """
        stuck: list[int] = []
        allowed = self._rules.rows(instances) & hosts
        everyone = instances.tolist()
        for position, (instance, row) in enumerate(
            zip(everyone, allowed, strict=True)
        ):
            if len(self.moves) >= most:
                return stuck, everyone[position:]
            if not self._put(instance, row):
                stuck.append(instance)
        return stuck, []

    def put(self, instance: int, host: int) -> None:
        """Place one where it may go."""
        source = int(self._placement.host_of[instance])
        self.moves.append((instance, source, host))
        self._shift(*self.moves[-1])

    def take_back(self, number: int) -> None:
        """Undo all moves but so many, the last one first."""
        while len(self.moves) > number:
            instance, source, host = self.moves.pop()
            self._shift(instance, host, source)

    def heaviest_first(self, instances: IntArray) -> IntArray:
        """By combined weight on their own hosts, descending.

        Of equals the one with the most memory first, the hardest to place;
        then by uuid.
        """
        utilization = self._utilization
        hosts = self._placement.host_of[instances]
        shares = (
            utilization.usage[:, instances] / utilization.capacity[:, hosts]
        )
        weight = ranking.rounded(utilization.weights @ shares)
        memory = utilization.memory_mb[instances]
        order = np.lexsort((instances, -memory, -weight))
        return instances[order]

    def _put(self, instance: int, allowed: BoolArray) -> bool:
        host = self._fullest(instance, allowed)
        if host is None:
            return False
        self.put(instance, host)
        return True

    def _fullest(self, instance: int, allowed: BoolArray) -> int | None:
        """The fullest of the hosts by the scores now, ties by name.

        :param allowed: [H], as of before the instances before it; since
            placing those can only forbid more, the rules are asked again
            only about the host that would be taken
        """
        hosts = np.flatnonzero(allowed)
        load = ranking.rounded(self.load[hosts])
        while load.size:
            position = int(load.argmax())
            if load[position] == -np.inf:
                return None
            host = int(hosts[position])
            if not self._rules.why_not(instance, host):
                return host
            load[position] = -np.inf
        return None

    def _shift(self, instance: int, source: int, destination: int) -> None:
        utilization = self._utilization
        used = utilization.usage[:, instance]
        for host, sign in ((source, -1.0), (destination, 1.0)):
            share = used / utilization.capacity[:, host]
            more = float(utilization.weights @ share)
            self.load[host] += self._sign * sign * more
        self._placement.move(instance, destination)
