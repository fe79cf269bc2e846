# SPDX-License-Identifier: Apache-2.0
"""The answers about a plan, as documents for programs.

The command kronos-explain gives them. Keys are added, never changed.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kronos.engine.edits import Pair
from kronos.engine.explain import counterfactual, remedies, scenario
from kronos.engine.explain import nearest_miss as nearest
from kronos.engine.explain.nearest_miss import (
    closest,
    each_closest,
    nearest_miss,
)
from kronos.engine.explain.relaxations import can_lift, relax
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.explain.why_not import Explainer
from kronos.engine.planning import propose, stop_reasons
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationStep,
    PlanningInput,
    Snapshot,
)
from kronos.policies.models import Mode, Policy

FORMAT_VERSION = 1
ApplyRemedy = Callable[[PlanningInput, remedies.Remedy], PlanningInput]
"""What the planner is given with a remedy. Its overrides are text, which the
engine leaves to its caller to understand."""
FEW_HOSTS = 200
"""Of a larger scope it is not planned again for a miss that nobody asked
about: that takes as long as the plan itself."""


class Answers:
    """The answers about a plan.

    One class, since every question is asked of the same led scopes, which are
    costly to lead there.

    :param report: the plan of the same snapshots, in the same order
    """

    def __init__(
        self,
        snapshots: Sequence[Snapshot],
        policies: Sequence[Policy],
        settings: Settings,
        report: CycleReport,
        apply_remedy: ApplyRemedy,
    ) -> None:
        self._report = report
        self._cases = scenario.cases(snapshots, policies, settings, report)
        self._apply = apply_remedy
        self._whys: dict[int, Explainer] = {}

    def why(self, at: int) -> Explainer:
        """Who answers about one scope."""
        if at not in self._whys:
            result = self._report.scopes[at]
            self._whys[at] = Explainer(self._cases[at], result)
        return self._whys[at]

    def scopes_of(self, *, instance: str = '', host: str = '') -> list[int]:
        """The scopes that have an instance, or a host."""
        return [
            at
            for at, one in enumerate(self._report.scopes)
            if instance in one.instances or host in one.availability_zones
        ]

    def scope(self, at: int) -> dict[str, Any]:
        """Why a scope's plan ends where it does, and the nearest miss."""
        result = self._report.scopes[at]
        miss = nearest_miss(self.why(at))
        code = stop_reasons.CODES[result.stopped]
        return {
            'scope': result.name,
            'code': code.value,
            'reason': result.reason,
            'steps': len(result.steps),
            'combined_before': result.combined_before,
            'combined_after': result.combined_after,
            'policies_skipped': result.policies_skipped,
            'nearest_miss': miss and self._full(at, miss),
            **self._blockers(at, miss.source if miss else ''),
        }

    def instance(
        self, at: int, uuid: str, destination: str | None
    ) -> dict[str, Any]:
        """What became of an instance, for one or for every destination."""
        result, why = self._report.scopes[at], self.why(at)
        one = result.instances[uuid]
        found = {
            'scope': result.name,
            'instance': uuid,
            'instance_name': one.name,
            'host': one.host,
            'moves': _moves(result, lambda step: step.instance == uuid),
            'recovery': _recovery(result, uuid),
        }
        if destination is not None:
            verdict = why.verdict(uuid, destination)
            return found | {'destinations': [self._full(at, verdict)]}
        verdicts = why.verdicts([uuid], why.hosts)
        miss = closest(verdicts)
        return found | {
            **self._blockers(at, one.host),
            'codes': _codes(verdicts),
            'nearest_miss': miss
            and self._full(at, miss, plans_again=len(verdicts) <= FEW_HOSTS),
            'destinations': [self._brief(at, one) for one in verdicts],
        }

    def host(self, at: int, name: str) -> dict[str, Any]:
        """Why a host sends or receives, or neither."""
        result, why = self._report.scopes[at], self.why(at)
        here = [u for u, one in result.instances.items() if one.host == name]
        there = [u for u, one in result.instances.items() if one.host != name]
        leaving = each_closest(why.verdicts(here, why.hosts, quick=True))
        coming = why.verdicts(there, [name], quick=True)
        roles = {
            'sends': self._side(
                at, leaving, _moves(result, lambda step: step.source == name)
            ),
            'receives': self._side(
                at,
                coming,
                _moves(result, lambda step: step.destination == name),
            ),
        }
        return {
            'scope': result.name,
            'host': name,
            'instances': len(here),
            'unavailable': result.unavailable_hosts.get(name, ''),
            'against': [
                _reason(one) for one in why.blockers.start.host_reasons(name)
            ],
            'policies': _standing(result, name),
            'set_aside': result.rest.of_host(name) if result.rest else [],
            'role': _role(roles),
            **roles,
            **self._blockers(at, name),
        }

    def _side(
        self,
        at: int,
        verdicts: Sequence[Verdict],
        moves: list[dict[str, Any]],
    ) -> dict[str, Any]:
        miss = closest(verdicts)
        if miss is not None:
            miss = self.why(at).verdict(miss.instance, miss.destination)
        return {
            'moves': moves,
            'codes': _codes(verdicts),
            'nearest_miss': miss and self._brief(at, miss),
        }

    def _full(
        self, at: int, verdict: Verdict, plans_again: bool = True
    ) -> dict[str, Any]:
        """A verdict with what would be, were all lifted that forbids it.

        :param plans_again: whether it is looked at what the plan would do
        """
        case, result = self._cases[at], self._report.scopes[at]
        if verdict.code is not Code.ALREADY_THERE:
            verdict = counterfactual.minimal(case, result, verdict)
        found = self._brief(at, verdict)
        if not verdict.reasons:
            remedy = remedies.of_search(case, result, verdict)
            found |= _remedy(remedy)
            if remedy.can_be_tried and plans_again:
                changed = self._apply(case, remedy)
                found['if_lifted'] = self._if_lifted(at, verdict, changed)
            return found
        own = [remedies.of_reason(case, verdict, o) for o in verdict.reasons]
        found |= _remedy(own[0])
        for row, remedy in zip(found['also'], own[1:], strict=True):
            row |= _remedy(remedy)
        is_liftable = all(
            one.code and can_lift(one.code) for one in verdict.reasons
        )
        if is_liftable and plans_again:
            changed = counterfactual.relaxed(case, verdict)
            against = counterfactual.still_against(changed, result, verdict)
            found['if_lifted'] = self._if_lifted(at, verdict, changed, against)
        return found

    def _if_lifted(
        self,
        at: int,
        verdict: Verdict,
        changed: PlanningInput,
        against: Sequence[Reason] = (),
    ) -> dict[str, Any]:
        """What the plan of a changed case does with the instance."""
        again = propose.plan_again(changed)
        uuid = verdict.instance
        moves = [
            {
                'number': number,
                'phase': step.phase.value,
                'source': step.source,
                'destination': step.destination,
            }
            for number, step in enumerate(again.steps, start=1)
            if step.instance == uuid
        ]
        return {
            'legal': not against,
            'against': [str(one) for one in against],
            'planned': any(
                one['destination'] == verdict.destination for one in moves
            ),
            'moves': moves,
            'stays': again.stayed.get(uuid, ''),
            'more_steps': len(again.steps) - len(self._steps(at)),
        }

    def _steps(self, at: int) -> list[MigrationStep]:
        return self._report.scopes[at].steps

    def _blockers(self, at: int, host: str) -> dict[str, Any]:
        """What keeps a host from being emptied, if it is to be."""
        case, result, why = self._cases[at], self._result(at), self.why(at)
        if not nearest.is_to_be_emptied(why, host):
            return {'blockers': [], 'if_all_lifted': None}
        held = nearest.blockers(why, host)
        for one in held:
            for reason in one.reasons:
                if reason.code and can_lift(reason.code):
                    pair = Pair(one.instance, one.source, one.destination)
                    case = relax(case, reason, pair)
        again = propose.plan_again(case) if held else result
        return {
            'blockers': [self._brief(at, one) for one in held],
            'if_all_lifted': {
                'instances': nearest.number_on(result, host),
                'leaving': sum(one.source == host for one in again.steps),
                'stays': nearest.why_left(again, host),
            },
        }

    def _result(self, at: int) -> AggregateResult:
        return self._report.scopes[at]

    def _brief(self, at: int, verdict: Verdict) -> dict[str, Any]:
        known = self._report.scopes[at].instances.get(verdict.instance)
        return {
            'instance': verdict.instance,
            'instance_name': known.name if known else '',
            'source': verdict.source,
            'destination': verdict.destination,
            'code': verdict.code.value,
            'text': verdict.text,
            'means': verdict.code.means,
            'remedy': verdict.code.remedy,
            'try': [],
            'also': [_reason(one) for one in verdict.also],
            'phase': verdict.phase.value if verdict.phase else '',
            'after_steps': verdict.after,
            'gain': _finite(verdict.gain),
            'imbalances': {
                name: _finite(width) for name, width in verdict.widths.items()
            },
            'better_step': verdict.better,
            'if_lifted': None,
        }


