# SPDX-License-Identifier: Apache-2.0
"""The result of planning a scope, with all its reasons."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kronos.engine import server_groups
from kronos.engine.arrays import EPSILON
from kronos.engine.constraints import availability_zone
from kronos.engine.planning.phases import PhaseRunner
from kronos.engine.reasons import Reason
from kronos.engine.scheduling import time_limits
from kronos.engine.scheduling.migration_costs import MigrationCosts
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import (
    PhaseResult,
    PlannedMove,
    Simulation,
)
from kronos.engine.simulation.utilization import Utilization
from kronos.engine.types import (
    AggregateResult,
    Drain,
    GroupStanding,
    HostScore,
    InstanceStanding,
    MigrationStep,
    PolicyResult,
    Snapshot,
    Stop,
)


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
    return result


def _unmoved(
    snapshot: Snapshot,
    card: Scorecard,
    stopped: Stop,
    reason: str,
    settings: Settings,
) -> AggregateResult:
    why = Reason(reason, stopped.code)
    combined = _combined(card)
    placement = {one.uuid: one.host for one in snapshot.instances.values()}
    broken = server_groups.violations(snapshot.groups, placement, settings)
    in_use = len({one.host for one in snapshot.instances.values()})
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
        violations_before=broken,
        violations_after=list(broken),
        groups=_groups(snapshot, placement, placement, settings),
        instances=_instances(snapshot),
        warnings=list(card.warnings),
    )
    result.hosts_over_before = _hosts_over(result.policies)
    result.hosts_over_after = result.hosts_over_before
    return result


def _hosts_over(policies: list[PolicyResult]) -> int:
    """As :meth:`.Utilization.hosts_over`, where nothing was simulated."""
    over: set[str] = set()
    for policy in policies:
        lowest = min((one.value for one in policy.scores), default=0.0)
        limit = lowest + policy.threshold + EPSILON
        over.update(one.host for one in policy.scores if one.value > limit)
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
    result.steps = [_step(made, phases, costs) for made in simulation.steps]
    result.combined_after = utilization.combined()
    result.hosts_over_before = phases.hosts_over_before
    result.hosts_over_after = utilization.hosts_over()
    result.hosts_in_use_after = len(set(phases.placement.host_of.tolist()))
    placement = phases.placement.by_uuid()
    result.violations_after = server_groups.violations(
        phases.snapshot.groups, placement, phases.settings
    )
    before = {uuid: one.host for uuid, one in result.instances.items()}
    result.groups = _groups(
        phases.snapshot, before, placement, phases.settings
    )
    result.begun = [one for end in phases.ends for one in end.begun]
    _score_after(result.policies, utilization)
    _explain(result, phases, fixed)
    _extend(result, phases)
    late = time_limits.warnings(result.steps, costs.bandwidth, phases.settings)
    result.warnings += [*warnings, *late]
    result.warnings += [text for end in phases.ends for text in end.warnings]
    result.drains = _drains(result, phases.snapshot, card)
    return result


def _judge(result: AggregateResult, last: PhaseResult) -> None:
    """Say how the last phase was searched, and how good that is."""
    result.search = last.searched_by
    result.certificate = last.certificate
    result.rest = last.rest
    result.packing = last.packing


def _combined(card: Scorecard) -> float:
    return math.fsum(one.weight * one.imbalance_before for one in card.results)


def _extend(result: AggregateResult, phases: PhaseRunner) -> None:
    """Add what is of an extension."""
    asked = phases.snapshot, phases.settings
    result.closings = phases.settings.extension.closings(result, *asked)
    phases.settings.extension.note(result, *asked)


def _instances(snapshot: Snapshot) -> dict[str, InstanceStanding]:
    return {
        uuid: InstanceStanding(one.name, one.host)
        for uuid, one in sorted(snapshot.instances.items())
    }


def _policies(results: Sequence[PolicyResult]) -> list[PolicyResult]:
    """Those of a scorecard; without a move every host keeps its value."""
    return [
        replace(
            one,
            scores=[
                HostScore(
                    score.host, score.value, score.normalized, score.value
                )
                for score in one.scores
            ],
        )
        for one in results
    ]


def _score_after(
    policies: list[PolicyResult], utilization: Utilization
) -> None:
    position = {name: at for at, name in enumerate(utilization.policies)}
    for policy in policies:
        at = position.get(policy.name)
        if at is None:
            policy.imbalance_after = 0.0
            continue
        policy.imbalance_after = float(utilization.imbalances[at])
        values = dict(
            zip(
                utilization.index.hosts,
                utilization.scores[at].tolist(),
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
    """The groups with members in the scope, with what their rules say.

    :param before: instance uuid to host, and ``after`` the same
    """
    found = []
    for one in sorted(snapshot.groups, key=lambda group: group.uuid):
        uuids = set(one.members)
        members = sorted(uuids & before.keys())
        if not members:
            continue
        broken = [
            server_groups.describe(one, Counter(at[uuid] for uuid in members))
            for at in (before, after)
        ]
        found.append(
            GroupStanding(
                uuid=one.uuid,
                name=one.name,
                policy=one.policy,
                most_per_host=server_groups.most_per_host(one),
                enforced=server_groups.is_enforced(one, settings),
                members=members,
                elsewhere=len(uuids) - len(members),
                broken_before=broken[0],
                broken_after=broken[1],
            )
        )
    return found


def _explain(
    result: AggregateResult, phases: PhaseRunner, fixed: dict[str, Reason]
) -> None:
    """Give every instance that does not move a reason."""
    names = phases.utilization.index.instances
    found: dict[str, Reason] = {}
    for end in phases.ends:
        found |= {names[at]: reason for at, reason in end.stayed.items()}
    moved = {step.instance for step in result.steps}
    result.unmovable = fixed | {
        uuid: reason for uuid, reason in found.items() if uuid not in moved
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
    for uuid, one in sorted(snapshot.instances.items()):
        if one.host in on:
            on[one.host].append(uuid)
    drains = []
    for host, reason in card.draining.items():
        there = on[host]
        staying = {
            uuid: result.stayed[uuid]
            for uuid in there
            if (uuid, host) not in leaving
        }
        drains.append(
            Drain(host, reason, len(there), len(there) - len(staying), staying)
        )
    return drains


def _step(
    made: PlannedMove, phases: PhaseRunner, costs: MigrationCosts
) -> MigrationStep:
    utilization, undo = phases.utilization, made.undo
    uuid = utilization.index.instances[undo.instance]
    instance = phases.snapshot.instances[uuid]
    destination = utilization.index.hosts[undo.destination]
    before, after = (
        dict(zip(utilization.policies, one.tolist(), strict=True))
        for one in (undo.whole.widths, made.whole_after)
    )
    weights = utilization.weights
    rest_before, rest_after = (
        math.fsum(weights * one) if undo.ends is not undo.whole else None
        for one in (made.before, made.after)
    )
    return MigrationStep(
        scope=phases.snapshot.scope,
        phase=made.phase,
        instance=uuid,
        instance_name=instance.name,
        source=utilization.index.hosts[undo.source],
        destination=destination,
        memory_mb=instance.memory_mb,
        imbalance_before=before,
        imbalance_after=after,
        combined_before=math.fsum(weights * undo.whole.widths),
        combined_after=math.fsum(weights * made.whole_after),
        requires=(
            ''
            if made.requires is None
            else utilization.index.instances[made.requires]
        ),
        copied_mb=costs.copied_mb(instance, destination),
        seconds=costs.seconds(instance, destination),
        rest_before=rest_before,
        rest_after=rest_after,
    )
