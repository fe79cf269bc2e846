# SPDX-License-Identifier: Apache-2.0
"""A drain without metrics goes by what Placement says.

A drain is an order of the operator: the host is to become empty, whether
Prometheus answers or not. What leaves it then goes to where Placement has
room, evenly by free memory; its server groups hold as ever. Nothing else is
planned in such a scope.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kronos.engine.eligibility import hosts, window
from kronos.engine.scoring import scorecard
from kronos.engine.settings import Settings, UnexplainedLoad
from kronos.engine.types import (
    Host,
    PlanningInput,
    PolicyReadings,
    Reading,
    Sample,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Fallback, LabelType, Mode, Policy

NAME = 'placement_memory'
"""Of the policy that stands in."""
MEMORY = 'MEMORY_MB'
FULL = 1.0 + 1e-6
"""A ceiling that leaves it to Placement how full a host may become."""
NOTICE = 'drained without metrics, by {}: {}; only the drain is planned'


@dataclass
class ChosenInput:
    """What a scope is planned by."""

    input: PlanningInput
    notice: str = ''
    """Why it is not what was asked for; '' if it is."""


def choose(case: PlanningInput) -> ChosenInput:
    """Choose the case itself, or what a drain is planned by instead.

    Where a scope has hosts to be drained and would stand still for lack of
    metrics, its drain is planned all the same: by the load of the hosts,
    where only profiles cannot be used, by the policies that are left, where
    only ``require_all_policies`` forbids that, and else by the memory that
    Placement has free. Where nothing but a drain was asked for, a policy
    whose profiles cannot be used counts by the load of the hosts, too.

    :param case: with the enabled policies alone
    """
    snapshot, policies = case.snapshot, case.policies
    settings = case.settings
    if window.why_closed(snapshot) or not (
        policies and hosts.to_drain(snapshot, settings)
    ):
        return ChosenInput(case)
    card = scorecard.score(snapshot, policies, settings)
    is_only_drain = not settings.rebalance and bool(card.unusable_profiles)
    if not (_lacks_metrics(card) or is_only_drain):
        return ChosenInput(case)
    alone = replace(
        settings,
        require_all_policies=False,
        enforce_hard_affinity=False,
        enforce_soft_affinity=False,
        rebalance=False,
    )
    why = card.reason or '; '.join(card.unusable_profiles.values())
    by_hosts = ChosenInput(
        _without_profiles(replace(case, settings=alone), card),
        NOTICE.format('the load of the hosts', why),
    )
    by_policies = ChosenInput(
        replace(case, settings=alone),
        NOTICE.format('the policies that are left', why),
    )
    by_memory = ChosenInput(
        _by_memory(by_policies.input),
        NOTICE.format('the memory that Placement has free', why),
    )
    ways = [by_policies, by_memory]
    if card.unusable_profiles:
        ways = [by_hosts, *ways]
    return next(
        (choice for choice in ways if not _stands_still(choice.input)),
        ChosenInput(case),
    )


def _without_profiles(
    case: PlanningInput, card: scorecard.Scorecard
) -> PlanningInput:
    """Where profiles are wrong, apply no more than the ceilings of the hosts.

    What each instance uses is not known; no policy objects by a guess.
    """
    readings = dict(case.snapshot.readings)
    for name in card.unusable_profiles:
        readings[name] = replace(readings[name], profile=Reading(''))
    return replace(
        case,
        snapshot=replace(case.snapshot, readings=readings),
        settings=replace(case.settings, drain_may_exceed_threshold=True),
    )


def _by_memory(case: PlanningInput) -> PlanningInput:
    snapshot = case.snapshot
    # A host without a row in Placement takes no part, however many.
    settings = replace(
        case.settings,
        min_host_coverage=0.0,
        unexplained_load=UnexplainedLoad.STAYS,
    )
    policy = _policy(case.policies)
    readings = snapshot.readings | {policy.name: _readings(snapshot)}
    return replace(
        case,
        snapshot=replace(snapshot, readings=readings),
        policies=[*_skipped(snapshot, case.policies, settings), policy],
        settings=settings,
    )


def _lacks_metrics(card: scorecard.Scorecard) -> bool:
    """Whether it is at a standstill that more metrics would end."""
    if card.blocked is StopReason.NO_POLICY:
        return True
    return card.blocked is StopReason.TOO_FEW_HOSTS and any(
        reason.code in hosts.GAPS for reason in card.excluded.values()
    )


def _skipped(
    snapshot: Snapshot, policies: Sequence[Policy], settings: Settings
) -> list[Policy]:
    """The policies that are skipped with a reason, in a report too.

    Not one of which some hosts have a value: nothing goes by it, and the
    other hosts may take part.
    """
    card = scorecard.score(snapshot, policies, settings)
    skipped = {result.name for result in card.results if result.skipped}
    return [policy for policy in policies if policy.name in skipped]


def _stands_still(case: PlanningInput) -> bool:
    card = scorecard.score(case.snapshot, case.policies, case.settings)
    return card.blocked is not None


def _policy(policies: Sequence[Policy]) -> Policy:
    name = NAME
    while any(policy.name == name for policy in policies):
        name += '_'
    return Policy.model_construct(
        name=name,
        mode=Mode.SPREAD,
        weight=1.0,
        imbalance_query='Placement: memory in use',
        vm_profile_query='Nova: memory of the flavor',
        vm_profile_label_type=LabelType.NOVA_INSTANCE_UUID,
        vm_profile_fallback=Fallback.SKIP,
        host_capacity_query='Placement: memory',
        # No policy objects to a move: only what is legal counts.
        threshold=1.0,
        capacity_threshold=FULL,
        max_migrations_per_cycle=max(
            policy.max_migrations_per_cycle for policy in policies
        ),
    )


def _readings(snapshot: Snapshot) -> PolicyReadings:
    now = snapshot.taken_at
    sizes = {
        name: memory
        for name, host in snapshot.hosts.items()
        if (memory := _memory(host)) is not None
    }
    return PolicyReadings(
        imbalance=Reading(
            '',
            samples=[
                Sample(name, min(max(0.0, used / size), 1.0), now)
                for name, (size, used) in sizes.items()
            ],
        ),
        profile=Reading(
            '',
            samples=[
                Sample(uuid, float(instance.memory_mb), now)
                for uuid, instance in snapshot.instances.items()
            ],
        ),
        host_capacity=Reading(
            '',
            samples=[
                Sample(name, float(size), now)
                for name, (size, _) in sizes.items()
            ],
        ),
    )


def _memory(host: Host) -> tuple[int, int] | None:
    """What Placement has of it, and how much of that is used, in MiB."""
    memory = (host.headroom or {}).get(MEMORY)
    if memory is None or memory.capacity <= 0:
        return None
    return memory.capacity, memory.used
