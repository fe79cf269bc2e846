# SPDX-License-Identifier: Apache-2.0
"""The disruption budget: no more moves than a project, group or server may."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from kronos.engine import edits
from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.constraints.base import Constraint, ConstraintInput
from kronos.engine.edits import Pair
from kronos.engine.eligibility import budgets
from kronos.engine.eligibility.budgets import Account, BudgetKind, Budgets
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput


class DisruptionBudget(Constraint):
    """An instance moves only if all budgets that count it have a move free.

    :param accounts: per instance those that limit it [V]
    :param homes: [V], where each instance is before the plan
    :param counts_instances: whether every instance has a budget of its own
    """

    codes = frozenset({Code.DISRUPTION_BUDGET})
    binds_rebuilds = False
    is_lasting = False

    def __init__(
        self,
        accounts: Sequence[Sequence[Account]],
        homes: list[int],
        hosts: int,
        counts_instances: bool = False,
    ) -> None:
        super().__init__(len(accounts), hosts)
        self._homes = homes
        self._counts_instances = counts_instances
        every = {id(account): account for row in accounts for account in row}
        position = {key: number for number, key in enumerate(every)}
        self._accounts = list(every.values())
        self._rows = [
            [position[id(account)] for account in row] for row in accounts
        ]
        most = max(map(len, self._rows), default=0)
        none = len(every)
        self._of: IntArray = np.array(
            [row + [none] * (most - len(row)) for row in self._rows],
            dtype=np.intp,
        ).reshape(len(accounts), most)
        """[V, A]: positions of the accounts; the last one is never full."""
        self._free: IntArray = np.array(
            [*(account.free for account in self._accounts), 1], dtype=np.intp
        )
        self._planned = [0] * none
        """Moves of the plan by account."""
        self._is_home: BoolArray = np.ones(len(accounts), dtype=bool)
        """[V]; one that has moved does so once: it may come back in trials,
        which take its move back."""

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        settings, snapshot = inputs.settings, inputs.snapshot
        if budgets.is_exempt(settings, inputs.rules.phase):
            return None
        every = Budgets(
            settings, snapshot.disruptions, snapshot.groups, snapshot.taken_at
        )
        accounts = [every.limiting(instance) for instance in inputs.instances]
        # Not where they are now: earlier phases have moved some.
        host = inputs.index.host
        homes = [host[instance.host] for instance in inputs.instances]
        hosts = inputs.shape[1]
        return cls(accounts, homes, hosts, every.counts_instances)

    @staticmethod
    def relax(case: PlanningInput, reason: Reason, _: Pair) -> PlanningInput:
        options: dict[str, object] = {reason.about: ''}
        if reason.about == BudgetKind.PROJECT.option:
            options['project_budgets'] = {}
        return edits.with_settings(case, **options)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        kinds = [self._accounts[row].kind for row in self._rows[instance]]
        if self._counts_instances:
            kinds.append(BudgetKind.INSTANCE)
        if kinds and not self._is_home[instance]:
            text = 'it moves once in a plan, since a budget counts its moves'
            return [Reason(text, Code.DISRUPTION_BUDGET, kinds[0].option)]
        return [
            self._accounts[account].reason(self._planned[account])
            for account in self._rows[instance]
            if self._free[account] <= 0
        ]

    def within(self, instances: IntArray) -> BoolArray:
        """[n]: which of n instances may still move."""
        accounts = self._of[instances]
        is_free = np.logical_and.reduce(self._free[accounts] > 0, axis=1)
        is_counted = np.any(accounts < len(self._accounts), axis=1)
        is_counted |= self._counts_instances
        within: BoolArray = is_free & (self._is_home[instances] | ~is_counted)
        return within

    def rows(self, instances: IntArray) -> BoolArray:
        column = self.within(instances)[:, None]
        return np.repeat(column, self._shape[1], axis=1)

    def column(self, host: int) -> BoolArray:
        return self.within(np.arange(self._shape[0]))

    def takes_all(self, instances: IntArray, host: int) -> bool:
        needs = np.bincount(
            self._of[instances].ravel(), minlength=len(self._free)
        )[:-1]
        return bool((needs <= np.maximum(self._free[:-1], 0)).all())

    def follow(self, instance: int, source: int, destination: int) -> None:
        """It counts while it is not where it came from."""
        home = self._homes[instance]
        self._is_home[instance] = destination == home
        taken = (destination != home) - (source != home)
        if taken:
            for account in self._rows[instance]:
                self._free[account] -= taken
                self._planned[account] += taken
