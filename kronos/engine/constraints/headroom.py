# SPDX-License-Identifier: Apache-2.0
"""The headroom constraint: what Placement has free on a destination."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import (
    Constraint,
    ConstraintInput,
    PlacementLimits,
)
from kronos.engine.edits import Pair
from kronos.engine.eligibility import free_capacity, in_flight
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import (
    Headroom,
    Host,
    PlanningInput,
)


class HeadroomConstraint(Constraint):
    """The resources that an instance claims in Placement are free on a host.

    While a live migration runs, Placement counts the instance on both
    hosts; the source's room is free when it has ended. A plan obeys this in
    its own order, one move after the other. Who runs moves side by side has
    to let a move wait for those that make its room.

    :param demands: [V], by resource class
    :param resources: the resource classes that count
    """

    codes = frozenset({Code.NO_ROOM})
    is_lasting = False

    def __init__(
        self,
        demands: Sequence[Mapping[str, int]],
        hosts: Sequence[Host],
        resources: Sequence[str],
    ) -> None:
        super().__init__(len(demands), len(hosts))
        self._resources = list(resources)
        self._need = [
            np.array([demand[name] for demand in demands], dtype=np.int64)
            for name in resources
        ]
        """Per resource, [V]"""
        self._free = [
            np.array(
                [free_capacity.free(name, host.headroom) for host in hosts],
                dtype=np.int64,
            )
            for name in resources
        ]
        """Per resource, [H]; negative on an overfull host"""

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self:
        resources = ['VCPU', 'MEMORY_MB']
        if inputs.settings.check_disk:
            resources.append('DISK_GB')
        demand = inputs.settings.extension.demand
        demands = [
            demand(instance, inputs.snapshot, inputs.settings)
            or instance.demand
            for instance in inputs.instances
        ]
        constraint = cls(demands, inputs.hosts, resources)
        if inputs.snapshot.events:
            index = inputs.index
            for uuid, name in in_flight.unclaimed(inputs.snapshot):
                constraint.reserve(index.instance[uuid], index.host[name])
        return constraint

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """As much more room as it lacks."""
        headroom = dict(case.snapshot.hosts[pair.destination].headroom or {})
        had = headroom.get(reason.about, Headroom(0, 0))
        more = int(reason.value)
        headroom[reason.about] = Headroom(had.capacity + more, had.used)
        return edits.with_host(case, pair.destination, headroom=headroom)

    def reserve(self, instance: int, host: int) -> None:
        """Reserve the resources of a move of others, not claimed so far."""
        for need, free in zip(self._need, self._free, strict=True):
            free[host] -= need[instance]

    def free_capacities(self) -> list[tuple[IntArray, IntArray]]:
        """Per resource what each instance needs [V] and is free [H]."""
        return [
            (need.copy(), free.copy())
            for need, free in zip(self._need, self._free, strict=True)
        ]

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        against: list[Reason] = []
        for number, name in enumerate(self._resources):
            need, free = self._need[number][instance], self._free[number][host]
            if reason := free_capacity.why_not(name, int(need), int(free)):
                against.append(reason)
        return against

    def rows(self, instances: IntArray) -> BoolArray:
        mask = np.ones((len(instances), self._shape[1]), dtype=bool)
        for need, free in zip(self._need, self._free, strict=True):
            mask &= free_capacity.fits(need[instances][:, None], free)
        return mask

    def column(self, host: int) -> BoolArray:
        mask = np.ones(self._shape[0], dtype=bool)
        for need, free in zip(self._need, self._free, strict=True):
            mask &= free_capacity.fits(need, free[host])
        return mask

    def takes_all(self, instances: IntArray, host: int) -> bool:
        return all(
            bool(free_capacity.fits(need[instances].sum(), free[host]))
            for need, free in zip(self._need, self._free, strict=True)
        )

    def limit(self, limits: PlacementLimits) -> None:
        limits.needs += [need[limits.instances] for need in self._need]
        limits.free += [free[limits.hosts] for free in self._free]

    def follow(self, instance: int, source: int, destination: int) -> None:
        for need, free in zip(self._need, self._free, strict=True):
            free[source] += need[instance]
            free[destination] -= need[instance]
