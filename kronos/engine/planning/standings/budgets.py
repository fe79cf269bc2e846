# SPDX-License-Identifier: Apache-2.0
"""The standings of the disruption budgets: what a plan takes and leaves."""

from collections.abc import Sequence
from dataclasses import dataclass

from kronos.engine.eligibility import budgets
from kronos.engine.eligibility.budgets import (
    Account,
    BudgetKind,
    BudgetOptions,
    ScopeBudgets,
)
from kronos.engine.reasons import Code
from kronos.engine.types import (
    AggregateResult,
    BudgetStanding,
    FullBudget,
    Snapshot,
)


@dataclass
class _Tally:
    """What a plan takes of an account, and leaves out because of it."""

    account: Account
    free_before: int
    planned: int = 0
    left_out: int = 0

    def full(self) -> FullBudget:
        account, planned = self.account, self.planned
        is_full = account.window_is_full(planned)
        return FullBudget(
            account.key,
            str(account.reason(planned)),
            account.free_at(planned) if is_full else None,
            self.left_out,
        )


def of_plan(
    result: AggregateResult,
    snapshot: Snapshot,
    options: BudgetOptions,
    scope: ScopeBudgets | None = None,
) -> list[BudgetStanding]:
    """By kind how the budgets of a scope stand after its plan.

    :param scope: its budgets, if they were made before
    """
    if not budgets.is_limited(options):
        return []
    scope = scope or ScopeBudgets(snapshot, options)
    every = scope.every
    tallies = {
        (account.kind, account.key): _Tally(account, free)
        for (account, _), free in zip(scope.accounts, scope.free, strict=True)
    }
    moved = {step.instance for step in result.steps}
    left_out = {
        uuid
        for uuid, why in result.stayed.items()
        if why.code is Code.DISRUPTION_BUDGET
    }
    for uuid in (moved | left_out) & snapshot.instances.keys():
        for account in every.of(snapshot.instances[uuid]):
            key = account.kind, account.key
            tally = tallies.setdefault(key, _Tally(account, account.free))
            tally.planned += uuid in moved
            tally.left_out += uuid in left_out
    by_kind: dict[BudgetKind, list[_Tally]] = {kind: [] for kind in BudgetKind}
    for tally in tallies.values():
        by_kind[tally.account.kind].append(tally)
    # The others have an account of their own that nothing has touched.
    unused = every.unused(BudgetKind.INSTANCE)
    others = len(snapshot.instances) - len(by_kind[BudgetKind.INSTANCE])
    rest = {BudgetKind.INSTANCE: unused.free * others if unused else 0}
    rows = (
        _standing(kind, by_kind[kind], rest.get(kind, 0))
        for kind in BudgetKind
    )
    return [row for row in rows if row is not None]


def _standing(
    kind: BudgetKind, tallies: Sequence[_Tally], rest: int
) -> BudgetStanding | None:
    """How the budgets of a kind stand.

    :param rest: free moves of the accounts that have no tally
    """
    if not tallies and not rest:
        return None
    full = [
        tally.full()
        for tally in tallies
        if tally.left_out and tally.free_before <= tally.planned
    ]
    return BudgetStanding(
        kind.value,
        sum(tally.account.used for tally in tallies),
        rest + sum(max(0, tally.free_before) for tally in tallies),
        sum(tally.planned for tally in tallies),
        sorted(full, key=lambda row: (-row.instances, row.key)),
    )
