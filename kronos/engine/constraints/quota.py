# SPDX-License-Identifier: Apache-2.0
"""The quota constraint: what a project may still use of larger flavors."""

from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import flavors
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class Quota(Constraint):
    """A project has quota for the larger flavors of what moves.

    :param projects: [V], of the instances
    :param needs: [V], what each takes beyond what it has, by resource
    :param left: by project and resource; absent: no limit
    :param homes: [V], where each instance is before the plan
    """

    codes = frozenset({Code.QUOTA})

    def __init__(
        self,
        projects: list[str],
        needs: list[dict[str, int]],
        left: dict[str, dict[str, int]],
        homes: list[int],
        hosts: int,
    ) -> None:
        super().__init__(len(projects), hosts)
        self._homes = homes
        self._projects = projects
        self._needs = needs
        self._left = {name: dict(rest) for name, rest in left.items()}

    @classmethod
    def build(cls, given: ConstraintInput) -> Self | None:
        snapshot, drain = given.snapshot, given.settings.cell_drain
        if drain is None or drain.flavor_map is None:
            return None
        needs = [
            flavors.more_quota(one, snapshot, given.settings)
            for one in given.instances
        ]
        if not any(needs):
            return None
        projects = [one.project_id for one in given.instances]
        homes = given.host_of.tolist()
        left = snapshot.quota_left
        return cls(projects, needs, left, homes, given.shape[1])

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """As much more quota as the project lacks."""
        project = case.snapshot.instances[pair.instance].project_id
        left = dict(case.snapshot.quota_left)
        had = left.get(project, {})
        more = had.get(reason.about, 0) + int(reason.value)
        left[project] = had | {reason.about: more}
        return edits.with_snapshot(case, quota_left=left)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        left = self._left.get(self._projects[instance], {})
        return [
            Reason(
                f'its new flavor needs {need} more of the quota {name} of '
                f'its project, {max(left[name], 0)} are left',
                Code.QUOTA,
                name,
                float(need - left[name]),
            )
            for name, need in self._needs[instance].items()
            if name in left and need > left[name]
        ]

    def rows(self, instances: IntArray) -> BoolArray:
        fits = [not self.reasons(one, 0) for one in instances.tolist()]
        column = np.array(fits, dtype=bool)[:, None]
        return np.repeat(column, self._shape[1], axis=1)

    def column(self, host: int) -> BoolArray:
        everyone = range(self._shape[0])
        return np.array([not self.reasons(one, host) for one in everyone])

    def follow(self, instance: int, source: int, destination: int) -> None:
        """It has its new flavor wherever it is, but where it came from."""
        home = self._homes[instance]
        taken = (destination != home) - (source != home)
        left = self._left.get(self._projects[instance], {})
        for name, need in self._needs[instance].items():
            if name in left:
                left[name] -= taken * need
