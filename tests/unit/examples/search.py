# SPDX-License-Identifier: Apache-2.0
"""The search in order: each instance in turn goes where it helps most."""

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import StopReason


def run(simulation: Simulation, given: PhaseInput) -> PhaseResult:
    """Look at every instance once."""
    for instance in np.flatnonzero(simulation.movable).tolist():
        if simulation.remaining <= 0:
            return PhaseResult(StopReason.BUDGET, 'the budget is used')
        (legal,) = simulation.constraints.rows(np.array([instance]))
        hosts = np.flatnonzero(legal)
        gains = _gains(simulation, instance, hosts)
        if gains.max(initial=0.0) > EPSILON:
            simulation.move(instance, int(hosts[gains.argmax()]))
    return PhaseResult(
        StopReason.STUCK,
        'each instance was looked at once',
        stop_reasons.stuck_instances(simulation),
    )


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
