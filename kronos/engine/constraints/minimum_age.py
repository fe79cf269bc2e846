# SPDX-License-Identifier: Apache-2.0
"""The minimum age: a young instance stays where it is."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import young_instances
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class MinimumAge(Constraint):
    """A young instance goes nowhere in phases that spare it.

    :param young: instance to the reason
    """

    codes = frozenset({Code.INSTANCE_YOUNG})
    subject = attrgetter('settings.min_age_seconds')
    binds_rebuilds = False

    def __init__(
        self, instances: int, hosts: int, young: Mapping[int, Reason]
    ) -> None:
        super().__init__(instances, hosts)
        self._young = young
        self._allowed: BoolArray = np.ones(instances, dtype=bool)
        self._allowed[list(young)] = False

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        if not inputs.rules.spares_young:
            return None
        position = inputs.index.instance
        young = {
            position[uuid]: reason
            for uuid, reason in young_instances.of(
                inputs.snapshot, inputs.settings
            ).items()
        }
        return cls(*inputs.shape, young) if young else None

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        return edits.with_settings(case, min_age_seconds=0.0)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._young.get(instance)

    def rows(self, instances: IntArray) -> BoolArray:
        hosts = self._shape[1]
        return np.repeat(self._allowed[instances][:, None], hosts, axis=1)

    def column(self, host: int) -> BoolArray:
        return self._allowed.copy()