def _finite(number: float | None) -> float | None:
    """None where values are absurd."""
    if number is None or not math.isfinite(number):
        return None
    return number


def _reason(reason: Reason) -> dict[str, Any]:
    code = reason.code
    return {
        'code': code.value if code else '',
        'about': reason.about,
        'host': reason.host,
        'text': str(reason),
        'remedy': code.remedy if code else '',
        'try': [],
    }


def _remedy(one: remedies.Remedy) -> dict[str, Any]:
    return {'remedy': one.text, 'try': _arguments(one)}


def _arguments(remedy: remedies.Remedy) -> list[str]:
    """Those of kronos-replay and kronos-explain that try it."""
    found = []
    for name, value in remedy.overrides.items():
        found += ['--set', f'{name}={value}']
    if remedy.max_migrations is not None:
        found += ['--max-migrations', str(remedy.max_migrations)]
    if remedy.mode is not None:
        found += ['--mode', remedy.mode.value]
    return found


def _codes(verdicts: Sequence[Verdict]) -> dict[str, int]:
    counts = Counter(
        one.code.value
        for one in verdicts
        if one.code is not Code.ALREADY_THERE
    )
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _moves(result: AggregateResult, which: Any) -> list[dict[str, Any]]:
    return [
        _step(number, step)
        for number, step in enumerate(result.steps, start=1)
        if which(step)
    ]


