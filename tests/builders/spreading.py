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
    inputs = PlanningInput(snapshot, list(policies), settings, [])
    prepared = ScopePlanner(inputs).scope
    if isinstance(prepared, Stopped):
        return None
    phases = prepared.phases()
    started = phases.simulation(settings.max_migrations or 10)
    phases.begin(started, MigrationPhase.SPREAD)
    return started


def by_lot(number: int) -> Iterator[tuple[int, Simulation, Settings]]:
    """Scopes by lot in which something may move, with their seeds."""
    for seed in range(number):
        snapshot, policies, settings = scopes.draw(random.Random(seed))
        started = simulation(snapshot, policies, settings)
        if started is not None and started.movable.any():
            yield seed, started, settings


def model(started: Simulation, cost_weight: float = 0.0) -> ScopeModel:
    """All of a scope."""
    return ScopeModel(
        started,
        np.flatnonzero(started.movable),
        np.flatnonzero(started.utilization.counts),
        cost_weight,
    )
