# SPDX-License-Identifier: Apache-2.0
"""What is the result of planning a scope, with all its reasons?"""

import math

from kronos.engine import constraints, groups
from kronos.engine.draft import Draft, Made
from kronos.engine.phases import Phases
from kronos.engine.scoring import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Drain,
    MigrationStep,
    Snapshot,
    StopReason,
)


def standing(
    snapshot: Snapshot,
    card: Scorecard,
    stopped: StopReason,
    reason: str,
    settings: Settings,
) -> AggregateResult:
    """The result of a scope in which nothing is moved."""
    combined = math.fsum(
        one.weight * one.imbalance_before for one in card.results
    )
    placement = {one.uuid: one.host for one in snapshot.instances.values()}
    broken = groups.violations(snapshot.groups, placement, settings)
    in_use = len({one.host for one in snapshot.instances.values()})
    result = AggregateResult(
        name=snapshot.scope,
        stopped=stopped,
        reason=reason,
        policies=card.results,
        combined_before=combined,
        combined_after=combined,
        availability_zones={
            host: constraints.zone_of(snapshot, host)
            for host in sorted(snapshot.hosts)
        },
        unavailable_hosts=card.frozen_hosts,
        not_drained=card.not_drained,
        stayed=dict.fromkeys(sorted(snapshot.instances), reason),
        hosts_in_use_before=in_use,
        hosts_in_use_after=in_use,
        violations_before=broken,
        violations_after=list(broken),
        warnings=card.warnings,
    )
    result.drains = _drains(result, snapshot, card)
    return result


def planned(
    phases: Phases, draft: Draft, fixed: dict[str, str]
) -> AggregateResult:
    """The result of a scope in which the phases ran.

    :param fixed: instance uuid to the reason why no phase might move it
    """
    last = phases.ends[-1]
    card, state = phases.scorecard, phases.state
    result = standing(
        phases.snapshot,
        card,
        last.stopped,
        '; '.join(end.reason for end in phases.ends),
        phases.settings,
    )
    result.steps = [_step(made, phases) for made in draft.made]
    result.combined_after = state.combined()
    result.hosts_over_before = phases.hosts_over_before
    result.hosts_over_after = state.hosts_over()
    result.hosts_in_use_after = len(set(state.host_of.tolist()))
    result.violations_after = groups.violations(
        phases.snapshot.groups, state.placement(), phases.settings
    )
    result.warnings += [text for end in phases.ends for text in end.warnings]
    after = dict(zip(state.policies, state.imbalances.tolist(), strict=True))
    for policy in result.policies:
        policy.imbalance_after = after.get(policy.name, 0.0)
    _explain(result, phases, fixed)
    result.drains = _drains(result, phases.snapshot, card)
    return result


def _explain(
    result: AggregateResult, phases: Phases, fixed: dict[str, str]
) -> None:
    """Give every instance that does not move a reason."""
    names = phases.state.index.instances
    found: dict[str, str] = {}
    for end in phases.ends:
        found |= {names[at]: reason for at, reason in end.stayed.items()}
    moved = {step.instance for step in result.steps}
    result.unmovable = fixed | {
        uuid: reason for uuid, reason in found.items() if uuid not in moved
    }
    last = phases.ends[-1]
    result.stayed = {
        uuid: result.unmovable.get(uuid, f'not needed: {last.reason}')
        for uuid in names
        if uuid not in moved
    }


def _drains(
    result: AggregateResult, snapshot: Snapshot, card: Scorecard
) -> list[Drain]:
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


def _step(made: Made, phases: Phases) -> MigrationStep:
    state, undo = phases.state, made.undo
    uuid = state.index.instances[undo.instance]
    instance = phases.snapshot.instances[uuid]
    before, after = (
        dict(zip(state.policies, one.tolist(), strict=True))
        for one in (made.before, made.after)
    )
    return MigrationStep(
        scope=phases.snapshot.scope,
        phase=made.phase,
        instance=uuid,
        instance_name=instance.name,
        source=state.index.hosts[undo.source],
        destination=state.index.hosts[undo.destination],
        memory_mb=instance.memory_mb,
        imbalance_before=before,
        imbalance_after=after,
        combined_before=math.fsum(state.weights * made.before),
        combined_after=math.fsum(state.weights * made.after),
        requires=(
            ''
            if made.requires is None
            else state.index.instances[made.requires]
        ),
    )
