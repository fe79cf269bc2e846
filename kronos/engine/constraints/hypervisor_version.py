# SPDX-License-Identifier: Apache-2.0
"""The hypervisor version constraint: no live migration to an older one."""

from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import hosts
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class HypervisorVersion(Constraint):
    """A host has no older hypervisor than the instance runs on now.

    :param versions: [H], as Nova numbers them; 0 where one is not known
    :param host_of: [V], shared with who moves the instances
    """

    codes = frozenset({Code.HYPERVISOR_OLDER})
    # Nova compares versions for live migrations alone.
    binds_rebuilds = False

    def __init__(self, versions: IntArray, host_of: IntArray) -> None:
        super().__init__(len(host_of), len(versions))
        self._versions = versions
        self._host_of = host_of
        self._homes: IntArray = host_of.copy()
        distinct, self._number = np.unique(versions, return_inverse=True)
        self._allowed: BoolArray = np.array(
            [
                [not hosts.is_older(version, home) for version in distinct]
                for home in distinct
            ],
            dtype=bool,
        )
        """From one version to another, by their numbers."""

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        versions = [host.hypervisor_version for host in inputs.hosts]
        is_mixed = len({*versions} - {0}) > 1
        if not (is_mixed and inputs.settings.check_hypervisor_version):
            return None
        return cls(np.array(versions, dtype=np.intp), inputs.host_of)

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        """The host is as new as that of the instance."""
        source = case.snapshot.hosts[pair.source]
        return edits.with_host(
            case,
            pair.destination,
            hypervisor_version=source.hypervisor_version,
        )

    def why_not(self, instance: int, host: int) -> Reason | None:
        return hosts.why_older(
            int(self._versions[host]),
            int(self._versions[self._host_of[instance]]),
        )

    def rows(self, instances: IntArray) -> BoolArray:
        homes = self._number[self._host_of[instances]]
        return self._allowed[homes][:, self._number]

    def column(self, host: int) -> BoolArray:
        return self._from(self._host_of, host)

    def ever(self, host: int) -> BoolArray:
        """By where they were: a trial takes moves back."""
        return self._from(self._homes, host)

    def _from(self, host_of: IntArray, host: int) -> BoolArray:
        allowed = self._allowed[:, self._number[host]]
        return allowed[self._number[host_of]]
