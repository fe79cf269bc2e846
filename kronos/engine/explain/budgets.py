# SPDX-License-Identifier: Apache-2.0
"""The larger budgets that a remedy proposes for a plan that is cut off.

Of the plan, or of its migrations for balance if ``canary_moves`` limits them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kronos.engine.effect import use
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.planning.scope_planner import budget_in_force, under_way
from kronos.engine.types import AggregateResult, PlanningInput
from kronos.policies.models import Mode

NEXT_BUDGETS = 12
"""So many budgets are proposed one by one; further ones by leaps."""
LEAPS = range(1, 13)
"""The powers of two by which they are larger."""


@dataclass(frozen=True)
class Budget:
    """Settings that allow a plan more migrations."""

    text: str
    overrides: dict[str, str] = field(default_factory=dict)
    """Values as text by option of ``[kronos]``."""
    max_migrations: int | None = None


def larger(
    case: PlanningInput, result: AggregateResult, verdict: Verdict
) -> Iterator[Budget]:
    """Of one move more, and so on.

    A host that is emptied whole takes as many as it has.
    """
    used = {policy.name for policy in result.policies if not policy.skipped}
    policies = [policy for policy in case.policies if policy.name in used]
    in_force = budget_in_force(case.settings, policies or case.policies)
    busy = len(under_way(case.snapshot, case.settings))
    planned = len(result.steps) + busy
    budget = max(in_force, planned)
    numbers = [
        *range(1, NEXT_BUDGETS + 1),
        *(NEXT_BUDGETS * 2**n for n in LEAPS),
    ]
    if case.policies[0].mode is Mode.PACK:
        hosts = [instance.host for instance in result.instances.values()]
        numbers.insert(1, hosts.count(verdict.source))
    is_canary = verdict.phase is not None and use.is_spent(
        result, verdict.phase, case.policies[0].mode, case.settings
    )
    for more in dict.fromkeys(numbers):
        if is_canary:
            total = planned + more
            yield _canary(
                case.settings.canary_moves + more,
                None if total <= in_force or _is_unlimited(case) else total,
            )
        else:
            yield Budget(_of_plan(budget + more), {}, budget + more)


def _canary(number: int, total: int | None) -> Budget:
    text = f'Raise canary_moves to {number}: use_effect limits the plan.'
    if total is not None:
        text = f'{text} {_of_plan(total)}'
    return Budget(text, {'canary_moves': f'{number}'}, total)


def _of_plan(number: int) -> str:
    return (
        'Raise max_migrations of the audit, or max_migrations_per_cycle of '
        f'the policies, to {number}.'
    )


def _is_unlimited(case: PlanningInput) -> bool:
    settings = case.settings
    return settings.max_migrations is None and settings.unlimited
