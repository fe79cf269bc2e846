# SPDX-License-Identifier: Apache-2.0
"""The constraints of a phase together: who may go where, and why not.

All phases ask the same object. It follows the plan, so every answer is
about the placement that the earlier steps leave.
"""

import contextlib
from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.constraints.availability_zone import PinnedZone, SameZone
from kronos.engine.constraints.base import (
    Constraint,
    ConstraintInput,
    PlacementLimits,
)
from kronos.engine.constraints.capacity_ceiling import CapacityCeiling
from kronos.engine.constraints.cell import SameCell
from kronos.engine.constraints.disruption_budget import DisruptionBudget
from kronos.engine.constraints.headroom import HeadroomConstraint
from kronos.engine.constraints.host_status import HostStatus
from kronos.engine.constraints.hypervisor_version import HypervisorVersion
from kronos.engine.constraints.minimum_stay import MinimumStay
from kronos.engine.constraints.owner_consent import OwnerConsent
from kronos.engine.constraints.return_guard import ReturnGuard
from kronos.engine.constraints.same_host import SameHost
from kronos.engine.constraints.server_group import (
    HardServerGroups,
    ServerGroupConstraint,
    SoftServerGroups,
)
from kronos.engine.constraints.stuck_destination import StuckDestination
from kronos.engine.constraints.vtpm import VtpmTraits
from kronos.engine.extension import PLAIN, Extension, ReasonCode
from kronos.engine.phase_rules import SoftGroups
from kronos.engine.reasons import Reason

CONSTRAINTS: tuple[type[Constraint], ...] = (
    SameHost,
    HostStatus,
    PinnedZone,
    # First of those that look at who is on its way: lifted, it may lift
    # them as well.
    StuckDestination,
    SameCell,
    SameZone,
    VtpmTraits,
    HypervisorVersion,
    HeadroomConstraint,
    HardServerGroups,
    SoftServerGroups,
    CapacityCeiling,
    ReturnGuard,
    MinimumStay,
    OwnerConsent,
    DisruptionBudget,
)
"""Those of the trunk, in the order in which their reasons are given."""


def constraint_of(
    code: ReasonCode, extension: Extension = PLAIN
) -> type[Constraint] | None:
    """The constraint whose reasons have a code; None if there is none."""
    every = extension.constraints(CONSTRAINTS)
    return next(
        (constraint for constraint in every if code in constraint.codes), None
    )


