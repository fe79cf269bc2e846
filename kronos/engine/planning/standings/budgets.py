# SPDX-License-Identifier: Apache-2.0
"""The standings of the disruption budgets: what a plan takes and leaves."""

from collections import Counter
from collections.abc import Iterable

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
    moved = {step.instance for step in result.steps}
    planned = Counter(
        (account.kind, account.key)
        for uuid in moved & snapshot.instances.keys()
        for account in scope.every.of(snapshot.instances[uuid])
    )
    rows: dict[str, BudgetStanding] = {}
    for (account, numbers), free in zip(
        scope.accounts, scope.free, strict=True
    ):
        row = rows.get(account.kind)
        if row is None:
            row = rows[account.kind] = BudgetStanding(account.kind.value)
        row.used += account.used
        row.free += max(0, free)
        taken = planned.get((account.kind, account.key), 0)
        if free <= taken:
            uuids = (scope.uuids[number] for number in numbers)
            if left_out := _left_out(result, uuids):
                row.full.append(_full(account, taken, left_out))
    for (kind, _), taken in planned.items():
        rows.setdefault(kind, BudgetStanding(kind.value)).planned += taken
    if scope.unused:
        kind = BudgetKind.INSTANCE
        row = rows.setdefault(kind, BudgetStanding(kind.value))
        row.free += scope.unused
    for row in rows.values():
        row.full.sort(key=lambda full: (-full.instances, full.key))
    return [rows[kind] for kind in BudgetKind if kind in rows]


def _left_out(result: AggregateResult, uuids: Iterable[str]) -> int:
    """How many instances stay because of a budget."""
    reasons = (result.stayed.get(uuid) for uuid in uuids)
    return sum(
        reason is not None and reason.code is Code.DISRUPTION_BUDGET
        for reason in reasons
    )


def _full(account: Account, planned: int, left_out: int) -> FullBudget:
    """An account that a plan leaves no move.

    :param planned: moves that the plan has
    :param left_out: instances that it leaves out because of it
    """
    is_full = account.window_is_full(planned)
    return FullBudget(
        account.key,
        str(account.reason(planned)),
        account.free_at(planned) if is_full else None,
        left_out,
    )
