# SPDX-License-Identifier: Apache-2.0
"""The effect of the plans of a scope: each plan, and how far to trust them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kronos.engine import wording
from kronos.engine.effect import regression
from kronos.engine.types import EffectRatio
from kronos.snapshots.past.effects import PlanEffect


@dataclass(frozen=True)
class ScopeEffect:
    """What the newest plans of a scope changed."""

    plans: Sequence[PlanEffect]
    """The newest first."""
    ratios: Sequence[EffectRatio]
    """Of each policy, over the plans that were started."""

    @property
    def trust(self) -> float:
        return regression.trust(self.ratios)

    @property
    def distrust(self) -> str:
        """Why its plans are not to be trusted; '' if they are."""
        if self.trust >= regression.TRUSTED:
            return ''
        least = min(self.ratios, key=lambda each: each.trust)
        who = 'it' if least.plans == 1 else 'they'
        return (
            f'{wording.counted(least.plans, "plan")} changed {least.policy} '
            f'by {least.ratio:.2f} of what {who} promised '
            f'(trust {least.trust:.2f})'
        )


def by_scope(
    plans: Iterable[PlanEffect], policies: Sequence[str]
) -> dict[str, ScopeEffect]:
    """By name of the scope.

    :param plans: the newest first
    :param policies: names, in the order of the policies file
    """
    of_scope: dict[str, list[PlanEffect]] = {}
    for plan in plans:
        of_scope.setdefault(plan.plan.scope, []).append(plan)
    return {
        scope: ScopeEffect(own, [_ratio(policy, own) for policy in policies])
        for scope, own in of_scope.items()
    }


def _ratio(policy: str, plans: Iterable[PlanEffect]) -> EffectRatio:
    return regression.ratio(
        policy,
        [
            effect
            for plan in plans
            if plan.plan.is_started
            for effect in plan.effects
            if effect.policy == policy
        ],
    )
