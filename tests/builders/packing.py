# SPDX-License-Identifier: Apache-2.0
"""How does a test get at a scope before the first move of its packing?"""

from collections.abc import Sequence

from kronos.engine.planning.pack import Consolidation
from kronos.engine.planning.scope_planner import ScopePlanner, Stopped
from kronos.engine.settings import Settings
from kronos.engine.types import MigrationPhase, PlanningInput, Snapshot
from kronos.policies.models import Policy


def packing(
    snapshot: Snapshot,
    policies: Sequence[Policy],
    settings: Settings,
    phase: MigrationPhase = MigrationPhase.PACK,
) -> Consolidation:
    """The packing of a scope that does not stand still."""
    inputs = PlanningInput(snapshot, list(policies), settings, [])
    prepared = ScopePlanner(inputs).scope
    if isinstance(prepared, Stopped):
        raise ValueError(prepared.reason)
    phases = prepared.phases()
    simulation = phases.simulation(settings.max_migrations)
    phases.begin(simulation, phase)
    return phases.pack(simulation)
