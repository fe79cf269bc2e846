# SPDX-License-Identifier: Apache-2.0
"""The lowest that a few legal moves reach: by trying all of them.

Nothing of the searches and the bounds; the rule of the policies is held at
the end alone, which no plan undercuts.
"""

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.planning.phases import PhaseRunner, Prepared
from kronos.engine.planning.scope_planner import ScopePlanner
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import (
    AggregateResult,
    MigrationPhase,
    PlanningInput,
    Snapshot,
)
from kronos.policies.models import Policy

SAME = 1e-9


def begun(
    snapshot: Snapshot, policies: list[Policy], settings: Settings
) -> Simulation | None:
    """A scope where its spreading begins; None if there is nothing to do."""
    given = PlanningInput(snapshot, policies, settings, [])
    scope = ScopePlanner(given).scope
    if not isinstance(scope, Prepared):
        return None
    phases: PhaseRunner = scope.phases()
    if MigrationPhase.SPREAD not in phases.order():
        return None
    simulation = phases.simulation(settings.max_migrations)
    phases.begin(simulation, MigrationPhase.SPREAD)
    return simulation


def set_aside(simulation: Simulation, result: AggregateResult) -> None:
    """Go on to where the hosts of a plan are set aside, and judge the others.

    :param result: has such hosts
    """
    assert result.rest is not None
    utilization = simulation.utilization
    index = utilization.index
    for step in result.steps[: result.rest.after]:
        place = index.instance[step.instance], index.host[step.destination]
        simulation.move(*place)
    aside = [
        np.isin(index.hosts, result.rest.hosts(name))
        for name in utilization.policies
    ]
    utilization.set_aside(np.array(aside))


def lowest(simulation: Simulation, moves: int) -> float:
    """The least combined imbalance after at most so many moves.

    Of the hosts that are judged; all hosts have a say.
    """
    utilization = simulation.utilization
    most = np.maximum(utilization.whole.widths, utilization.thresholds) + SAME
    return _lowest(simulation, moves, most)


def _lowest(simulation: Simulation, moves: int, most: FloatArray) -> float:
    utilization = simulation.utilization
    found = float('inf')
    if (utilization.whole.widths <= most).all():
        found = utilization.combined()
    if not moves:
        return found
    instances = np.flatnonzero(simulation.movable)
    if moves == 1:
        return min(found, _after_one(simulation, instances, most))
    for instance in instances.tolist():
        for host in range(len(utilization.counts)):
            if simulation.constraints.why_not(instance, host):
                continue
            simulation.move(instance, host)
            found = min(found, _lowest(simulation, moves - 1, most))
            simulation.take_back()
    return found


def _after_one(
    simulation: Simulation, movable: IntArray, most: FloatArray
) -> float:
    """The same after one more move: all of them at once."""
    if not movable.size:
        return float('inf')
    utilization = simulation.utilization
    at, hosts = np.nonzero(simulation.constraints.rows(movable))
    instances = movable[at]
    sources = simulation.placement.host_of[instances]
    scores = utilization.scores_after(instances, sources, hosts)
    whole, judged = (
        np.array(list(ends.widths_after(sources, hosts, *scores)))
        for ends in (utilization.whole, utilization.ends)
    )
    is_good = (whole <= most[:, None]).all(axis=0)
    combined = utilization.weights @ judged
    return float(combined[is_good].min(initial=np.inf))
