# SPDX-License-Identifier: Apache-2.0
"""The relaxations: what has to be otherwise for a reason to be gone.

Each rule is lifted where an operator would lift it: in the input of the
planner, never in the planner. Whether the move is legal then is for the
planner to say. What lifts a constraint stands with the constraint; here is
what lifts the rest.
"""

from dataclasses import replace

from kronos.engine import edits
from kronos.engine.constraints import constraint_set
from kronos.engine.edits import Pair, Relaxation
from kronos.engine.eligibility import stuck_migrations
from kronos.engine.eligibility.instances import (
    BY_HOST,
    PIN,
    RUNNING,
    TPM_SECURITY,
)
from kronos.engine.extension import PLAIN, Extension, ReasonCode
from kronos.engine.planning.shared_hosts import EarlierPlans
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring import scorecard
from kronos.engine.types import Outcome, PlanningInput

SUPPOSED = (
    Code.SCOPE_NO_POLICY,
    Code.HOST_NO_SAMPLE,
    Code.HOST_NO_CAPACITY,
)
"""What is lifted by values that nobody measured."""


def relax(case: PlanningInput, reason: Reason, pair: Pair) -> PlanningInput:
    """A case in which one reason is gone; the given one stays as it is.

    :raises KeyError: nothing lifts a reason of this code
    """
    extension = case.settings.extension
    constraint = constraint_set.constraint_of(reason.code, extension)
    if constraint is not None:
        case = constraint.relax(case, reason, pair)
    else:
        own = extension.relaxations.get(reason.code)
        case = (own or _RELAXATIONS[reason.code])(case, reason, pair)
    return _plausible(case) if reason.code in SUPPOSED else case


def _plausible(case: PlanningInput) -> PlanningInput:
    """Guess what servers use that would be above hosts that are supposed."""
    card = scorecard.score(case.snapshot, case.policies, case.settings)
    for policy in card.unusable_profiles:
        case = edits.guessed(case, policy)
    return case


def can_lift(code: ReasonCode, extension: Extension = PLAIN) -> bool:
    """Whether a reason of this code can be lifted, as it forbids a move."""
    constraint = constraint_set.constraint_of(code, extension)
    if constraint is not None:
        return constraint.can_relax
    return code in extension.relaxations or code in _RELAXATIONS


def _unpinned(
    case: PlanningInput, reason: Reason, pair: Pair
) -> PlanningInput:
    instance = case.snapshot.instances[pair.instance]
    if reason.about == 'tags':
        tags = [tag for tag in instance.tags if tag != PIN]
        return edits.with_instance(case, instance.uuid, tags=tags)
    rest = {key: text for key, text in instance.metadata.items() if key != PIN}
    return edits.with_instance(case, instance.uuid, metadata=rest)


def _extra_spec(case: PlanningInput, reason: Reason, _: Pair) -> PlanningInput:
    allowed = [*case.settings.allowed_extra_specs, reason.about]
    return edits.with_settings(case, allowed_extra_specs=allowed)


def _on_its_way(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
    """Nothing of it is under way; the instance is where it is."""
    events = [
        event
        for event in case.snapshot.events
        if event.instance != pair.instance
        or event.outcome not in (Outcome.PLANNED, Outcome.UNDER_WAY)
    ]
    return edits.with_snapshot(case, events=events)


def _stuck_out(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
    """That of the instance itself is a reason of its own."""
    return stuck_migrations.without(
        case,
        lambda event: (
            event.instance != pair.instance and event.source == pair.source
        ),
    )


def _vtpm_by_host(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
    specs = case.snapshot.instances[pair.instance].extra_specs
    return edits.with_instance(
        case, pair.instance, extra_specs=specs | {TPM_SECURITY: BY_HOST}
    )


def _no_quarantine(case: PlanningInput, _: Reason, __: Pair) -> PlanningInput:
    if case.snapshot.seeds is not None:
        seeds = replace(case.snapshot.seeds, instance_quarantines={})
        case = edits.with_snapshot(case, seeds=seeds)
    return edits.with_settings(case, quarantine_seconds=0.0)


def _planned_before(
    case: PlanningInput, _: Reason, pair: Pair
) -> PlanningInput:
    """No earlier scope plans it; one that comes from there has arrived."""
    own = [m for m in case.earlier if m.instance.uuid == pair.instance]
    rest = [m for m in case.earlier if m.instance.uuid != pair.instance]
    snapshot = case.snapshot
    if pair.instance not in snapshot.instances:
        snapshot = EarlierPlans(own).place(snapshot)
    return replace(case, snapshot=snapshot, earlier=rest)


def _always_open(case: PlanningInput, _: Reason, __: Pair) -> PlanningInput:
    return edits.with_snapshot(case, window=None)


_RELAXATIONS: dict[ReasonCode, Relaxation] = {
    Code.SCOPE_NO_POLICY: lambda case, _, __: edits.usable(case),
    Code.SCOPE_COOLDOWN: edits.setting(cooldown_seconds=0.0),
    Code.SCOPE_WINDOW: _always_open,
    Code.SCOPE_WINDOW_UNUSABLE: _always_open,
    Code.WINDOW_TOO_SHORT: _always_open,
    Code.INSTANCE_UNMOVABLE: edits.instance(unmovable=''),
    Code.INSTANCE_ALLOCATIONS: edits.instance(misallocated_on=None),
    Code.INSTANCE_LOCKED: edits.instance(locked=False),
    Code.INSTANCE_PINNED: _unpinned,
    Code.INSTANCE_NOT_ACTIVE: edits.instance(status='ACTIVE'),
    Code.INSTANCE_BUSY: edits.instance(task_state=None),
    Code.INSTANCE_NOT_RUNNING: edits.instance(power_state=RUNNING),
    Code.INSTANCE_FAILED: edits.instance(failure=''),
    Code.INSTANCE_DIRTY_RATE: edits.instance(dirty_rate=0.0),
    Code.INSTANCE_EXTRA_SPEC: _extra_spec,
    Code.INSTANCE_VTPM: _vtpm_by_host,
    Code.INSTANCE_ON_ITS_WAY: _on_its_way,
    Code.INSTANCE_QUARANTINE: _no_quarantine,
    Code.INSTANCE_PLANNED_BEFORE: _planned_before,
    Code.INSTANCE_NO_PROFILE: lambda case, _, pair: edits.profiled(
        case, pair.instance
    ),
    Code.HOST_STUCK_OUT: _stuck_out,
    Code.WORSENS_POLICY: lambda case, reason, _: edits.with_limit(
        case, reason.about, 'threshold', reason.value
    ),
}