def _recovery(result: AggregateResult, uuid: str) -> dict[str, str] | None:
    """What becomes of one that failed: where it is restarted, or why not."""
    for one in result.restarts:
        if one.instance == uuid:
            return {
                'destination': one.destination,
                'code': '',
                'text': one.reason,
            }
    why = result.stayed.get(uuid)
    if uuid not in result.failed_servers or why is None:
        return None
    return {'destination': '', 'code': why.code.value, 'text': str(why)}


def _step(number: int, step: MigrationStep) -> dict[str, Any]:
    return {
        'number': number,
        'phase': step.phase.value,
        'instance': step.instance,
        'instance_name': step.instance_name,
        'source': step.source,
        'destination': step.destination,
        'memory_mb': step.memory_mb,
        'imbalance_before': dict(step.imbalance_before),
        'imbalance_after': dict(step.imbalance_after),
        'combined_before': step.combined_before,
        'combined_after': step.combined_after,
        'requires': step.requires,
    }


def _standing(result: AggregateResult, host: str) -> list[dict[str, Any]]:
    """Where a host stands among the others, by policy."""
    found = []
    for policy in result.policies:
        values = {one.host: one for one in policy.scores}
        if host not in values:
            continue
        ordered = sorted(one.value for one in policy.scores)
        own = values[host]
        found.append(
            {
                'policy': policy.name,
                'weight': policy.weight,
                'threshold': policy.threshold,
                'value': own.value,
                'value_after': own.after,
                'lowest': ordered[0],
                'highest': ordered[-1],
                'rank': 1 + sum(one > own.value for one in ordered),
                'hosts': len(ordered),
                'mode': policy.mode.value,
                'over': policy.mode is Mode.SPREAD
                and own.value - ordered[0] > policy.threshold + 1e-9,
            }
        )
    return found


def _role(roles: Mapping[str, Mapping[str, Any]]) -> str:
    does = [role for role, side in roles.items() if side['moves']]
    return {0: 'neither', 1: does[0] if does else '', 2: 'both'}[len(does)]
