# SPDX-License-Identifier: Apache-2.0
"""The use of measured effects: what earlier plans change in the next one."""

from collections.abc import Collection, Sequence

from kronos.engine import wording
from kronos.engine.effect import regression
from kronos.engine.settings import EffectUse, Settings
from kronos.engine.types import EffectRatio


def limited(
    effects: Sequence[EffectRatio],
    policies: Collection[str],
    settings: Settings,
) -> str:
    """Why ``canary_moves`` limits a plan; '' if it does not.

    :param policies: names of those in use
    """
    if settings.use_effect is not EffectUse.LIMIT:
        return ''
    used = _used(effects, policies)
    worst = min(used, key=lambda each: (each.trust, each.policy), default=None)
    if worst and worst.trust < regression.TRUSTED:
        return (
            f'the trust in the effect on {worst.policy} is '
            f'{worst.trust:.2f}, below '
            f'{regression.TRUSTED:g} (ratio {worst.ratio:.3g} of '
            f'{wording.counted(worst.plans, "plan")})'
        )
    number = regression.plans(used)
    if number < regression.FULL_RECORD:
        return (
            f'fewer than {regression.FULL_RECORD} earlier plans of the scope '
            f'are measured ({number})'
        )
    return ''


def _used(
    effects: Sequence[EffectRatio], policies: Collection[str]
) -> list[EffectRatio]:
    return [each for each in effects if each.policy in policies]
