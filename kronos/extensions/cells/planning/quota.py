# SPDX-License-Identifier: Apache-2.0
"""The quota constraint: what a project may still use of larger flavors."""

from collections.abc import Mapping
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import needs_of
from kronos.extensions.cells.planning import flavors
from kronos.extensions.cells.planning.flavors import NO_LIMIT, RESOURCES


class Quota(Constraint):
    """A project has quota for the larger flavors of what moves.

    :param projects: [V], of the instances
    :param needs: [V], what each takes beyond what it has, by resource
    :param left: by project and resource; absent: no limit
    :param homes: [V], where each instance is before the plan
    """

    codes = frozenset({Code.QUOTA})
    is_lasting = False

    def __init__(
        self,
        projects: list[str],
        needs: list[dict[str, int]],
        quota: Mapping[str, Mapping[str, int]],
        homes: list[int],
        hosts: int,
    ) -> None:
        super().__init__(len(projects), hosts)
        self._homes = homes
        names = {
            name: position for position, name in enumerate(sorted({*projects}))
        }
        self._of: IntArray = np.array(
            [names[project] for project in projects], dtype=np.intp
        )
        """[V], the position of the project of each"""
        self._need = {
            resource: np.array([need.get(resource, 0) for need in needs])
            for resource in RESOURCES
        }
        """Per resource, [V]"""
        self._left = {
            resource: np.array(
                [quota.get(name, {}).get(resource, NO_LIMIT) for name in names]
            )
            for resource in RESOURCES
        }
        """Per resource, [P]"""

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        snapshot, drain = inputs.snapshot, cell_drain.of(inputs.settings)
        quota = needs_of(snapshot).quota_left
        if drain is None or drain.flavor_map is None or not quota:
            return None
        needs = [
            flavors.more_quota(instance, snapshot, inputs.settings)
            for instance in inputs.instances
        ]
        if not any(needs):
            return None
        projects = [instance.project_id for instance in inputs.instances]
        homes = inputs.host_of.tolist()
        return cls(projects, needs, quota, homes, inputs.shape[1])

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """As much more quota as the project lacks."""
        project = case.snapshot.instances[pair.instance].project_id
        quota = dict(needs_of(case.snapshot).quota_left)
        had = quota.get(project, {})
        more = had.get(reason.about, 0) + int(reason.value)
        quota[project] = had | {reason.about: more}
        return edits.with_beside(case, cell_drain.NAME, quota_left=quota)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        project = self._of[instance]
        return flavors.quota_reasons(
            {name: int(self._need[name][instance]) for name in RESOURCES},
            {name: int(self._left[name][project]) for name in RESOURCES},
        )

    def rows(self, instances: IntArray) -> BoolArray:
        column = self._fits(instances)[:, None]
        return np.repeat(column, self._shape[1], axis=1)

    def column(self, host: int) -> BoolArray:
        return self._fits(np.arange(self._shape[0]))

    def _fits(self, instances: IntArray) -> BoolArray:
        fits = np.ones(len(instances), dtype=bool)
        for name in RESOURCES:
            need = self._need[name][instances]
            quota = self._left[name][self._of[instances]]
            fits &= need <= np.maximum(quota, 0)
        return fits

    def follow(self, instance: int, source: int, destination: int) -> None:
        """It has its new flavor wherever it is, but where it came from."""
        home = self._homes[instance]
        taken = (destination != home) - (source != home)
        for name in RESOURCES:
            quota = self._left[name]
            if quota[self._of[instance]] != NO_LIMIT:
                quota[self._of[instance]] -= taken * self._need[name][instance]
