# SPDX-License-Identifier: Apache-2.0
"""The spreading: it makes a scope more even.

Which search plans it, ``[kronos] search`` says.
"""

from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.proof import certificate
from kronos.engine.planning.proof.relaxed_scope import RelaxedScope
from kronos.engine.planning.search import registry
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import StopReason


def run(simulation: Simulation, given: PhaseInput) -> PhaseResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    scope = RelaxedScope.of(simulation, given.settings.optimal_limit)
    before = simulation.utilization.combined()
    found = registry.run(simulation, given)
    reason = stop_reasons.why_stopped(
        found.stopped,
        simulation.utilization,
        len(simulation.steps),
        given.settings,
        all_judged=not any(one.skipped for one in given.scorecard.results),
    )
    stayed = {}
    if found.stopped is StopReason.STUCK:
        reason += stop_reasons.held(simulation, given.fixed)
        reason += stop_reasons.unsafe_swap(found.has_unsafe_swap)
        stayed = stop_reasons.stuck_instances(simulation)
    return PhaseResult(
        found.stopped,
        reason,
        stayed,
        found.notices,
        searched_by=found.searched_by.value,
        certificate=certificate.of(
            scope,
            before,
            simulation.utilization.combined(),
            given.settings,
            found,
        ),
    )
