# SPDX-License-Identifier: Apache-2.0
"""The minimum stay: an instance that came of late stays where it is."""

from collections.abc import Mapping

from kronos.engine import edits
from kronos.engine.constraints.base import ConstraintInput, StayConstraint
from kronos.engine.edits import Pair
from kronos.engine.eligibility import young_instances
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class MinimumStay(StayConstraint):
    """An instance that was created or moved of late goes nowhere.

    Only in phases that spare it.
    """

    codes = frozenset({Code.INSTANCE_YOUNG, Code.INSTANCE_COOLDOWN})

    @staticmethod
    def staying(inputs: ConstraintInput) -> Mapping[str, Reason]:
        rules = inputs.rules
        reasons: dict[str, Reason] = {}
        if rules.spares_moved:
            reasons |= inputs.cooldowns.resting
        if rules.spares_young:
            reasons |= young_instances.of(inputs.snapshot, inputs.settings)
        return reasons

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        if reason.code is Code.INSTANCE_YOUNG:
            return edits.with_settings(case, min_age_seconds=0.0)
        return edits.with_settings(case, instance_cooldown_seconds=0.0)
