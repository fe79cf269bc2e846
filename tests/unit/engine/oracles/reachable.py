# SPDX-License-Identifier: Apache-2.0
"""The lowest that a few legal moves reach: by trying all of them.

Nothing of the searches and the bounds; the rule of the policies is held at
the end alone, which no plan undercuts.
"""

import numpy as np

from kronos.engine.arrays import FloatArray
from kronos.engine.planning.phases import PhaseRunner
from kronos.engine.planning.scope_planner import Prepared, ScopePlanner
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import MigrationPhase, PlanningInput, Snapshot
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
    if MigrationPhase.SPREAD not in phases.asked():
        return None
    simulation = phases.simulation(settings.max_migrations)
    phases.begin(simulation, MigrationPhase.SPREAD)
    return simulation


def lowest(simulation: Simulation, moves: int) -> float:
    """The least combined imbalance after at most so many moves."""
    utilization = simulation.utilization
    most = np.maximum(utilization.imbalances, utilization.thresholds) + SAME
    return _lowest(simulation, moves, most)


def _lowest(simulation: Simulation, moves: int, most: FloatArray) -> float:
    utilization = simulation.utilization
    found = float('inf')
    if (utilization.imbalances <= most).all():
        found = utilization.combined()
    if not moves:
        return found
    for instance in np.flatnonzero(simulation.movable).tolist():
        for host in range(len(utilization.counts)):
            if simulation.constraints.why_not(instance, host):
                continue
            simulation.move(instance, host)
            found = min(found, _lowest(simulation, moves - 1, most))
            simulation.take_back()
    return found
