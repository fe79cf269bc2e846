# SPDX-License-Identifier: Apache-2.0
"""The return guard: an instance does not go back to where it left."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class ReturnGuard(Constraint):
    """An instance does not go back to where it was moved away from.

    :param refused: instance to host to the reason
    """

    codes = frozenset({Code.RETURN_GUARD})
    subject = attrgetter('cooldowns.returns')
    binds_rebuilds = False

    def __init__(
        self,
        instances: int,
        hosts: int,
        refused: Mapping[int, Mapping[int, Reason]],
    ) -> None:
        super().__init__(instances, hosts)
        self._refused = refused

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        if not inputs.rules.return_guard:
            return None
        index = inputs.index
        refused = {
            index.instance[uuid]: {
                index.host[host]: reason
                for host, reason in hosts.items()
                if host in index.host
            }
            for uuid, hosts in inputs.cooldowns.returns.items()
            if uuid in index.instance
        }
        return cls(*inputs.shape, refused) if refused else None

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        return edits.with_settings(case, return_guard_seconds=0.0)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return self._refused.get(instance, {}).get(host)

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        for row, instance in enumerate(instances.tolist()):
            mask[row, list(self._refused.get(instance, ()))] = False
        return mask

    def column(self, host: int) -> BoolArray:
        mask = np.ones(self._shape[0], dtype=bool)
        mask[
            [
                instance
                for instance, hosts in self._refused.items()
                if host in hosts
            ]
        ] = False
        return mask
