# SPDX-License-Identifier: Apache-2.0
"""The counterfactual: the planner's answer once a reason is lifted."""

import dataclasses

from kronos.engine.edits import Pair
from kronos.engine.explain import effects
from kronos.engine.explain.blockers import is_standstill, why_still
from kronos.engine.explain.relaxations import relax
from kronos.engine.explain.scenario import Scenario
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.planning.scope_planner import Stopped
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import (
    AggregateResult,
    MigrationPhase,
    PlanningInput,
)

MOST = 8
"""So many reasons that come up are added."""


def relaxed(
    case: PlanningInput, verdict: Verdict, but: Reason | None = None
) -> PlanningInput:
    """The planning input without the reasons that forbid a move.

    :param but: one of its reasons, which stays
    """
    pair = Pair(verdict.instance, verdict.source, verdict.destination)
    for reason in verdict.reasons:
        if reason is not but:
            case = relax(case, reason, pair)
    return case


def minimal(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> Verdict:
    """The verdict with all the reasons, and no more, that have to go.

    Where hosts and policies hang on each other, one lifted reason may bring
    up another, or make one idle. So the planner is asked, until it has
    nothing against the move. The first reason stays: it is the planner's.

    :param result: of the case as it is
    """
    answer = dataclasses.replace(verdict, reasons=list(verdict.reasons))
    if not any(_is_deep(reason) for reason in answer.reasons):
        return answer
    for _ in range(MOST):
        against = still_against(relaxed(case, answer), result, answer)
        if not against:
            break
        answer.reasons.append(against[0])
    for reason in answer.reasons[:0:-1]:
        trial_case = relaxed(case, answer, reason)
        if not still_against(trial_case, result, answer):
            answer.reasons.remove(reason)
    return answer


def _is_deep(reason: Reason) -> bool:
    """Whether lifting it changes more than the verdict on the pair."""
    code = reason.code
    return code is Code.INSTANCE_NO_PROFILE or code.startswith(
        ('host_', 'scope_')
    )


def still_against(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> list[Reason]:
    """What the planner has against a move in a changed case.

    :param case: changed, by :func:`relaxed`
    :param result: of the case as it was: the steps before the move
    """
    scenario = Scenario(case, result.rest)
    standstill = why_still(scenario)
    if standstill and verdict.phase is not MigrationPhase.RELIEVE:
        return [standstill]
    if isinstance(scenario.scope, Stopped):
        return _standstill(scenario, scenario.scope, verdict)
    if reason := scenario.scope.fixed.get(verdict.instance):
        return [reason]
    if verdict.phase is None:
        raise ValueError('no phase plans it')
    moment = scenario.moment(verdict.phase, result.steps[: verdict.after])
    utilization, rules = moment.utilization, moment.simulation.constraints
    instance = utilization.index.instance[verdict.instance]
    host = utilization.index.host[verdict.destination]
    with rules.repairing(verdict.repairing):
        against = rules.reasons(instance, host, hard=True)
    if verdict.heard:
        against += effects.objections(moment, instance, host)
    return against


def _standstill(
    scenario: Scenario, scope: Stopped, verdict: Verdict
) -> list[Reason]:
    if is_standstill(scope.stopped):
        return [Reason(scope.reason, scope.stopped.code)]
    against = [
        reason
        for host in (verdict.destination, verdict.source)
        if host in scope.card.excluded
        for reason in scenario.host_reasons(host)
    ]
    return against or [Reason(scope.reason, Code.SCOPE_TOO_FEW_HOSTS)]
