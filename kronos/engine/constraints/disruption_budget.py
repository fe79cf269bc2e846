# SPDX-License-Identifier: Apache-2.0
"""The disruption budget: no more moves than a project, group or server may."""

import itertools
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import budgets
from kronos.engine.eligibility.budgets import BudgetKind, ScopeBudgets
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class DisruptionBudget(Constraint):
    """An instance moves only if all budgets that count it have a move free.

    :param scope: the budgets before the plan
    :param home_of: where an instance is before the plan, by its position
    """

    codes = frozenset({Code.DISRUPTION_BUDGET})
    binds_rebuilds = False
    is_lasting = False

    def __init__(
        self,
        scope: ScopeBudgets,
        home_of: Callable[[int], int],
        hosts: int,
    ) -> None:
        instances = len(scope.uuids)
        super().__init__(instances, hosts)
        self._home_of = home_of
        self._counts_instances = scope.every.counts_instances
        self._accounts = [account for account, _ in scope.accounts]
        none = len(self._accounts)
        members = [members for _, members in scope.accounts]
        self._of = _table(instances, members)
        """[V, A]: positions of the accounts; the last one is never full."""
        self._free: IntArray = np.array([*scope.free, 1], dtype=np.intp)
        self._planned = [0] * none
        """Moves of the plan by account."""
        self._is_home: BoolArray = np.ones(instances, dtype=bool)
        """[V]; one that has moved does so once: it may come back in trials,
        which take its move back."""
        self._within: BoolArray = np.ones(instances, dtype=bool)
        """[V]; few moves change it, and every search reads it."""
        self._refresh(np.arange(instances))

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        settings, snapshot = inputs.settings, inputs.snapshot
        if budgets.is_exempt(settings, inputs.rules.phase):
            return None
        scope = inputs.budgets or ScopeBudgets(snapshot, settings)

        def home_of(instance: int) -> int:
            """Not where it is now: an earlier phase may have moved it."""
            uuid = scope.uuids[instance]
            return inputs.index.host[snapshot.instances[uuid].host]

        return cls(scope, home_of, inputs.shape[1])

    @staticmethod
    def relax(case: PlanningInput, reason: Reason, _: Pair) -> PlanningInput:
        options: dict[str, object] = {reason.about: ''}
        if reason.about == BudgetKind.PROJECT.option:
            options['project_budgets'] = {}
        return edits.with_settings(case, **options)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        rows = self._row(instance)
        kinds = [self._accounts[row].kind for row in rows]
        if self._counts_instances:
            kinds.append(BudgetKind.INSTANCE)
        if kinds and not self._is_home[instance]:
            text = 'it moves once in a plan, since a budget counts its moves'
            return [Reason(text, Code.DISRUPTION_BUDGET, kinds[0].option)]
        return [
            self._accounts[account].reason(self._planned[account])
            for account in rows
            if self._free[account] <= 0
        ]

    def within(self, instances: IntArray) -> BoolArray:
        """[n]: which of n instances may still move."""
        within: BoolArray = self._within[instances]
        return within

    def rows(self, instances: IntArray) -> BoolArray:
        column = self.within(instances)[:, None]
        return np.repeat(column, self._shape[1], axis=1)

    def column(self, host: int) -> BoolArray:
        return self._within.copy()

    def takes_all(self, instances: IntArray, host: int) -> bool:
        needs = np.bincount(
            self._of[instances].ravel(), minlength=len(self._free)
        )[:-1]
        return bool((needs <= np.maximum(self._free[:-1], 0)).all())

    def follow(self, instance: int, source: int, destination: int) -> None:
        """It counts while it is not where it came from."""
        home = self._home_of(instance)
        self._is_home[instance] = destination == home
        taken = (destination != home) - (source != home)
        for account in self._row(instance) if taken else ():
            was_free = self._free[account] > 0
            self._free[account] -= taken
            self._planned[account] += taken
            if was_free != (self._free[account] > 0):
                members = np.any(self._of == account, axis=1)
                self._refresh(np.flatnonzero(members))
        self._refresh(np.array([instance]))

    def _row(self, instance: int) -> list[int]:
        """Positions of the accounts of an instance."""
        none = len(self._accounts)
        return [row for row in self._of[instance].tolist() if row < none]

    def _refresh(self, instances: IntArray) -> None:
        """Decide again which of some instances may still move."""
        accounts = self._of[instances]
        is_free = np.logical_and.reduce(self._free[accounts] > 0, axis=1)
        is_counted = np.any(accounts < len(self._accounts), axis=1)
        is_counted |= self._counts_instances
        is_home = self._is_home[instances]
        self._within[instances] = is_free & (is_home | ~is_counted)


def _table(instances: int, accounts: Sequence[Sequence[int]]) -> IntArray:
    """[V, A]: positions of the accounts of each instance, in their order.

    :param accounts: the instances of each; their number is for no account
    """
    members = np.fromiter(itertools.chain.from_iterable(accounts), np.intp)
    sizes = np.array([len(row) for row in accounts], dtype=np.intp)
    order = np.argsort(members, kind='stable')
    members = members[order]
    rank = np.arange(len(members)) - np.searchsorted(members, members)
    most = int(rank.max(initial=-1)) + 1
    table: IntArray = np.full((instances, most), len(accounts), dtype=np.intp)
    table[members, rank] = np.repeat(np.arange(len(accounts)), sizes)[order]
    return table
