# SPDX-License-Identifier: Apache-2.0
"""The remedies for a reason, with their numbers.

A code says it in general. Where a field of a policy or an option would do, a
remedy has its value, so that it can be tried (:mod:`.trials`): what is
here is what may help, and only the planner says whether it does.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kronos.engine.edits import MARGIN
from kronos.engine.explain import budgets
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.extension import ReasonCode
from kronos.engine.reasons import Code, Reason
from kronos.engine.server_groups import SOFT
from kronos.engine.settings import SoftRules
from kronos.engine.types import AggregateResult, MigrationPhase, PlanningInput
from kronos.policies.models import Mode

SCALE = 10000
"""Limits are proposed with four digits, with which imbalances are shown."""
LISTS = frozenset({'allowed_extra_specs'})
"""Options of which several remedies add to the same list."""
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
    helps: bool = True
    """False: the text says that nothing does."""

    @property
    def can_be_tried(self) -> bool:
        """Whether another setting of the plan is all that it takes."""
        return bool(self.arguments())

    def arguments(self) -> list[str]:
        """Those of kronos-replay and kronos-explain that try it."""
        arguments = []
        for name, value in self.overrides.items():
            arguments += ['--set', f'{name}={value}']
        if self.max_migrations is not None:
            arguments += ['--max-migrations', str(self.max_migrations)]
        if self.mode is not None:
            arguments += ['--mode', self.mode.value]
        return arguments


def joined(several: Sequence[Remedy]) -> Remedy:
    """One with the settings of all of them."""
    total = Remedy(' '.join(each.text for each in several if each.text))
    for remedy in several:
        for name, text in remedy.overrides.items():
            before = total.overrides.get(name, text)
            total.overrides[name] = _both(name, before, text)
        total.max_migrations = remedy.max_migrations or total.max_migrations
        total.mode = remedy.mode or total.mode
    return total


def _both(name: str, value: str, other: str) -> str:
    """What does for two remedies that set the same thing."""
    if name in LISTS:
        return ','.join(dict.fromkeys([*value.split(','), *other.split(',')]))
    if 'threshold.' in name:
        return max(value, other, key=float)
    return other


def of_reason(case: PlanningInput, verdict: Verdict, reason: Reason) -> Remedy:
    """What lifts one of the reasons that forbid a move."""
    code = reason.code
    options = case.settings.extension.remedies.get(code, _SETTINGS.get(code))
    if options is None and code in _RULES:
        return _RULES[code](case, verdict, reason)
    return Remedy(code.remedy, dict(options or {}))


def of_search(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> Iterator[Remedy]:
    """What may make the search go on, or choose otherwise, of a legal move.

    The one that changes least comes first.
    """
    if verdict.code in _SEARCH:
        yield from _SEARCH[verdict.code](case, result, verdict)


def in_vain(
    verdict: Verdict, tried: Sequence[Remedy], is_over: bool
) -> Remedy:
    """That no remedy of the search makes the plan do it.

    :param tried: those with which it was planned again
    :param is_over: whether there are more, which cannot be tried any more
    """
    code = verdict.code
    if code not in _IN_VAIN:
        return Remedy(code.remedy)
    if tried:
        return Remedy(_IN_VAIN[code](tried), helps=False)
    if is_over:
        return Remedy(f'Not tried: {code.remedy}', helps=False)
    if code is Code.PACK_KEEP_HOSTS:
        text = 'No remedy: a scope keeps at least one host.'
        return Remedy(text, helps=False)
    return Remedy('', helps=False)


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
        return Remedy('Remove it from cooldowns.json.')
    return Remedy(
        Code.INSTANCE_QUARANTINE.remedy,
        {'instance_quarantine_seconds': '0'},
    )


def _room(_: PlanningInput, __: Verdict, reason: Reason) -> Remedy:
    return Remedy(f'Free {reason.value:.0f} {reason.about} more there.')


def _group(case: PlanningInput, verdict: Verdict, reason: Reason) -> Remedy:
    """Hard rules only go with the group: Nova takes no member out."""
    [group] = [
        group for group in case.snapshot.groups if group.uuid == reason.about
    ]
    even = case.policies[0].mode is Mode.SPREAD and verdict.phase in _EVEN
    if (
        group.policy in SOFT
        and even
        and not case.settings.enforce_soft_affinity
    ):
        return Remedy(
            'Set soft_rules to penalty: breaking the soft rule then only '
            'costs soft_rule_penalty.',
            {'soft_rules': SoftRules.PENALTY.value},
        )
    text = 'Delete the server group if you no longer need its rule.'
    if reason.code is Code.GROUP_APART:
        text = f'{text[:-1]}, or move one of its members away first.'
    return Remedy(text)


def _ceiling(_: PlanningInput, __: Verdict, reason: Reason) -> Remedy:
    limit = _up(reason.value)
    if limit > 1.0:
        return Remedy(
            'Make room there; no capacity_threshold allows it, since the '
            'host would be more than full.',
            helps=False,
        )
    name = f'capacity_threshold.{reason.about}'
    return Remedy(
        f'Raise {name} to {limit:g}, or make room there.',
        {name: f'{limit:g}'},
    )


def _worse(_: PlanningInput, __: Verdict, reason: Reason) -> Remedy:
    limit = _up(reason.value)
    if limit > 1.0:
        return Remedy('No remedy: no threshold allows it.', helps=False)
    name = f'threshold.{reason.about}'
    return Remedy(f'Raise {name} to {limit:g}.', {name: f'{limit:g}'})


def prices(case: PlanningInput, verdict: Verdict) -> list[Remedy]:
    """What soft rules may cost at most for a move that breaks them.

    Of a verdict whose reasons are lifted by ``soft_rules`` and others.
    """
    gain = verdict.gain or 0.0
    return _prices([_down(gain), _down(gain / 2), 0.0])


def _prices(limits: Sequence[float]) -> list[Remedy]:
    return [
        Remedy(
            f'Lower soft_rule_penalty to {limit:g}.',
            {'soft_rule_penalty': f'{limit:g}'},
        )
        for limit in dict.fromkeys(limits)
        if limit >= 0.0
    ]


def _balanced(
    _: PlanningInput, __: AggregateResult, verdict: Verdict
) -> Iterator[Remedy]:
    """Of the policies that the move would help the one it helps most."""
    helped = sorted(
        (
            (width - verdict.widths[name], name)
            for name, width in verdict.before.items()
            if width > verdict.widths[name] and _down(width) >= 0.0
        ),
        reverse=True,
    )
    for share in (1.0, 0.5, 0.0):
        for _gain, policy in helped:
            width = verdict.before[policy]
            limit = max(0.0, _down(width * share))
            yield Remedy(
                f'Lower threshold.{policy} to {limit:g}; the plan leaves it '
                f'at {width:.4f}.',
                {f'threshold.{policy}': f'{limit:g}'},
            )


def _budget(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> Iterator[Remedy]:
    for budget in budgets.larger(case, result, verdict):
        yield Remedy(
            budget.text, dict(budget.overrides), budget.max_migrations
        )


def _price(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> list[Remedy]:
    """So low that what is left of its gain is more than its step gains."""
    breaks = verdict.price / case.settings.soft_rule_penalty
    rival = sum(
        step.gain for step in result.steps if step.instance == verdict.instance
    )
    limit = _down(((verdict.gain or 0.0) - max(0.0, rival)) / breaks)
    return _prices([limit, limit / 2, 0.0])


def _strategy(
    case: PlanningInput, _: AggregateResult, __: Verdict
) -> list[Remedy]:
    mode = case.policies[0].mode
    return [Remedy(f'Plan with the strategy kronos_{mode.value}.', mode=mode)]


def _keep_hosts(
    case: PlanningInput, result: AggregateResult, _: Verdict
) -> Iterator[Remedy]:
    most = min(case.settings.keep_hosts, result.hosts_in_use_after) - 1
    for number in range(most, 0, -1):
        yield Remedy(
            f'Lower keep_hosts to {number}.', {'keep_hosts': f'{number}'}
        )


def _headroom_hosts(
    case: PlanningInput, _: AggregateResult, __: Verdict
) -> Iterator[Remedy]:
    for number in reversed(range(case.settings.headroom_hosts)):
        yield Remedy(
            f'Lower headroom_hosts to {number}.',
            {'headroom_hosts': f'{number}'},
        )


def _whole(
    _: PlanningInput, __: AggregateResult, ___: Verdict
) -> list[Remedy]:
    text = 'Set pack_partial_drains to true.'
    return [Remedy(text, {'pack_partial_drains': 'true'})]


def _no_budget(tried: Sequence[Remedy]) -> str:
    numbers = ', '.join(
        str(remedy.overrides.get('canary_moves', remedy.max_migrations))
        for remedy in tried
    )
    return f'None of the budgets that were tried is large enough: {numbers}.'


def _no_value(option: str) -> Callable[[Sequence[Remedy]], str]:
    return lambda tried: (
        f'No other {option} that was tried makes the plan move it there: '
        + ', '.join(
            text for remedy in tried for text in remedy.overrides.values()
        )
        + '.'
    )


def _no_threshold(tried: Sequence[Remedy]) -> str:
    values = ', '.join(
        f'{name}={text}'
        for remedy in tried
        for name, text in remedy.overrides.items()
    )
    return (
        f'No threshold that was tried makes the plan move it there: {values}.'
    )


def _no_strategy(tried: Sequence[Remedy]) -> str:
    [mode] = [remedy.mode for remedy in tried if remedy.mode]
    return f'No remedy: kronos_{mode.value} does not move it there either.'


_SETTINGS: dict[ReasonCode, dict[str, str]] = {
    Code.SCOPE_COOLDOWN: {'cooldown': '0'},
    Code.INSTANCE_COOLDOWN: {'instance_cooldown': '0'},
    Code.HOST_NO_PLACEMENT: {'require_headroom': 'false'},
    Code.ZONE_CROSSED: {'restrict_to_az': 'false'},
    Code.RETURN_GUARD: {'return_guard': '0'},
    Code.INSTANCE_YOUNG: {'min_age': '0'},
    Code.INSTANCE_CONSENT: {'consent': 'ignore'},
}
_RULES: dict[
    ReasonCode, Callable[[PlanningInput, Verdict, Reason], Remedy]
] = {
    Code.INSTANCE_EXTRA_SPEC: _extra_spec,
    Code.INSTANCE_QUARANTINE: _quarantine,
    Code.NO_ROOM: _room,
    Code.GROUP_APART: _group,
    Code.GROUP_TOGETHER: _group,
    Code.GROUP_LONE: _group,
    Code.OVER_CEILING: _ceiling,
    Code.WORSENS_POLICY: _worse,
}
Candidates = Callable[
    [PlanningInput, AggregateResult, Verdict], Iterable[Remedy]
]
_SEARCH: dict[ReasonCode, Candidates] = {
    Code.SCOPE_BALANCED: _balanced,
    Code.SOFT_PENALTY: _price,
    Code.BUDGET_USED: _budget,
    Code.NOT_ASKED: _strategy,
    Code.PACK_KEEP_HOSTS: _keep_hosts,
    Code.PACK_HEADROOM_HOSTS: _headroom_hosts,
    Code.PACK_NOT_WHOLE: _whole,
}
_IN_VAIN: dict[ReasonCode, Callable[[Sequence[Remedy]], str]] = {
    Code.SCOPE_BALANCED: _no_threshold,
    Code.SOFT_PENALTY: _no_value('soft_rule_penalty'),
    Code.BUDGET_USED: _no_budget,
    Code.NOT_ASKED: _no_strategy,
    Code.PACK_KEEP_HOSTS: _no_value('keep_hosts'),
    Code.PACK_HEADROOM_HOSTS: _no_value('headroom_hosts'),
    Code.PACK_NOT_WHOLE: lambda _: (
        'Remove what keeps the other instances on its host; '
        'pack_partial_drains does not move it there.'
    ),
}
