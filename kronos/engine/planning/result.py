# SPDX-License-Identifier: Apache-2.0
"""The result of planning a scope, with all its reasons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kronos.engine import server_groups
from kronos.engine.arrays import EPSILON
from kronos.engine.constraints import availability_zone
from kronos.engine.effect import use
from kronos.engine.planning.standings import budgets, consents
from kronos.engine.reasons import Reason
from kronos.engine.scheduling.migration_costs import MigrationCosts
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import (
    PhaseResult,
    SimulatedMove,
    Simulation,
)
from kronos.engine.simulation.utilization import Undo, Utilization
from kronos.engine.types import (
    AggregateResult,
    Drain,
    GroupStanding,
    HostScore,
    InstanceStanding,
    MigrationStep,
    PolicyResult,
    Shares,
    Snapshot,
    Stop,
)
from kronos.policies import fingerprints

if TYPE_CHECKING:
    from kronos.engine.planning.phases import PhaseRunner


def standing(
    snapshot: Snapshot,
    card: Scorecard,
    stopped: Stop,
    reason: str,
    settings: Settings,
) -> AggregateResult:
    """The result of a scope in which nothing is moved."""
    result = _unmoved(snapshot, card, stopped, reason, settings)
    settings.extension.note(result, snapshot, settings)
    result.drains = _drains(result, snapshot, card)
    _count_limits(result, snapshot, settings)
    return result


def _count_limits(
    result: AggregateResult,
    snapshot: Snapshot,
    settings: Settings,
    phases: PhaseRunner | None = None,
) -> None:
    """Add how budgets and consent stand, when all reasons are known."""
    scope = phases.budgets if phases else None
    result.budgets = budgets.of_plan(result, snapshot, settings, scope)
    wishes = phases.scope.wishes if phases else None
    result.consents = consents.of_plan(result, snapshot, settings, wishes)


def _unmoved(
    snapshot: Snapshot,
    card: Scorecard,
    stopped: Stop,
    reason: str,
    settings: Settings,
) -> AggregateResult:
    why = Reason(reason, stopped.code)
    combined = _combined(card)
    placement = {s.uuid: s.host for s in snapshot.instances.values()}
    groups = _groups(snapshot, placement, placement, settings)
    in_use = len(set(placement.values()))
    result = AggregateResult(
        name=snapshot.scope,
        stopped=stopped,
        reason=reason,
        policies=_policies(card.results),
        combined_before=combined,
        combined_after=combined,
        availability_zones={
            host: availability_zone.zone_of(snapshot, host)
            for host in sorted(snapshot.hosts)
        },
        unavailable_hosts=card.excluded,
        not_drained=card.not_drained,
        stayed=dict.fromkeys(sorted(snapshot.instances), why),
        hosts_in_use_before=in_use,
        hosts_in_use_after=in_use,
        groups=groups,
        instances=_instances(snapshot),
        warnings=list(card.warnings),
        window=snapshot.window,
    )
    result.violations_before = _broken(groups, 'broken_before')
    result.violations_after = _broken(groups, 'broken_after')
    result.hosts_over_before = _hosts_over(result.policies)
    result.hosts_over_after = result.hosts_over_before
    return result


def _broken(groups: Sequence[GroupStanding], when: str) -> list[str]:
    """The rules that are broken, of the groups that are enforced."""
    texts = (getattr(group, when) for group in groups if group.enforced)
    return list(filter(None, texts))


def _hosts_over(policies: list[PolicyResult]) -> int:
    """As :meth:`.Utilization.hosts_over`, where nothing was simulated."""
    over: set[str] = set()
    for policy in policies:
        lowest = min((score.value for score in policy.scores), default=0.0)
        limit = lowest + policy.threshold + EPSILON
        over.update(
            score.host for score in policy.scores if score.value > limit
        )
    return len(over)


def planned(
    phases: PhaseRunner,
    simulation: Simulation,
    fixed: dict[str, Reason],
    warnings: Sequence[str] = (),
) -> AggregateResult:
    """The result of a scope in which the phases ran.

    :param fixed: instance uuid to the reason why no phase might move it
    :param warnings: of what came before the phases
    """
    last = phases.ends[-1]
    card, utilization = phases.scorecard, phases.utilization
    result = _unmoved(
        phases.snapshot,
        card,
        last.stopped,
        '; '.join(end.reason for end in phases.ends),
        phases.settings,
    )
    _judge(result, last)
    costs = MigrationCosts(phases.snapshot, phases.settings)
    result.steps = [_step(step, phases, costs) for step in simulation.steps]
    result.combined_after = utilization.combined()
    result.hosts_over_before = phases.hosts_over_before
    result.hosts_over_after = utilization.hosts_over()
    result.hosts_in_use_after = len(set(phases.placement.host_of.tolist()))
    before = {uuid: place.host for uuid, place in result.instances.items()}
    result.groups = _groups(
        phases.snapshot, before, phases.placement.by_uuid(), phases.settings
    )
    result.violations_after = _broken(result.groups, 'broken_after')
    result.begun = [begun for end in phases.ends for begun in end.begun]
    _score_after(result.policies, utilization)
    _explain(result, phases, fixed)
    _extend(result, phases)
    _limit(result, phases)
    effects = phases.snapshot.effects, utilization.policies, phases.settings
    result.warnings += use.scaled(*effects)
    result.warnings += [*warnings, *costs.warnings(result.steps)]
    result.warnings += [text for end in phases.ends for text in end.warnings]
    result.drains = _drains(result, phases.snapshot, card)
    _count_limits(result, phases.snapshot, phases.settings, phases)
    return result


def _judge(result: AggregateResult, last: PhaseResult) -> None:
    """Add how the last phase was searched, and how good that is."""
    result.search = last.searched_by
    result.certificate = last.certificate
    result.rest = last.rest
    result.packing = last.packing


def _limit(result: AggregateResult, phases: PhaseRunner) -> None:
    """Note why there are few migrations for balance, if a phase has any."""
    if not any(phases.rules(phase).is_balance for phase in phases.order()):
        return
    result.effect_limit = phases.effect_limit
    if result.effect_limit:
        result.warnings.append(result.effect_limit)


def _combined(card: Scorecard) -> float:
    return math.fsum(
        result.weight * result.imbalance_before for result in card.results
    )


def _extend(result: AggregateResult, phases: PhaseRunner) -> None:
    """Add what is of an extension."""
    inputs = phases.snapshot, phases.settings
    for end in phases.ends:
        result.beside |= end.beside
    result.closings = phases.settings.extension.closings(result, *inputs)
    phases.settings.extension.note(result, *inputs)


def _instances(snapshot: Snapshot) -> dict[str, InstanceStanding]:
    return {
        uuid: InstanceStanding(instance.name, instance.host)
        for uuid, instance in sorted(snapshot.instances.items())
    }


def _policies(results: Sequence[PolicyResult]) -> list[PolicyResult]:
    """Those of a scorecard; without a move every host keeps its value."""
    return [
        replace(
            result,
            scores=[
                HostScore(
                    score.host, score.value, score.normalized, score.value
                )
                for score in result.scores
            ],
        )
        for result in results
    ]


def _score_after(
    policies: list[PolicyResult], utilization: Utilization
) -> None:
    position = {name: row for row, name in enumerate(utilization.policies)}
    for policy in policies:
        row = position.get(policy.name)
        if row is None:
            policy.imbalance_after = 0.0
            continue
        policy.imbalance_after = float(utilization.imbalances[row])
        values = dict(
            zip(
                utilization.index.hosts,
                utilization.scores[row].tolist(),
                strict=True,
            )
        )
        for score in policy.scores:
            score.after = values[score.host]


def _groups(
    snapshot: Snapshot,
    before: Mapping[str, str],
    after: Mapping[str, str],
    settings: Settings,
) -> list[GroupStanding]:
    """The groups with members in the scope, and which rules are broken.

    :param before: instance uuid to host, and ``after`` the same
    """
    standings = []
    for group in sorted(snapshot.groups, key=lambda group: group.uuid):
        uuids = set(group.members)
        members = sorted(uuids & before.keys())
        if not members:
            continue
        broken = [
            server_groups.describe(
                group, Counter(placement[uuid] for uuid in members)
            )
            for placement in (before, after)
        ]
        standings.append(
            GroupStanding(
                uuid=group.uuid,
                name=group.name,
                policy=group.policy,
                most_per_host=server_groups.most_per_host(group),
                enforced=server_groups.is_enforced(group, settings),
                members=members,
                elsewhere=len(uuids) - len(members),
                broken_before=broken[0],
                broken_after=broken[1],
            )
        )
    return standings


def _explain(
    result: AggregateResult, phases: PhaseRunner, fixed: dict[str, Reason]
) -> None:
    """Give every instance that does not move a reason."""
    names = phases.utilization.index.instances
    reasons: dict[str, Reason] = {}
    for end in phases.ends:
        reasons |= {
            names[position]: reason for position, reason in end.stayed.items()
        }
    moved = {step.instance for step in result.steps}
    result.unmovable = fixed | {
        uuid: reason for uuid, reason in reasons.items() if uuid not in moved
    }
    last = phases.ends[-1]
    unneeded = Reason(f'not needed: {last.reason}', last.stopped.code)
    result.stayed = {
        uuid: result.unmovable.get(uuid, unneeded)
        for uuid in names
        if uuid not in moved
    }


def _drains(
    result: AggregateResult, snapshot: Snapshot, card: Scorecard
) -> list[Drain]:
    if not card.draining:
        return []
    # A server group's repair may take the rest away.
    leaving = {(step.instance, step.source) for step in result.steps}
    on: dict[str, list[str]] = {host: [] for host in card.draining}
    for uuid, instance in sorted(snapshot.instances.items()):
        if instance.host in on:
            on[instance.host].append(uuid)
    drains = []
    for host, reason in card.draining.items():
        uuids = on[host]
        staying = {
            uuid: result.stayed[uuid]
            for uuid in uuids
            if (uuid, host) not in leaving
        }
        drains.append(
            Drain(host, reason, len(uuids), len(uuids) - len(staying), staying)
        )
    return drains


def _step(
    move: SimulatedMove, phases: PhaseRunner, costs: MigrationCosts
) -> MigrationStep:
    utilization, undo = phases.utilization, move.undo
    uuid = utilization.index.instances[undo.instance]
    instance = phases.snapshot.instances[uuid]
    destination = utilization.index.hosts[undo.destination]
    before, after = (
        dict(zip(utilization.policies, widths.tolist(), strict=True))
        for widths in (undo.whole.widths, move.whole_after)
    )
    weights = utilization.weights
    rest_before, rest_after = (
        math.fsum(weights * widths) if undo.ends is not undo.whole else None
        for widths in (move.before, move.after)
    )
    return MigrationStep(
        scope=phases.snapshot.scope,
        phase=move.phase,
        instance=uuid,
        instance_name=instance.name,
        source=utilization.index.hosts[undo.source],
        destination=destination,
        memory_mb=instance.memory_mb,
        imbalance_before=before,
        imbalance_after=after,
        combined_before=math.fsum(weights * undo.whole.widths),
        combined_after=math.fsum(weights * move.whole_after),
        requires=(
            ''
            if move.requires is None
            else utilization.index.instances[move.requires]
        ),
        copied_mb=costs.copied_mb(instance, destination),
        seconds=costs.seconds(instance, destination),
        rest_before=rest_before,
        rest_after=rest_after,
        effect=_effect(undo, phases),
    )


def _effect(undo: Undo, phases: PhaseRunner) -> dict[str, Shares]:
    """By policy what a move should change at either end.

    Without the factors of earlier plans.
    """
    utilization = phases.utilization
    # A ratio of scaled promises would swing back to 1 with the next plans.
    usage = utilization.unscaled(utilization.usage[:, undo.instance])
    leaving, arriving = (
        (usage / utilization.capacity[:, host]).tolist()
        for host in (undo.source, undo.destination)
    )
    queries = {
        policy.name: fingerprints.of(policy)
        for policy in phases.inputs.policies
    }
    return {
        name: Shares(leaving[p], arriving[p], queries[name])
        for p, name in enumerate(utilization.policies)
    }