class ConstraintSet:
    """Constraints of which each must agree.

    One class, since every question goes to the same list.

    :param constraints: in the order in which their reasons are given
    :param soft: the one of them that a penalty may outweigh, if any
    """

    def __init__(
        self,
        constraints: Sequence[Constraint],
        soft: ServerGroupConstraint | None = None,
    ) -> None:
        self._constraints = list(constraints)
        self._soft = soft

    def why_not(self, instance: int, host: int) -> Reason | None:
        """The first reason against a move now; None if it is legal."""
        for constraint in self._constraints:
            if reason := constraint.why_not(instance, host):
                return reason
        return None

    def reasons(
        self, instance: int, host: int, hard: bool = False
    ) -> list[Reason]:
        """All that each has against a move now, in their order.

        :param hard: without the one that a penalty may outweigh
        """
        chosen = self._hard() if hard else self._constraints
        return [
            reason
            for constraint in chosen
            for reason in constraint.reasons(instance, host)
        ]

    def refusals(self, instance: int) -> list[tuple[int, Reason]]:
        """How many hosts each refuses that no earlier one did.

        With its reason for the first of them.
        """
        instances = np.array([instance])
        refused = []
        remaining: BoolArray | None = None
        for constraint in self._constraints:
            allowed = constraint.rows(instances)[0]
            if remaining is None:
                remaining = np.ones(len(allowed), dtype=bool)
            hosts = np.flatnonzero(remaining & ~allowed)
            reason = (
                constraint.why_not(instance, int(hosts[0]))
                if hosts.size
                else None
            )
            if reason:
                refused.append((int(hosts.size), reason))
            remaining &= allowed
        return refused

    def rows(self, instances: IntArray) -> BoolArray:
        """[n, H]: where each of n instances may go."""
        return reduce(
            np.logical_and,
            (constraint.rows(instances) for constraint in self._constraints),
        )

    def column(self, host: int) -> BoolArray:
        """[V]: which instances may come to a host."""
        return reduce(
            np.logical_and,
            (constraint.column(host) for constraint in self._constraints),
        )

    def ever(self, host: int) -> BoolArray:
        """[V]: which instances a host may take at some time of a plan.

        As :meth:`hard_column`, as far as no move changes it; what moves do
        change, :meth:`free_capacities` and :meth:`apart` say.
        """
        return reduce(
            np.logical_and,
            (constraint.ever(host) for constraint in self._hard()),
        )

    def free_capacities(self) -> list[tuple[IntArray, IntArray]]:
        """Per resource what each instance needs [V] and is free [H]."""
        return [
            pair
            for constraint in self._constraints
            if isinstance(constraint, HeadroomConstraint)
            for pair in constraint.free_capacities()
        ]

    def ceilings(self) -> list[tuple[FloatArray, FloatArray]]:
        """Per policy what instances use [V] and hosts may take more [H]."""
        return [
            pair
            for constraint in self._constraints
            if isinstance(constraint, CapacityCeiling)
            for pair in constraint.free_capacities()
        ]

    def apart(self) -> list[tuple[list[int], dict[int, int], int]]:
        """The groups whose members are apart, without what has a price.

        :returns: as :meth:`.ServerGroupConstraint.apart`
        """
        return [
            group
            for constraint in self._hard()
            if isinstance(constraint, ServerGroupConstraint)
            for group in constraint.apart()
        ]

    def together(self) -> set[int]:
        """Who waits for others to come to a host, and not for room alone."""
        return {
            member
            for constraint in self._hard()
            if isinstance(constraint, ServerGroupConstraint)
            for member in constraint.together()
        }

    def takes_all(self, instances: IntArray, host: int) -> bool:
        """Whether there is room for all of them at once, if for each."""
        return all(
            constraint.takes_all(instances, host)
            for constraint in self._constraints
        )

    def hard_rows(self, instances: IntArray) -> BoolArray:
        """As :meth:`rows`, without the one that a penalty may outweigh."""
        return reduce(
            np.logical_and,
            (constraint.rows(instances) for constraint in self._hard()),
        )

    def hard_column(self, host: int) -> BoolArray:
        """As :meth:`column`, in the same way."""
        return reduce(
            np.logical_and,
            (constraint.column(host) for constraint in self._hard()),
        )

    def limits(self, instances: IntArray, hosts: IntArray) -> PlacementLimits:
        """Where some instances may end, of some hosts."""
        limits = PlacementLimits(instances, hosts)
        for constraint in self._constraints:
            constraint.limit(limits)
        return limits

    def _hard(self) -> list[Constraint]:
        return [
            constraint
            for constraint in self._constraints
            if constraint is not self._soft
        ]

    def soft_breaks_rows(self, instances: IntArray) -> IntArray:
        """[n, H]: how many soft rules n instances break, host by host.

        Of those that a penalty may outweigh; 0 where soft rules veto.
        """
        if self._soft is None:
            hosts = self._constraints[0].shape[1]
            return np.zeros((len(instances), hosts), dtype=np.intp)
        return self._soft.breaks_rows(instances)

    def soft_breaks_column(self, host: int) -> IntArray:
        """[V]: the same of every instance at one host."""
        if self._soft is None:
            return np.zeros(self._constraints[0].shape[0], dtype=np.intp)
        return self._soft.breaks_column(host)

    def within_budgets(self, instances: IntArray) -> BoolArray:
        """[n]: which of n instances disruption budgets allow to move now."""
        return reduce(
            np.logical_and,
            (
                constraint.within(instances)
                for constraint in self._constraints
                if isinstance(constraint, DisruptionBudget)
            ),
            np.ones(len(instances), dtype=bool),
        )

    @property
    def weighs_soft_rules(self) -> bool:
        """Whether there are rules that a penalty may outweigh."""
        return self._soft is not None

    @contextlib.contextmanager
    def repairing(self, group: str) -> Iterator[None]:
        """Let members of one group join any other of theirs, inside.

        :param group: its uuid; '': of none
        """
        grouped = self._grouped()
        for constraint in grouped:
            constraint.repairing = group
        try:
            yield
        finally:
            for constraint in grouped:
                constraint.repairing = ''

    @contextlib.contextmanager
    def without_hosts(self, hosts: Sequence[int]) -> Iterator['ConstraintSet']:
        """The constraints of a rebuild of what is on hosts, were they lost.

        Both share what they follow: who leads these through a trial takes
        it back before the end.
        """
        grouped = [
            constraint
            for constraint in self._grouped()
            if constraint.binds_rebuilds
        ]
        for constraint in grouped:
            constraint.lose(hosts)
        try:
            yield ConstraintSet(
                [
                    constraint
                    for constraint in self._constraints
                    if constraint.binds_rebuilds
                ]
            )
        finally:
            for constraint in grouped:
                constraint.lose(())

    def _grouped(self) -> list[ServerGroupConstraint]:
        return [
            constraint
            for constraint in self._constraints
            if isinstance(constraint, ServerGroupConstraint)
        ]

    def follow(self, instance: int, source: int, destination: int) -> None:
        """Take note of a move; the opposite move takes it back."""
        for constraint in self._constraints:
            constraint.follow(instance, source, destination)


def build(inputs: ConstraintInput) -> ConstraintSet:
    """The constraints of a scope in one phase."""
    every = inputs.settings.extension.constraints(CONSTRAINTS)
    built = [
        constraint.build(inputs)
        for constraint in every
        if constraint.subject(inputs)
    ]
    constraints = [
        constraint for constraint in built if constraint is not None
    ]
    if inputs.rules.soft_groups is not SoftGroups.PRICED:
        return ConstraintSet(constraints)
    soft = (
        constraint
        for constraint in constraints
        if isinstance(constraint, SoftServerGroups)
    )
    return ConstraintSet(constraints, next(soft, None))
