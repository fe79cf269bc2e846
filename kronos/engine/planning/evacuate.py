# SPDX-License-Identifier: Apache-2.0
"""The evacuation: it empties the hosts that are to be drained.

Greedy: of all pairs of an instance that is to leave and a legal destination
the one that leaves the combined imbalance lowest, again and again;
where soft server groups do not veto, their penalties count with it. In mode
pack instead the largest instance first, to the fullest legal host in use; an
empty host only takes what no other may. What finds no room in the end may
have it where another one was to go that can go elsewhere: each instance moves
once, and none of those that are not drained.
"""

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, IntArray
from kronos.engine.eligibility import begun_hosts
from kronos.engine.planning.drain_reasons import DrainReasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search.drain_moves import DrainMoves
from kronos.engine.planning.search.packing.redirections import Redirections
from kronos.engine.settings import SearchName
from kronos.engine.simulation.simulation import PhaseResult, Simulation


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Plan until the hosts are empty or nothing more can leave."""
    return Evacuation(simulation, inputs).run()


class Evacuation:
    """The search in one scope; it changes the simulation.

    :param simulation: in phase evacuate
    """

    def __init__(self, simulation: Simulation, inputs: PhaseInput) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._packs = inputs.packs
        self._is_source = inputs.draining
        self._redirects = inputs.settings.search != SearchName.GREEDY
        begun = begun_hosts.of(inputs.snapshot) if self._redirects else ()
        self._begun: BoolArray = np.isin(
            self._utilization.index.hosts, list(begun)
        )
        self._penalty = inputs.settings.soft_rule_penalty
        self._report = DrainReasons(simulation, inputs.sources, inputs.fixed)

    def run(self) -> PhaseResult:
        """Plan until the hosts are empty or nothing more can leave.

        The moves are in the simulation.
        """
        first = len(self._simulation.steps)
        if self._packs:
            self._fill_up()
        else:
            self._spread_out()
        if self._redirects:
            redirections = Redirections(self._simulation, first, self._packs)
            redirections.run(self._to_leave())
        return self._report.end(self._to_leave())

    def _to_leave(self) -> IntArray:
        on_source = self._is_source[self._placement.host_of]
        return np.flatnonzero(on_source & self._simulation.movable)

    def _spread_out(self) -> None:
        exits = DrainMoves(self._simulation, self._to_leave(), self._penalty)
        while self._simulation.remaining > 0:
            pair = exits.best()
            if pair is None:
                return
            self._simulation.move(*pair)
            exits.follow(*pair)

    def _fill_up(self) -> None:
        """As pack does it: the largest first, to the fullest host.

        An instance that cannot leave is tried again after the others have.
        """
        waiting = self._by_size().tolist()
        while True:
            stayed = []
            for instance in waiting:
                host = (
                    self._fullest(instance)
                    if self._simulation.remaining > 0
                    else -1
                )
                if host < 0:
                    stayed.append(instance)
                else:
                    self._simulation.move(instance, host)
            if len(stayed) == len(waiting):
                return
            waiting = stayed

    def _by_size(self) -> IntArray:
        """Those that are to leave, by weighted usage, the largest first.

        As shares of the scope's mean host: the size of a host that is
        drained need not be known.
        """
        utilization = self._utilization
        size = utilization.capacity[:, utilization.counts].mean(
            axis=1, keepdims=True
        )
        instances = self._to_leave()
        shares = utilization.weights @ (utilization.usage / size)
        # Rounded, so that sums in another order stay equal.
        order = np.round(-shares[instances] / EPSILON)
        return instances[np.lexsort((instances, order))]

    def _fullest(self, instance: int) -> int:
        """The fullest host that may take it, the first of equals; or -1.

        One in use comes before an empty one, whose score may be noise. One
        that pack has begun to empty comes in between.
        """
        row = self._simulation.constraints.rows(np.array([instance]))[0]
        in_use = np.zeros(len(row), dtype=bool)
        in_use[self._placement.host_of] = True
        for keen in (in_use & ~self._begun, in_use):
            if (row & keen).any():
                row = row & keen
        hosts = np.flatnonzero(row)
        if not hosts.size:
            return -1
        full = self._utilization.weights @ self._utilization.scores[:, hosts]
        return int(hosts[full >= full.max() - EPSILON][0])
