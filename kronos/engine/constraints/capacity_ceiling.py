# SPDX-License-Identifier: Apache-2.0
"""The capacity ceiling: how full a destination may become.

Pack, evacuation and repair obey it. Its readings are those of
``capacity_query``, which need not be the scores; a policy of mode spread
without that query is held to its scores.
"""

from operator import attrgetter
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.constraints.base import (
    CapacityReadings,
    Constraint,
    ConstraintInput,
)
from kronos.engine.edits import Pair
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class CapacityCeiling(Constraint):
    """Every policy's projected reading stays below its ceiling."""

    codes = frozenset({Code.OVER_CEILING, Code.CEILING_UNKNOWN})
    subject = attrgetter('readings')
    is_lasting = False

    def __init__(self, readings: CapacityReadings) -> None:
        super().__init__(readings.usage.shape[1], readings.loads.shape[1])
        self._policies = list(readings.policies)
        self._loads = readings.loads.copy()
        self._ceilings = readings.ceilings
        self._usage = readings.usage
        self._capacity = readings.capacity
        self._charges: FloatArray | None = None
        self._origins = readings.origins
        if readings.charges is not None and readings.charges.any():
            self._charges = readings.charges
        self._grown = self._usage
        """[P, V]: what instances count on hosts that they come to."""
        if readings.growths is not None and (readings.growths > 1.0).any():
            self._grown = self._usage * readings.growths[:, None]
        self._arrived: dict[tuple[int, int], int] = {}
        """By origin and host, how many instances have come."""

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        return cls(inputs.readings) if inputs.readings else None

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """The ceiling is just above, or the reading is known."""
        if reason.code is Code.OVER_CEILING:
            return edits.with_limit(
                case, reason.about, 'capacity_threshold', reason.value
            )
        host = reason.host or pair.destination
        return edits.with_sample(case, reason.about, 'capacity', host, 0.0)

    def free_capacities(self) -> list[tuple[FloatArray, FloatArray]]:
        """Per policy what instances use [V] and hosts may take more [H].

        Negative on a host above its ceiling; 0 where no reading is known.
        """
        free = (self._ceilings[:, None] - self._loads) * self._capacity
        return list(zip(self._usage, np.nan_to_num(free), strict=True))

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        against: list[Reason] = []
        used = self._counted(instance, host) + self._charge(instance, host)
        share = used / self._capacity[:, host]
        projected = self._loads[:, host] + share
        for p in np.flatnonzero(~self._below(projected, self._ceilings)):
            name, ceiling = self._policies[p], self._ceilings[p]
            if np.isnan(projected[p]):
                text = f'policy {name}: its capacity reading is not known'
                against.append(Reason(text, Code.CEILING_UNKNOWN, name))
                # Even an empty host may be too small.
                projected[p] = share[p]
                if self._below(share[p], ceiling):
                    continue
            text = (
                f'policy {name} would be at {projected[p]:.3f} there, its '
                f'capacity_threshold is {ceiling:g}'
            )
            against.append(
                Reason(text, Code.OVER_CEILING, name, float(projected[p]))
            )
        return against

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        for p, ceiling in enumerate(self._ceilings):
            share = self._counted_rows(p, instances) / self._capacity[p]
            share += self._charged_rows(p, instances)
            mask &= self._below(self._loads[p] + share, ceiling)
        return mask

    def column(self, host: int) -> BoolArray:
        mask = np.ones(self._shape[0], dtype=bool)
        used = self._counted(slice(None), host)
        for p, ceiling in enumerate(self._ceilings):
            share = used[p] / self._capacity[p, host]
            share += self._charged_column(p, host)
            mask &= self._below(self._loads[p, host] + share, ceiling)
        return mask

    def takes_all(self, instances: IntArray, host: int) -> bool:
        used = self._counted(instances, host).sum(axis=1)
        for instance in self._first_of_origins(instances):
            used = used + self._charge(instance, host)
        projected = self._loads[:, host] + used / self._capacity[:, host]
        return bool(np.all(self._below(projected, self._ceilings)))

    def follow(self, instance: int, source: int, destination: int) -> None:
        used = self._counted(instance, source)
        self._loads[:, source] -= used / self._capacity[:, source]
        self._leave(instance, source)
        used = self._counted(instance, destination)
        charge = self._charge(instance, destination)
        self._loads[:, destination] += (used + charge) / self._capacity[
            :, destination
        ]
        self._enter(instance, destination)

    def _counted(
        self, instances: int | IntArray | slice, host: int
    ) -> FloatArray:
        """[P, ...]: what instances count on a host, without charges.

        On their origin as measured, so that a move is taken back exactly.
        """
        counted: FloatArray = self._usage[:, instances]
        if self._grown is not self._usage and self._origins is not None:
            at_home = np.equal(self._origins[instances], host)
            counted = np.where(at_home, counted, self._grown[:, instances])
        return counted

    def _counted_rows(self, p: int, instances: IntArray) -> FloatArray:
        """[instances, H or 1]: the same for each host."""
        used: FloatArray = self._usage[p][instances][:, None]
        if self._grown is self._usage or self._origins is None:
            return used
        counted: FloatArray = np.tile(
            self._grown[p][instances][:, None], self._shape[1]
        )
        rows = np.arange(len(instances))
        counted[rows, self._origins[instances]] = used[:, 0]
        return counted

    def _charge(self, instance: int, host: int) -> FloatArray:
        """[P]: what comes along with an instance, as the first of its origin.

        It is not known which of them causes it.
        """
        if self._charges is None or self._origins is None:
            return np.zeros(len(self._policies))
        origin = int(self._origins[instance])
        if origin == host or (origin, host) in self._arrived:
            return np.zeros(len(self._policies))
        return self._charges[:, origin]

    def _first_of_origins(self, instances: IntArray) -> list[int]:
        if self._origins is None:
            return []
        _, first = np.unique(self._origins[instances], return_index=True)
        firsts: list[int] = instances[first].tolist()
        return firsts

    def _enter(self, instance: int, host: int) -> None:
        if self._charges is not None and self._origins is not None:
            pair = int(self._origins[instance]), host
            if pair[0] != host:
                self._arrived[pair] = self._arrived.get(pair, 0) + 1

    def _leave(self, instance: int, host: int) -> None:
        if self._charges is None or self._origins is None:
            return
        pair = int(self._origins[instance]), host
        if pair not in self._arrived:
            return
        self._arrived[pair] -= 1
        if not self._arrived[pair]:
            del self._arrived[pair]
            charge = self._charges[:, pair[0]]
            self._loads[:, host] -= charge / self._capacity[:, host]

    def _charged_rows(self, p: int, instances: IntArray) -> FloatArray | float:
        if self._charges is None or self._origins is None:
            return 0.0
        origins = self._origins[instances]
        charges: FloatArray = (
            self._charges[p][origins][:, None] / self._capacity[p]
        )
        charges[np.arange(len(origins)), origins] = 0.0
        for origin, host in self._arrived:
            charges[origins == origin, host] = 0.0
        return charges

    def _charged_column(self, p: int, host: int) -> FloatArray | float:
        if self._charges is None or self._origins is None:
            return 0.0
        charges: FloatArray = (
            self._charges[p][self._origins] / self._capacity[p, host]
        )
        charges[self._origins == host] = 0.0
        for origin, arrived in self._arrived:
            if arrived == host:
                charges[self._origins == origin] = 0.0
        return charges

    @staticmethod
    def _below(projected: FloatArray, ceiling: FloatArray) -> BoolArray:
        """Whether it stays below; False for NaN."""
        return np.less(projected, ceiling - EPSILON)
