# SPDX-License-Identifier: Apache-2.0
"""The use of measured effects: what earlier plans change in the next one."""

from collections.abc import Collection, Mapping, Sequence

from kronos.engine import phase_rules, wording
from kronos.engine.effect import regression
from kronos.engine.settings import EffectUse, Settings
from kronos.engine.types import (
    AggregateResult,
    EffectRatio,
    MigrationStep,
    Phase,
)
from kronos.policies.models import Mode

LEAST_FACTOR = 0.25
"""Less would multiply the moves of a plan for a ratio near 0."""
MOST_FACTORS: Mapping[EffectUse, float] = {
    EffectUse.DAMP: 1.0,
    EffectUse.CALIBRATE: 2.0,
}
"""By the use that has factors."""


def limited(
    effects: Sequence[EffectRatio],
    policies: Collection[str],
    settings: Settings,
) -> str:
    """How ``canary_moves`` limits a plan, and why; '' if it does not.

    :param policies: names of those in use
    """
    if settings.use_effect is not EffectUse.LIMIT:
        return ''
    moves = wording.counted(settings.canary_moves, 'migration')
    most = f'canary_moves allows {moves} for balance: '
    used = _used(effects, policies)
    worst = min(used, key=lambda each: (each.trust, each.policy), default=None)
    if worst and worst.trust < regression.TRUSTED:
        return most + (
            f'the trust in the effect on {worst.policy} is '
            f'{worst.trust:.2f}, below '
            f'{regression.TRUSTED:g} (ratio {worst.ratio:.3g} of '
            f'{wording.counted(worst.plans, "plan")})'
        )
    number = regression.plans(used)
    if number < regression.FULL_RECORD:
        return most + (
            f'fewer than {regression.FULL_RECORD} earlier plans of the scope '
            f'are measured ({number})'
        )
    return ''


def balancing(
    steps: Sequence[MigrationStep], mode: Mode, settings: Settings
) -> list[MigrationStep]:
    """The steps that ``canary_moves`` counts: those for balance."""
    return [
        step
        for step in steps
        if phase_rules.rules_of(step.phase, mode, settings).is_balance
    ]


def is_spent(
    result: AggregateResult, phase: Phase, mode: Mode, settings: Settings
) -> bool:
    """Whether ``canary_moves`` leaves no migration for a move of a phase."""
    if not result.effect_limit:
        return False
    if not phase_rules.rules_of(phase, mode, settings).is_balance:
        return False
    planned = balancing(result.steps, mode, settings)
    return len(planned) >= settings.canary_moves


def factors(
    effects: Sequence[EffectRatio], settings: Settings
) -> dict[str, float]:
    """By policy how many times its predicted effect a move is planned with.

    A policy that is not among them has a factor of 1.
    """
    most = MOST_FACTORS.get(settings.use_effect)
    if most is None:
        return {}
    return {
        each.policy: min(most, max(LEAST_FACTOR, each.ratio))
        for each in effects
        if each.plans
    }


def scaled(
    effects: Sequence[EffectRatio],
    policies: Collection[str],
    settings: Settings,
) -> list[str]:
    """A sentence for each policy with a factor other than 1."""
    times = factors(effects, settings)
    return [
        f'policy {each.policy}: the plan is made with '
        f'{times[each.policy]:.3g} times the measured usage of the instances '
        f'(use_effect is {settings.use_effect}, ratio {each.ratio:.3g} of '
        f'{wording.counted(each.plans, "plan")})'
        for each in _used(effects, policies)
        if times.get(each.policy, 1.0) != 1.0
    ]


def _used(
    effects: Sequence[EffectRatio], policies: Collection[str]
) -> list[EffectRatio]:
    return [each for each in effects if each.policy in policies]
