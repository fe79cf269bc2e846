# SPDX-License-Identifier: Apache-2.0
"""The budgets that limit more than they seem to, and phases without any."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from kronos.cmd.checks.findings import Findings, option
from kronos.common import exceptions, plain_text
from kronos.common.plugins import extensions
from kronos.engine import wording
from kronos.engine.eligibility import budgets
from kronos.engine.eligibility.budgets import Account, BudgetKind
from kronos.engine.extension import Extension
from kronos.engine.settings import Settings
from kronos.engine.types import MigrationPhase, Snapshot
from kronos.policies.models import Mode, Policy


def check_phases(kronos: Any, findings: Findings) -> None:
    """Report names in ``budget_exempt`` that no phase has.

    :param kronos: the group ``[kronos]``
    """
    try:
        phases = _phases()
    except exceptions.ConfigurationError:
        return  # An extension that is found missing elsewhere has some.
    if unknown := sorted(set(kronos.budget_exempt) - phases):
        findings.warning(
            'budget-exempt-unknown',
            f'budget_exempt has no phase of a plan: {wording.some(unknown)}',
            f'name phases there: {", ".join(sorted(phases))}',
            because=[option('budget_exempt')],
        )


def _phases() -> set[str]:
    """Those of the trunk and of all extensions."""
    own = [phase.value for phase in MigrationPhase]
    kinds = [extensions.kind(name, Extension) for name in extensions.names()]
    return {*own, *(phase.value for kind in kinds for phase in kind.phases)}


def check(
    snapshots: Sequence[Snapshot],
    policies: Sequence[Policy],
    settings: Settings,
    findings: Findings,
) -> None:
    """Report budgets that leave no plan as many moves as it may have.

    Not even if none of their moves is used.

    :param policies: those in use, of one mode
    """
    if not policies:
        return
    packs = policies[0].mode is Mode.PACK
    phase = MigrationPhase.PACK if packs else MigrationPhase.SPREAD
    if budgets.is_exempt(settings, phase.value):
        return
    allowed = max(policy.max_migrations_per_cycle for policy in policies)
    for snapshot in snapshots:
        for kind, most in _most_moves(snapshot, settings).items():
            if most >= min(allowed, len(snapshot.instances)):
                continue
            findings.warning(
                'budget-plan',
                f'{kind.option} never lets more than '
                f'{wording.counted(most, "server")} of scope '
                f'{plain_text.line(snapshot.scope)} move in a plan, and '
                f'max_migrations_per_cycle is {allowed}',
                f'raise {kind.option}, or lower max_migrations_per_cycle',
                because=[option(kind.option)],
            )


def _most_moves(
    snapshot: Snapshot, settings: Settings
) -> dict[BudgetKind, int]:
    """By kind how many servers of a scope all its unused budgets let move."""
    instances = snapshot.instances
    unused = budgets.ScopeBudgets(
        dataclasses.replace(snapshot, disruptions=[]), settings
    )
    accounts: dict[BudgetKind, list[tuple[Account, list[int]]]] = {}
    for account, numbers in unused.accounts:
        accounts.setdefault(account.kind, []).append((account, numbers))
    return {
        kind: len(instances)
        - sum(
            max(0, len(numbers) - account.free) for account, numbers in of_kind
        )
        for kind, of_kind in accounts.items()
    }
