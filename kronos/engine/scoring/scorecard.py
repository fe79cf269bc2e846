# SPDX-License-Identifier: Apache-2.0
"""The scorecard of a scope: how even it is, and which hosts take part.

Fails closed: what is unknown is not planned on, and the reason is kept.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from kronos.engine import wording
from kronos.engine.eligibility import hosts
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring import evaluation
from kronos.engine.scoring.evaluation import PolicyEvaluation
from kronos.engine.settings import Settings
from kronos.engine.types import (
    HostScore,
    PolicyResult,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Policy


@dataclass
class Scorecard:
    """What the policies say about a scope before anything is moved."""

    results: list[PolicyResult] = field(default_factory=list)
    """Every enabled policy, in the order of the file."""
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use, by host that counts; the same hosts for each."""
    frozen_hosts: dict[str, Reason] = field(default_factory=dict)
    """Host to reason: neither source nor destination in spread and pack,
    and not in max or min."""
    draining: dict[str, Reason] = field(default_factory=dict)
    """Those of ``frozen_hosts`` that instances are to leave, with the
    reason."""
    not_drained: dict[str, Reason] = field(default_factory=dict)
    """Host to reason: instances are to leave it, and cannot."""
    beside: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use, the values of draining hosts, where known."""
    loads: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use, by host: readings of its capacity in use."""
    capacities: dict[str, dict[str, float]] = field(default_factory=dict)
    """By policy in use that has a ``host_capacity_query``, by host."""
    blocked: StopReason | None = None
    """Set when the scope must stand still."""
    reason: str = ''
    """``blocked`` as a sentence."""
    warnings: list[str] = field(default_factory=list)


def score(
    snapshot: Snapshot, policies: Sequence[Policy], settings: Settings
) -> Scorecard:
    """Score the hosts of a scope.

    1. Hosts are frozen that are not an available nova-compute.
    2. Each enabled policy is tried: its answers must be fresh, in [0, 1],
       one series a host, and cover enough of the available hosts; else it
       is skipped with the reason.
    3. Hosts are frozen that lack a value in some policy in use. So every
       policy is judged over the same hosts.
    4. The weights of the policies in use are scaled to sum to 1.

    The contract of step 2 is checked on every host of the scope, on frozen
    ones too: a value of 37 shows a wrong unit wherever it stands.

    :return: a :class:`Scorecard`; ``blocked`` is set when nothing may be
        planned
    """
    frozen = _frozen_by_state(snapshot)
    draining = hosts.to_drain(snapshot, settings)
    frozen = draining | frozen
    available = [host for host in sorted(snapshot.hosts) if host not in frozen]
    trials = [
        evaluation.attempt(policy, snapshot, available, settings)
        for policy in policies
        if policy.enabled
    ]
    used = [trial for trial in trials if not trial.result.skipped]
    frozen |= _frozen_by_gaps(used, available)
    counting = [host for host in available if host not in frozen]
    _scale_weights(used)
    beside = {
        trial.policy.name: {
            host: trial.values[host]
            for host in draining
            if host in trial.values
        }
        for trial in used
    }
    for trial in used:
        trial.values = {host: trial.values[host] for host in counting}
        _fill_in(trial.result, trial.values)
    card = Scorecard(
        results=[trial.result for trial in trials],
        values={trial.policy.name: trial.values for trial in used},
        frozen_hosts=frozen,
        draining=draining,
        not_drained=hosts.not_drained(snapshot, settings),
        beside=beside,
        loads={trial.policy.name: trial.loads for trial in used},
        capacities={
            trial.policy.name: trial.capacities
            for trial in used
            if trial.capacities is not None
        },
        warnings=[text for trial in trials for text in trial.warnings]
        + hosts.undrainable(snapshot, settings),
    )
    _block(card, snapshot, available, counting, settings)
    return card


def _frozen_by_state(snapshot: Snapshot) -> dict[str, Reason]:
    frozen: dict[str, Reason] = {}
    for host in sorted(snapshot.hosts):
        if snapshot.services is None:
            frozen[host] = Reason(
                'the state of the compute services is unknown',
                Code.SCOPE_NO_SERVICES,
            )
        elif snapshot.hosts[host].frozen:
            frozen[host] = Reason(
                snapshot.hosts[host].frozen, Code.HOST_FROZEN
            )
        elif reason := hosts.why_unavailable(snapshot.services.get(host)):
            frozen[host] = reason
    return frozen


def _frozen_by_gaps(
    used: list[PolicyEvaluation], available: list[str]
) -> dict[str, Reason]:
    frozen: dict[str, Reason] = {}
    for trial in used:
        name = trial.policy.name
        for host in available:
            if host in frozen:
                continue
            if host not in trial.values:
                frozen[host] = Reason(
                    f'policy {name} has no fresh sample for it',
                    Code.HOST_NO_SAMPLE,
                    name,
                )
            elif trial.capacities is not None and host not in trial.capacities:
                frozen[host] = Reason(
                    f'policy {name}: host_capacity_query has no value above '
                    '0 for it',
                    Code.HOST_NO_CAPACITY,
                    name,
                )
    return frozen


def _scale_weights(used: list[PolicyEvaluation]) -> None:
    total = math.fsum(trial.policy.weight for trial in used)
    if total > 0.0:
        for trial in used:
            trial.result.weight = trial.policy.weight / total


def _fill_in(result: PolicyResult, values: dict[str, float]) -> None:
    if not values:
        return
    low, high = min(values.values()), max(values.values())
    width = high - low
    result.scores = [
        HostScore(host, value, (value - low) / width if width else 0.0)
        for host, value in values.items()
    ]
    result.imbalance_before = result.imbalance_after = width


def _block(
    card: Scorecard,
    snapshot: Snapshot,
    available: list[str],
    counting: list[str],
    settings: Settings,
) -> None:
    """Say why nothing may be planned, the deepest cause first."""
    skipped = [result.skipped for result in card.results if result.skipped]
    # What leaves a host that is drained needs only somewhere to go.
    needed = 1 if card.draining else 2
    total = math.fsum(result.weight for result in card.results)
    if snapshot.services is None:
        card.blocked = StopReason.NO_SERVICES
        card.reason = 'the state of the compute services is unknown'
    elif len(available) < needed:
        card.blocked = StopReason.TOO_FEW_HOSTS
        card.reason = _few(available, snapshot, card)
    elif total <= 0.0:
        card.blocked = StopReason.NO_POLICY
        card.reason = 'no policy can be used: ' + (
            '; '.join(skipped) or 'none with a weight is enabled'
        )
    elif skipped and settings.require_all_policies:
        card.blocked = StopReason.NO_POLICY
        card.reason = 'require_all_policies is set, but ' + '; '.join(skipped)
    elif len(counting) < needed:
        card.blocked = StopReason.TOO_FEW_HOSTS
        card.reason = _few(counting, snapshot, card)


def _few(part: list[str], snapshot: Snapshot, card: Scorecard) -> str:
    frozen = [f'{host}: {why}' for host, why in card.frozen_hosts.items()]
    needed = (
        'what leaves the drained hosts needs one'
        if card.draining
        else 'a migration needs two'
    )
    text = (
        f'{len(part)} of {len(snapshot.hosts)} hosts can take part, {needed}'
    )
    return f'{text} ({wording.some(frozen, 3)})' if frozen else text
