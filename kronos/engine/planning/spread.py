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
from kronos.engine.planning.proof.relaxed_scope import RelaxedScope
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


def run(simulation: Simulation, given: PhaseInput) -> PhaseResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    scope = RelaxedScope.of(simulation, given.settings.optimal_limit)
    before = simulation.utilization.combined()
    found, dust = _searched(simulation, given)
    stayed, rest = dict[int, Reason](), None
    if found.stopped is StopReason.STUCK:
        stayed = stop_reasons.stuck_instances(simulation)
        rest = _spread_rest(simulation, given, found, stayed)
    reason = stop_reasons.why_stopped(
        found.stopped,
        simulation.utilization,
        len(simulation.steps),
        given.settings,
        all_judged=not any(one.skipped for one in given.scorecard.results),
    )
    if found.stopped is StopReason.STUCK:
        reason += dust
        reason += stop_reasons.held(simulation, given.fixed)
        reason += stop_reasons.unsafe_swap(found.has_unsafe_swap)
    reason += stop_reasons.without(rest, simulation.utilization)
    return PhaseResult(
        found.stopped,
        reason,
        stayed,
        found.notices,
        searched_by=str(found.searched_by),
        certificate=certificate.of(
            scope,
            before,
            simulation.utilization.combined(),
            given.settings,
            found,
        ),
        rest=rest,
    )


def _searched(
    simulation: Simulation,
    given: PhaseInput,
    search: Callable[[Simulation, PhaseInput], SearchResult] = registry.run,
) -> tuple[SearchResult, str]:
    """What a search comes to, but for a plan that is dust.

    :returns: with what is to be said of it; '' if it is none
    """
    dust = Dust(simulation, given)
    found = search(simulation, given)
    why = dust.why(search, found.stopped)
    if not why:
        return found, ''
    dust.take_back()
    return replace(found, stopped=StopReason.STUCK, is_proven=False), why


def _spread_rest(
    simulation: Simulation,
    given: PhaseInput,
    found: SearchResult,
    stayed: dict[int, Reason],
) -> Rest | None:
    """Spread the hosts that are not stuck, if any are.

    All hosts are judged again afterwards.

    :param found: how the search of all hosts ended; this one's end is added
    :param stayed: so are the reasons of what stays on the highest hosts
    """
    settings, utilization = given.settings, simulation.utilization
    if not settings.plateau_moves:
        return None  # the literal rule
    if simulation.left < PAIR and greedy.can_swap(simulation, settings):
        return None  # the budget is what lacks
    aside = stuck_hosts.find(simulation, settings.exhaust)
    if not aside.any():
        return None
    rest = Rest(stuck_hosts.told(simulation, aside), len(simulation.steps))
    utilization.set_aside(aside)
    if settings.exhaust or utilization.over_threshold().any():
        scope = RelaxedScope.of(simulation, settings.optimal_limit)
        before = utilization.combined()
        of_rest = _search_rest(simulation, given)
        rest.certificate = certificate.of(
            scope, before, utilization.combined(), settings, of_rest
        )
        found.notices += of_rest.notices
        found.has_unsafe_swap |= of_rest.has_unsafe_swap
        if of_rest.stopped is StopReason.BUDGET:
            found.stopped = StopReason.BUDGET
        more = stop_reasons.stuck_instances(simulation)
        stayed |= {one: more[one] for one in more.keys() - stayed.keys()}
    _measure(rest, utilization, given.scorecard)
    utilization.judge_all()
    return rest


def _search_rest(simulation: Simulation, given: PhaseInput) -> SearchResult:
    """Search as for all hosts; what makes these worse is not taken.

    Step by step the greedy search never does that.
    """
    start, utilization = len(simulation.steps), simulation.utilization
    before = _whole(utilization)
    found, _ = _searched(simulation, given)
    if _whole(utilization) > before + EPSILON:
        while len(simulation.steps) > start:
            simulation.take_back()
        found, _ = _searched(simulation, given, greedy.run)
    return found


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
