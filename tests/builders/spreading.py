# SPDX-License-Identifier: Apache-2.0
"""How does a test get at a scope before the first move of its spreading?"""

import random
from collections.abc import Iterator, Sequence

import numpy as np

from kronos.engine.planning.scope_planner import ScopePlanner, Stopped
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import MigrationPhase, PlanningInput, Snapshot
from kronos.policies.models import Policy
from tests.builders import scopes


def simulation(
    snapshot: Snapshot, policies: Sequence[Policy], settings: Settings
) -> Simulation | None:
    """None if the scope stands still."""
    given = PlanningInput(snapshot, list(policies), settings, [])
    prepared = ScopePlanner(given).scope
    if isinstance(prepared, Stopped):
        return None
    phases = prepared.phases()
    found = phases.simulation(settings.max_migrations or 10)
    phases.begin(found, MigrationPhase.SPREAD)
    return found


def by_lot(number: int) -> Iterator[tuple[int, Simulation, Settings]]:
    """Scopes by lot in which something may move, with their seeds."""
    for seed in range(number):
        snapshot, policies, settings = scopes.draw(random.Random(seed))
        found = simulation(snapshot, policies, settings)
        if found is not None and found.movable.any():
            yield seed, found, settings


def model(found: Simulation, cost_weight: float = 0.0) -> ScopeModel:
    """All of a scope."""
    return ScopeModel(
        found,
        np.flatnonzero(found.movable),
        np.flatnonzero(found.utilization.counts),
        cost_weight,
    )
