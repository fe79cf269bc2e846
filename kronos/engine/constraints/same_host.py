# SPDX-License-Identifier: Apache-2.0
"""The same-host constraint: a move ends elsewhere than it starts."""

from typing import Self

import numpy as np

from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import (
    Constraint,
    ConstraintInput,
    PlacementLimits,
)
from kronos.engine.edits import Pair
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput

THERE = 'it is there'


class SameHost(Constraint):
    """A move ends on another host than it starts from."""

    codes = frozenset({Code.ALREADY_THERE})
    can_relax = False

    def __init__(self, host_of: IntArray, hosts: int) -> None:
        """:param host_of: [V], shared with who moves the instances"""
        super().__init__(len(host_of), hosts)
        self._host_of = host_of

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self:
        return cls(inputs.host_of, len(inputs.index.hosts))

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        raise KeyError(reason.code)

    def why_not(self, instance: int, host: int) -> Reason | None:
        if self._host_of[instance] == host:
            return Reason(THERE, Code.ALREADY_THERE)
        return None

    def rows(self, instances: IntArray) -> BoolArray:
        hosts = np.arange(self._shape[1])
        return np.not_equal(self._host_of[instances][:, None], hosts)

    def limit(self, limits: PlacementLimits) -> None:
        """Nothing: to stay is to make no move."""

    def column(self, host: int) -> BoolArray:
        return np.not_equal(self._host_of, host)
