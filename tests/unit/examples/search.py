# SPDX-License-Identifier: Apache-2.0
"""The search in order: each instance in turn goes where it helps most."""

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.planning.search.registry import SpreadSearch
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import StopReason


class InOrder(SpreadSearch):
    """It looks at every instance once."""

    def run(self, simulation: Simulation, inputs: PhaseInput) -> SearchResult:
        for instance in np.flatnonzero(simulation.movable).tolist():
            if simulation.remaining <= 0:
                return SearchResult(StopReason.BUDGET, 'in_order')
            (legal,) = simulation.constraints.rows(np.array([instance]))
            hosts = np.flatnonzero(legal)
            gains = _gains(simulation, instance, hosts)
            if gains.max(initial=0.0) > EPSILON:
                simulation.move(instance, int(hosts[gains.argmax()]))
        return SearchResult(StopReason.STUCK, 'in_order')


def _gains(
    simulation: Simulation, instance: int, hosts: IntArray
) -> FloatArray:
    """By how much the combined imbalance falls; 0 where a policy objects."""
    instances = np.full(len(hosts), instance)
    sources = simulation.placement.host_of[instances]
    utilization = simulation.utilization
    after = utilization.scores_after(instances, sources, hosts)
    gains, objected = utilization.judge(sources, hosts, *after)
    return np.where(objected, 0.0, gains)
