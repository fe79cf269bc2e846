# SPDX-License-Identifier: Apache-2.0
"""The scorecard of a scope: how even it is, and which hosts take part.

Fails closed: what is unknown is not planned on, and the reason is kept.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kronos.engine import wording
from kronos.engine.eligibility import hosts
from kronos.engine.extension import ReasonCode
from kronos.engine.reasons import Reason
from kronos.engine.scoring import evaluation, usages
from kronos.engine.scoring.attribution import Attribution
from kronos.engine.scoring.evaluation import PolicyEvaluation
from kronos.engine.settings import Settings, UnexplainedLoad
from kronos.engine.types import (
    HostScore,
    PolicyResult,
    Snapshot,
    Stop,
    StopReason,
)
from kronos.policies.models import Mode, Policy

SHUT: dict[ReasonCode, Stop] = {
    stop.code: stop
    for stop in (
        StopReason.NO_SERVICES,
        StopReason.EXCLUSIONS_UNKNOWN,
        StopReason.FAILURES_UNKNOWN,
        StopReason.TOO_MANY_AT_FAULT,
    )
}
"""The halves of the liveness gate, and what stops a recovery, as reasons of a
stop."""


@dataclass(frozen=True)
class Scorecard:
    """The values of a scope by its policies before anything is moved.

    It stays as it was made.
    """

    results: list[PolicyResult] = field(default_factory=list)
    """Every enabled policy, in the order of the file."""
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use, by host that counts; the same hosts for each."""
    excluded: dict[str, Reason] = field(default_factory=dict)
    """Host to reason: neither source nor destination in spread and pack,
    and not in max or min."""
    draining: dict[str, Reason] = field(default_factory=dict)
    """Those of ``excluded`` that instances are to leave, with the reason.
    Nothing leaves the others of them."""
    not_drained: dict[str, Reason] = field(default_factory=dict)
    """Host to reason: instances are to leave it, and cannot."""
    draining_values: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use, by host that is drained, where it is known."""
    loads: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use, by host: readings of its capacity in use."""
    capacities: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use that has a ``host_capacity_query``, by host."""
    measured: dict[str, usages.Measured] = field(default_factory=dict)
    """By policy in use: what instances are said to use, if anybody asked."""
    attributions: dict[str, Attribution] = field(default_factory=dict)
    """By policy: the same held against the hosts; of one that cannot be used
    for that, too."""
    blocked: Stop | None = None
    """Set when the scope must stand still."""
    reason: str = ''
    """``blocked`` as a sentence."""
    warnings: list[str] = field(default_factory=list)

    @property
    def frozen(self) -> dict[str, Reason]:
        """Host to reason: nothing leaves it, and nothing comes."""
        return {
            host: reason
            for host, reason in self.excluded.items()
            if host not in self.draining
        }

    @property
    def unusable_profiles(self) -> dict[str, str]:
        """By policy that is skipped for its profiles, the reason."""
        return {
            result.name: result.skipped
            for result in self.results
            if result.skipped
            and result.name in self.attributions
            and self.attributions[result.name].fault
        }

    def unexplained(self, rule: UnexplainedLoad) -> list[str]:
        """What is to be known of hosts far above their servers."""
        return [
            warning
            for result in self.results
            if not result.skipped
            and result.name in self.attributions
            and (warning := self.attributions[result.name].warning(rule))
        ]

    def rescored(self) -> 'Scorecard':
        """The same, with the scores that follow from its values."""
        results = [
            _scored(result, self.values.get(result.name, {}))
            for result in self.results
        ]
        return replace(self, results=results)


def score(
    snapshot: Snapshot, policies: Sequence[Policy], settings: Settings
) -> Scorecard:
    """Score the hosts of a scope.

    1. Hosts are left out that are not an available nova-compute.
    2. Each enabled policy is tried: its answers must be fresh, in [0, 1],
       one series a host, and cover enough of the available hosts; else it
       is skipped with the reason.
    3. Hosts are left out that lack a value in some policy in use. So every
       policy is judged over the same hosts.
    4. The weights of the policies in use are scaled to sum to 1.

    The contract of step 2 is checked on every host of the scope, on those
    too that are left out: a value of 37 shows a wrong unit wherever it stands.

    :return: a :class:`Scorecard`; ``blocked`` is set when nothing may be
        planned
    """
    draining = hosts.to_drain(snapshot, settings)
    excluded = draining | _out(snapshot, settings)
    names = sorted(snapshot.hosts)
    available = [host for host in names if host not in excluded]
    evaluations = [
        evaluation.attempt(policy, snapshot, available, settings)
        for policy in policies
        if policy.enabled
    ]
    used = [tried for tried in evaluations if not tried.result.skipped]
    excluded |= _lacking(used, available)
    counting = [host for host in available if host not in excluded]
    _scale_weights(used)
    card = Scorecard(
        results=[evaluated.result for evaluated in evaluations],
        values=_values(used, counting),
        excluded=excluded,
        draining=draining,
        not_drained=hosts.not_drained(snapshot, settings),
        draining_values=_values(used, draining),
        loads={evaluated.policy.name: evaluated.loads for evaluated in used},
        capacities=_by_policy(used, 'capacities'),
        measured=_by_policy(used, 'measured'),
        attributions=_by_policy(evaluations, 'attribution'),
        warnings=[text for tried in evaluations for text in tried.warnings]
        + hosts.undrainable(snapshot, settings),
    ).rescored()
    blocked, reason = _why_blocked(
        card, snapshot, available, counting, settings
    )
    return replace(card, blocked=blocked, reason=reason)


def _by_policy(
    evaluations: Sequence[PolicyEvaluation], name: str
) -> dict[str, Any]:
    """By policy the value of a field, where it is known."""
    return {
        evaluated.policy.name: value
        for evaluated in evaluations
        if (value := getattr(evaluated, name)) is not None
    }


def _out(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """The hosts that take no part, whatever their metrics."""
    return {
        host: reason
        for host in sorted(snapshot.hosts)
        if (reason := hosts.why_out(snapshot, host, settings))
    }


def _values(
    used: Sequence[PolicyEvaluation], names: Iterable[str]
) -> dict[str, dict[str, float]]:
    """By policy, by host, as far as they are known."""
    names = list(names)
    return {
        evaluated.policy.name: {
            host: evaluated.values[host]
            for host in names
            if host in evaluated.values
        }
        for evaluated in used
    }


def _lacking(
    used: Sequence[PolicyEvaluation], available: Sequence[str]
) -> dict[str, Reason]:
    """Those of the hosts of which a policy in use lacks a value."""
    lacking: dict[str, Reason] = {}
    for evaluated in used:
        for host in available:
            if host not in lacking and (gaps := evaluated.gaps(host)):
                lacking[host] = gaps[0]
    return lacking


def _scale_weights(used: list[PolicyEvaluation]) -> None:
    total = math.fsum(evaluated.policy.weight for evaluated in used)
    if total > 0.0:
        for evaluated in used:
            evaluated.result.weight = evaluated.policy.weight / total


def _scored(result: PolicyResult, values: Mapping[str, float]) -> PolicyResult:
    if not values:
        return result
    low, high = min(values.values()), max(values.values())
    width = high - low
    return replace(
        result,
        scores=[
            HostScore(host, value, (value - low) / width if width else 0.0)
            for host, value in values.items()
        ],
        imbalance_before=width,
        imbalance_after=width,
    )


def _why_blocked(
    card: Scorecard,
    snapshot: Snapshot,
    available: list[str],
    counting: list[str],
    settings: Settings,
) -> tuple[Stop | None, str]:
    """Why nothing may be planned, the deepest cause first."""
    skipped = [result.skipped for result in card.results if result.skipped]
    # What leaves a host that is drained needs only somewhere to go.
    needed = 1 if card.draining else 2
    total = math.fsum(result.weight for result in card.results)
    shut = hosts.why_shut(snapshot)
    if shut := shut or settings.extension.stopped(snapshot, settings):
        own = {stop.code: stop for stop in settings.extension.stops}
        return (SHUT | own)[shut.code], str(shut)
    if len(available) < needed:
        return StopReason.TOO_FEW_HOSTS, _few(available, snapshot, card)
    if total <= 0.0:
        reason = '; '.join(skipped) or 'no enabled policy has a weight'
        return StopReason.NO_POLICY, f'no policy can be used: {reason}'
    if wrong := _filled_blindly(card):
        return StopReason.NO_POLICY, f'no host is filled: {wrong}'
    if skipped and settings.require_all_policies:
        reason = f'require_all_policies is set, but {"; ".join(skipped)}'
        return StopReason.NO_POLICY, reason
    if len(counting) < needed:
        return StopReason.TOO_FEW_HOSTS, _few(counting, snapshot, card)
    return None, ''


def _filled_blindly(card: Scorecard) -> str:
    """Why packing lacks the profiles of a policy; none replaces them."""
    return '; '.join(
        card.unusable_profiles[result.name]
        for result in card.results
        if result.mode is Mode.PACK and result.name in card.unusable_profiles
    )


def _few(part: list[str], snapshot: Snapshot, card: Scorecard) -> str:
    out = [f'{host}: {why}' for host, why in card.excluded.items()]
    needed = (
        'but a drain needs one to move instances to'
        if card.draining
        else 'but a migration needs two'
    )
    text = (
        f'{len(part)} of {len(snapshot.hosts)} hosts can take part, {needed}'
    )
    return f'{text} ({wording.some(out, 3)})' if out else text
