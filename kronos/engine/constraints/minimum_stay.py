# SPDX-License-Identifier: Apache-2.0
"""The minimum stay: an instance that came of late stays where it is."""

from collections.abc import Mapping
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import young_instances
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class MinimumStay(Constraint):
    """An instance that was created or moved of late goes nowhere.

    Only in phases that spare it.

    :param staying: instance to the reason
    """

    codes = frozenset({Code.INSTANCE_YOUNG, Code.INSTANCE_COOLDOWN})
    binds_rebuilds = False

    def __init__(
        self, instances: int, hosts: int, staying: Mapping[int, Reason]
    ) -> None:
        super().__init__(instances, hosts)
        self._staying = staying
        self._allowed: BoolArray = np.ones(instances, dtype=bool)
        self._allowed[list(staying)] = False

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        rules, position = inputs.rules, inputs.index.instance
        reasons: dict[str, Reason] = {}
        if rules.spares_moved:
            reasons |= inputs.cooldowns.resting
        if rules.spares_young:
            reasons |= young_instances.of(inputs.snapshot, inputs.settings)
        staying = {
            position[uuid]: reason
            for uuid, reason in reasons.items()
            if uuid in position
        }
        return cls(*inputs.shape, staying) if staying else None

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        if reason.code is Code.INSTANCE_YOUNG:
            return edits.with_settings(case, min_age_seconds=0.0)
        return edits.with_settings(case, instance_cooldown_seconds=0.0)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._staying.get(instance)

    def rows(self, instances: IntArray) -> BoolArray:
        hosts = self._shape[1]
        return np.repeat(self._allowed[instances][:, None], hosts, axis=1)

    def column(self, host: int) -> BoolArray:
        return self._allowed.copy()
