# SPDX-License-Identifier: Apache-2.0
"""The ratio of realised to predicted effect, over the newest plans."""

from collections.abc import Sequence

from kronos.engine.effect.measurement import PolicyEffect, Unmeasured
from kronos.engine.types import EffectRatio

PRIOR = 0.01
"""Weight of a ratio of 1 before anything is measured, in squared scores: as
much as of one host that should change by 0.1."""
DECAY = 0.8
"""Weight of a plan, compared with the plan after it."""
TRUSTED = 0.5
"""Least trust in the plans of a scope."""
FULL_RECORD = 3
"""Plans that tell a ratio of 0.5 from 1 where the noise of a host is at most
half a move."""


def ratio(policy: str, effects: Sequence[PolicyEffect]) -> EffectRatio:
    """The ratio of one policy, by regression through the origin.

    :param effects: of the plans of a scope on this policy, the newest first;
        those that cannot be measured have no weight
    """
    product = square = PRIOR
    weight = 1.0
    measured = [effect for effect in effects if effect.unmeasured is None]
    for effect in measured:
        product += weight * effect.product
        square += weight * effect.square
        weight *= DECAY
    former = sum(
        effect.unmeasured is Unmeasured.FORMER_QUERY for effect in effects
    )
    return EffectRatio(policy, product / square, len(measured), former)


def trust(ratios: Sequence[EffectRatio]) -> float:
    """That of a scope: of the policy that is trusted least."""
    return min((each.trust for each in ratios), default=1.0)


def plans(ratios: Sequence[EffectRatio]) -> int:
    """Plans on record in a scope, of any policy."""
    return max((each.plans + each.former for each in ratios), default=0)
