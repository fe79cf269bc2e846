# SPDX-License-Identifier: Apache-2.0
"""The spreading: it makes a scope more even.

Which search plans it, ``[kronos] search`` says.
"""

from dataclasses import replace

from kronos.engine import wording
from kronos.engine.arrays import EPSILON
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.proof import certificate
from kronos.engine.planning.proof.relaxed_scope import RelaxedScope
from kronos.engine.planning.search import registry
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.settings import SearchName, Settings
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import StopReason


def run(simulation: Simulation, given: PhaseInput) -> PhaseResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    scope = RelaxedScope.of(simulation, given.settings.optimal_limit)
    found, dust = _searched(simulation, given)
    reason = stop_reasons.why_stopped(
        found.stopped,
        simulation.utilization,
        len(simulation.steps),
        given.settings,
        all_judged=not any(one.skipped for one in given.scorecard.results),
    )
    stayed = {}
    if found.stopped is StopReason.STUCK:
        reason += dust
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
            simulation.utilization.combined(),
            given.settings,
            found,
        ),
    )


def _searched(
    simulation: Simulation, given: PhaseInput
) -> tuple[SearchResult, str]:
    """What a search comes to, but for a plan that is dust.

    One that lowers no policy by more than what measuring errs by would be
    followed by another one for ever.

    :returns: with what is to be said of it; '' if it is none
    """
    utilization, first = simulation.utilization, len(simulation.steps)
    before = utilization.imbalances
    found = registry.run(simulation, given)
    number, least = len(simulation.steps) - first, _least(given.settings)
    falls = (before - utilization.imbalances)[utilization.weights > 0.0]
    if not number or falls.max(initial=0.0) >= least - EPSILON:
        return found, ''
    while len(simulation.steps) > first:
        simulation.take_back()
    dropped = replace(found, stopped=StopReason.STUCK, is_proven=False)
    moves = wording.counted(number, 'migration')
    return dropped, (
        f'; {moves} would lower no policy by min_plan_gain ({least:g})'
    )


def _least(settings: Settings) -> float:
    """By how much a plan must lower some policy."""
    if settings.search is SearchName.GREEDY or settings.exhaust:
        return 0.0
    return settings.min_plan_gain
