# SPDX-License-Identifier: Apache-2.0
"""The remedies for a reason, with their numbers.

A code says it in general. Where a field of a policy or an option would do, a
remedy has its value, so that it can be tried.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kronos.engine.edits import MARGIN
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.planning.scope_planner import ScopePlanner, under_way
from kronos.engine.reasons import Code, Reason
from kronos.engine.server_groups import SOFT
from kronos.engine.settings import SoftRules
from kronos.engine.types import AggregateResult, MigrationPhase, PlanningInput
from kronos.policies.models import Mode

SCALE = 10000
"""Limits are proposed with four digits, with which imbalances are shown."""
_EVEN = (MigrationPhase.SPREAD, MigrationPhase.EVACUATE)


@dataclass
class Remedy:
    """What to do, and how to try it on the recording."""

    text: str
    """Empty where there is nothing to do."""
    overrides: dict[str, str] = field(default_factory=dict)
    """Values as text by ``FIELD.POLICY`` or by option of ``[kronos]``."""
    max_migrations: int | None = None
    mode: Mode | None = None
    """The strategy that would ask for such moves."""

    @property
    def can_be_tried(self) -> bool:
        """Whether another setting of the plan is all that it takes."""
        return bool(self.overrides or self.max_migrations or self.mode)


def of_reason(case: PlanningInput, verdict: Verdict, reason: Reason) -> Remedy:
    """What lifts one of the reasons that forbid a move."""
    code = reason.code
    if code in _SETTINGS:
        return Remedy(code.remedy, dict(_SETTINGS[code]))
    if code in _RULES:
        return _RULES[code](case, verdict, reason)
    return Remedy(code.remedy)


def of_search(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> Remedy:
    """What makes the search go on, or choose otherwise, of a legal move."""
    if verdict.code in _SEARCH:
        return _SEARCH[verdict.code](case, result, verdict)
    return Remedy(verdict.code.remedy)


def _up(number: float) -> float:
    """The next limit above; absurd values have none."""
    if not number <= 1.0:
        return math.inf
    return math.ceil((number + MARGIN) * SCALE) / SCALE


def _down(number: float) -> float:
    if not math.isfinite(number):
        return -1.0
    return math.floor((number - MARGIN) * SCALE) / SCALE


def _extra_spec(case: PlanningInput, _: Verdict, reason: Reason) -> Remedy:
    allowed = [*case.settings.allowed_extra_specs, reason.about]
    return Remedy(
        f'Add {reason.about} to allowed_extra_specs, if it does not tie the '
        'instance to its host.',
        {'allowed_extra_specs': ','.join(allowed)},
    )


def _quarantine(case: PlanningInput, verdict: Verdict, _: Reason) -> Remedy:
    seeds = case.snapshot.seeds
    if seeds is not None and verdict.instance in seeds.instance_quarantines:
        return Remedy('Take it out of cooldowns.json.')
    return Remedy(
        Code.INSTANCE_QUARANTINE.remedy,
        {'instance_quarantine_seconds': '0'},
    )


def _room(_: PlanningInput, __: Verdict, reason: Reason) -> Remedy:
    return Remedy(f'Free {reason.value:.0f} {reason.about} more there.')


def _group(case: PlanningInput, verdict: Verdict, reason: Reason) -> Remedy:
    """Hard rules only go with the group: Nova takes no member out."""
    text = reason.code.remedy
    [group] = [one for one in case.snapshot.groups if one.uuid == reason.about]
    even = case.policies[0].mode is Mode.SPREAD and verdict.phase in _EVEN
    if (
        group.policy in SOFT
        and even
        and not case.settings.enforce_soft_affinity
    ):
        return Remedy(
            'Set soft_rules to penalty: then the soft rule only has a price.',
            {'soft_rules': SoftRules.PENALTY.value},
        )
    return Remedy(text)


def _ceiling(_: PlanningInput, __: Verdict, reason: Reason) -> Remedy:
    limit = _up(reason.value)
    if limit > 1.0:
        return Remedy(
            'Make room there; no capacity_threshold allows it, since the '
            'host would be more than full.'
        )
    name = f'capacity_threshold.{reason.about}'
    return Remedy(
        f'Raise {name} to {limit:g} or more, or make room there.',
        {name: f'{limit:g}'},
    )


def _worse(_: PlanningInput, __: Verdict, reason: Reason) -> Remedy:
    limit = _up(reason.value)
    if limit > 1.0:
        return Remedy('Nothing: no threshold allows it.')
    name = f'threshold.{reason.about}'
    return Remedy(f'Raise {name} to {limit:g} or more.', {name: f'{limit:g}'})


def _balanced(
    _: PlanningInput, __: AggregateResult, verdict: Verdict
) -> Remedy:
    """Of the policies that the move would help the one it helps most."""
    helped = [
        (width - verdict.widths[name], name)
        for name, width in verdict.before.items()
        if width > verdict.widths[name] and _down(width) >= 0.0
    ]
    if not helped:
        return Remedy('')
    policy = max(helped)[1]
    width = verdict.before[policy]
    limit = _down(width)
    return Remedy(
        f'Lower threshold.{policy} to {limit:g} or less; the plan leaves it '
        f'at {width:.4f}.',
        {f'threshold.{policy}': f'{limit:g}'},
    )


def _budget(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> Remedy:
    """One move more; a host that is emptied whole takes as many as it has."""
    moves = 1
    if case.policies[0].mode is Mode.PACK:
        hosts = [one.host for one in result.instances.values()]
        moves = max(1, hosts.count(verdict.source))
    busy = len(under_way(case.snapshot, case.settings))
    budget = len(result.steps) + busy + moves
    return Remedy(
        'Raise max_migrations of the audit, or max_migrations_per_cycle of '
        f'the policies: {budget} or more would do.',
        max_migrations=budget,
    )


def _price(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> Remedy:
    """So low that what is left of its gain is more than its step gains."""
    breaks = verdict.price / case.settings.soft_rule_penalty
    rival = sum(
        one.gain for one in result.steps if one.instance == verdict.instance
    )
    limit = _down(((verdict.gain or 0.0) - max(0.0, rival)) / breaks)
    if limit < 0.0:
        return Remedy('Nothing: the plan has a better destination for it.')
    return Remedy(
        f'Lower soft_rule_penalty to {limit:g} or less.',
        {'soft_rule_penalty': f'{limit:g}'},
    )


def _strategy(case: PlanningInput, _: AggregateResult, __: Verdict) -> Remedy:
    mode = case.policies[0].mode
    return Remedy(f'Plan with the strategy kronos_{mode.value}.', mode=mode)


def _keep_hosts(
    case: PlanningInput, result: AggregateResult, _: Verdict
) -> Remedy:
    least = min(case.settings.keep_hosts, result.hosts_in_use_after) - 1
    if least < 1:
        return Remedy('Nothing: a scope keeps one host at least.')
    return Remedy(
        f'Lower keep_hosts to {least} or less.', {'keep_hosts': f'{least}'}
    )


def _headroom_hosts(
    case: PlanningInput, _: AggregateResult, verdict: Verdict
) -> Remedy:
    """The most with which it is no longer the reason."""
    for least in reversed(range(case.settings.headroom_hosts)):
        settings = replace(case.settings, headroom_hosts=least)
        plan = ScopePlanner(replace(case, settings=settings)).plan()
        why = plan.stayed.get(verdict.instance, '')
        if getattr(why, 'code', None) is not Code.PACK_HEADROOM_HOSTS:
            break
    return Remedy(
        f'Lower headroom_hosts to {least} or less.',
        {'headroom_hosts': f'{least}'},
    )


def _whole(case: PlanningInput, _: AggregateResult, __: Verdict) -> Remedy:
    text = Code.PACK_NOT_WHOLE.remedy
    return Remedy(text, {'pack_partial_drains': 'true'})


_SETTINGS: dict[Code, dict[str, str]] = {
    Code.SCOPE_COOLDOWN: {'cooldown': '0'},
    Code.INSTANCE_COOLDOWN: {'instance_cooldown': '0'},
    Code.HOST_NO_PLACEMENT: {'require_headroom': 'false'},
    Code.ZONE_CROSSED: {'restrict_to_az': 'false'},
    Code.RETURN_GUARD: {'return_guard': '0'},
    Code.CELL_LOSSY: {'cell_move_lossy': 'true'},
}
_RULES: dict[Code, Callable[[PlanningInput, Verdict, Reason], Remedy]] = {
    Code.INSTANCE_EXTRA_SPEC: _extra_spec,
    Code.INSTANCE_QUARANTINE: _quarantine,
    Code.NO_ROOM: _room,
    Code.GROUP_APART: _group,
    Code.GROUP_TOGETHER: _group,
    Code.GROUP_LONE: _group,
    Code.OVER_CEILING: _ceiling,
    Code.WORSENS_POLICY: _worse,
}
_SEARCH: dict[
    Code, Callable[[PlanningInput, AggregateResult, Verdict], Remedy]
] = {
    Code.SCOPE_BALANCED: _balanced,
    Code.SOFT_PENALTY: _price,
    Code.BUDGET_USED: _budget,
    Code.NOT_ASKED: _strategy,
    Code.PACK_KEEP_HOSTS: _keep_hosts,
    Code.PACK_HEADROOM_HOSTS: _headroom_hosts,
    Code.PACK_NOT_WHOLE: _whole,
}
