# SPDX-License-Identifier: Apache-2.0
"""The spreading: it makes a scope more even.

Which search plans it, ``[kronos] search`` says. Where that is stuck, the
hosts are set aside that no migration helps, and the same search goes on with
the others.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kronos.engine.arrays import EPSILON
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.proof import certificate
from kronos.engine.planning.proof.lp_relaxation import LpRelaxation
from kronos.engine.planning.search import greedy, registry, stuck_hosts
from kronos.engine.planning.search.dust import Dust
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.reasons import Reason
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.simulation.utilization import Utilization
from kronos.engine.types import Rest, StopReason

PAIR = 2
"""Migrations of a swap."""


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    scope = LpRelaxation.of(simulation, inputs.settings.optimal_limit)
    before = simulation.utilization.combined()
    result, dust = _searched(simulation, inputs)
    stayed, rest = dict[int, Reason](), None
    if result.stopped is StopReason.STUCK:
        stayed = stop_reasons.stuck_instances(simulation)
        rest = _spread_rest(simulation, inputs, result, stayed)
    reason = stop_reasons.why_stopped(
        result.stopped,
        simulation.utilization,
        len(simulation.steps),
        inputs.settings,
        all_judged=not any(
            policy.skipped for policy in inputs.scorecard.results
        ),
        limit='' if simulation.canary is None else simulation.limit(''),
    )
    if result.stopped is StopReason.STUCK:
        reason += dust
        reason += stop_reasons.immovable(simulation, inputs.fixed)
        reason += stop_reasons.unsafe_swap(result.has_unsafe_swap)
    reason += stop_reasons.without(rest, simulation.utilization)
    return PhaseResult(
        result.stopped,
        reason,
        stayed,
        result.notices,
        searched_by=str(result.searched_by),
        certificate=certificate.of(
            scope,
            before,
            simulation.utilization.combined(),
            inputs.settings,
            result,
        ),
        rest=rest,
    )


def _searched(
    simulation: Simulation,
    inputs: PhaseInput,
    search: Callable[[Simulation, PhaseInput], SearchResult] = registry.run,
) -> tuple[SearchResult, str]:
    """What a search comes to, but for a plan that is dust.

    :returns: with what is to be said of it; '' if it is none
    """
    dust = Dust(simulation, inputs)
    result = search(simulation, inputs)
    why = dust.why(search, result.stopped)
    if not why:
        return result, ''
    dust.take_back()
    return replace(result, stopped=StopReason.STUCK, is_proven=False), why


def _spread_rest(
    simulation: Simulation,
    inputs: PhaseInput,
    result: SearchResult,
    stayed: dict[int, Reason],
) -> Rest | None:
    """Spread the hosts that are not stuck, if any are.

    All hosts are judged again afterwards.

    :param result: how the search of all hosts ended; this one's end is added
    :param stayed: so are the reasons of what stays on the highest hosts
    """
    settings, utilization = inputs.settings, simulation.utilization
    if not settings.plateau_moves:
        return None  # the literal rule
    if simulation.remaining < PAIR and greedy.can_swap(simulation, settings):
        return None  # the budget is what lacks
    aside = stuck_hosts.find(simulation, settings.exhaust)
    if not aside.any():
        return None
    rest = Rest(
        stuck_hosts.descriptions(simulation, aside), len(simulation.steps)
    )
    utilization.set_aside(aside)
    if settings.exhaust or utilization.over_threshold().any():
        scope = LpRelaxation.of(simulation, settings.optimal_limit)
        before = utilization.combined()
        of_rest = _search_rest(simulation, inputs)
        rest.certificate = certificate.of(
            scope, before, utilization.combined(), settings, of_rest
        )
        result.notices += of_rest.notices
        result.has_unsafe_swap |= of_rest.has_unsafe_swap
        if of_rest.stopped is StopReason.BUDGET:
            result.stopped = StopReason.BUDGET
        more = stop_reasons.stuck_instances(simulation)
        stayed |= {
            instance: more[instance]
            for instance in more.keys() - stayed.keys()
        }
    _measure(rest, utilization, inputs.scorecard)
    utilization.judge_all()
    return rest


def _search_rest(simulation: Simulation, inputs: PhaseInput) -> SearchResult:
    """Search as for all hosts; what makes these worse is not taken.

    Step by step the greedy search never does that.
    """
    start, utilization = len(simulation.steps), simulation.utilization
    before = _whole(utilization)
    result, _ = _searched(simulation, inputs)
    if _whole(utilization) > before + EPSILON:
        while len(simulation.steps) > start:
            simulation.take_back()
        result, _ = _searched(simulation, inputs, greedy.run)
    return result


def _whole(utilization: Utilization) -> float:
    """The combined imbalance of all hosts."""
    return math.fsum(utilization.weights * utilization.whole.widths)


def _measure(
    rest: Rest, utilization: Utilization, scorecard: Scorecard
) -> None:
    """Enter how even the others are, before and after the plan."""
    before = []
    for name in utilization.policies:
        aside = set(rest.hosts(name))
        values = [
            value
            for host, value in scorecard.values[name].items()
            if host not in aside
        ]
        before.append(max(values) - min(values))
    names, after = utilization.policies, utilization.imbalances.tolist()
    rest.imbalance_before = dict(zip(names, before, strict=True))
    rest.imbalance_after = dict(zip(names, after, strict=True))
    rest.combined_before = math.fsum(utilization.weights * np.array(before))
    rest.combined_after = utilization.combined()
