# SPDX-License-Identifier: Apache-2.0
"""The capacity ceiling: how full a destination may become.

Pack, evacuation and repair obey it. Its readings are those of
``capacity_query``, which need not be the scores; a policy of mode spread
without that query is held to its scores.
"""

from collections.abc import Sequence

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.constraints.base import Constraint
from kronos.engine.reasons import Code, Reason


class CeilingRule(Constraint):
    """Every policy's projected reading stays below its ceiling.

    :param policies: names of the policies in use [P]
    :param loads: [P, H], the readings; NaN where there is none: such a
        host takes nothing
    :param ceilings: ``capacity_threshold`` per policy [P]
    :param usage: [P, V], at least 0
    :param capacity: [P, H], above 0: a usage is this share of the host
    """

    def __init__(
        self,
        policies: Sequence[str],
        loads: FloatArray,
        ceilings: FloatArray,
        usage: FloatArray,
        capacity: FloatArray,
    ) -> None:
        super().__init__(usage.shape[1], loads.shape[1])
        self._policies = list(policies)
        self._loads = loads.copy()
        self._ceilings = ceilings
        self._usage = usage
        self._capacity = capacity

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        found: list[Reason] = []
        share = self._usage[:, instance] / self._capacity[:, host]
        projected = self._loads[:, host] + share
        for p in np.flatnonzero(~self._below(projected, self._ceilings)):
            name, ceiling = self._policies[p], self._ceilings[p]
            if np.isnan(projected[p]):
                text = f'policy {name}: its capacity reading is not known'
                found.append(Reason(text, Code.CEILING_UNKNOWN, name))
                # Even an empty host may be too small.
                projected[p] = share[p]
                if self._below(share[p], ceiling):
                    continue
            text = (
                f'policy {name} would be at {projected[p]:.3f} there, its '
                f'capacity_threshold is {ceiling:g}'
            )
            found.append(
                Reason(text, Code.OVER_CEILING, name, float(projected[p]))
            )
        return found

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        for p, ceiling in enumerate(self._ceilings):
            share = self._usage[p][instances][:, None] / self._capacity[p]
            mask &= self._below(self._loads[p] + share, ceiling)
        return mask

    def column(self, host: int) -> BoolArray:
        mask = np.ones(self._shape[0], dtype=bool)
        for p, ceiling in enumerate(self._ceilings):
            share = self._usage[p] / self._capacity[p, host]
            mask &= self._below(self._loads[p, host] + share, ceiling)
        return mask

    def takes_all(self, instances: IntArray, host: int) -> bool:
        used = self._usage[:, instances].sum(axis=1)
        projected = self._loads[:, host] + used / self._capacity[:, host]
        return bool(np.all(self._below(projected, self._ceilings)))

    def follow(self, instance: int, source: int, destination: int) -> None:
        used = self._usage[:, instance]
        self._loads[:, source] -= used / self._capacity[:, source]
        self._loads[:, destination] += used / self._capacity[:, destination]

    @staticmethod
    def _below(projected: FloatArray, ceiling: FloatArray) -> BoolArray:
        """Whether it stays below; False for NaN."""
        return np.less(projected, ceiling - EPSILON)
