# SPDX-License-Identifier: Apache-2.0
"""The limits of a plan on the page: window, disruption budgets, consent."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.reports.html import unmoved
from kronos.reports.html.hosts import InstanceHosts
from kronos.reports.html.unmoved import Unmoved

FULL = 25
"""Budgets of one kind that are listed."""
CONSENTS = 40
"""Rows of consent."""
_WORDS = {
    'any': 'agrees to all moves',
    'window': 'agrees inside the window',
    'drain': 'agrees to drains and repairs',
    'never': 'agrees to no move',
    'unknown': 'unknown value, treated as never',
}


@dataclass
class FullBudget:
    key: str
    """Name of the server or group, or id of the project."""
    free_at: str
    """In UTC; '' if a move must end first."""
    instances: int


@dataclass
class BudgetRow:
    option: str
    used: int
    free: int
    planned: int
    full: list[FullBudget]
    unlisted: int


@dataclass
class ConsentRow:
    project: str
    words: str
    instances: int
    staying: list[Unmoved]
    unnamed: int
    """Servers that stay because of it and are not in ``staying``."""


@dataclass
class Limits:
    window: Mapping[str, Any] | None
    budgets: list[BudgetRow]
    consents: list[ConsentRow]
    unlisted: int
    """Rows of consent that are not in ``consents``."""


def limits(scope: Mapping[str, Any], where: InstanceHosts) -> Limits | None:
    """None: nothing limits it, or the report is from before limits."""
    window, budgets = scope.get('window'), scope.get('budgets') or []
    consents = scope.get('consents') or []
    if not (window or budgets or consents):
        return None
    names = where.names | {
        group['uuid']: group['name'] for group in scope['groups']
    }
    return Limits(
        window,
        [_budget(row, names) for row in budgets],
        [_consent(row, where) for row in consents[:CONSENTS]],
        max(0, len(consents) - CONSENTS),
    )


def _budget(row: Mapping[str, Any], names: Mapping[str, str]) -> BudgetRow:
    full: Sequence[Mapping[str, Any]] = row['full']
    return BudgetRow(
        f'{row["kind"]}_budget',
        row['used'],
        row['free'],
        row['planned'],
        [
            FullBudget(
                names.get(each['key']) or each['key'],
                _moment(each['free_at']),
                each['instances'],
            )
            for each in full[:FULL]
        ],
        max(0, len(full) - FULL),
    )


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return ''
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f'{moment:%Y-%m-%d %H:%M:%S} UTC'


def _consent(row: Mapping[str, Any], where: InstanceHosts) -> ConsentRow:
    staying: Sequence[str] = row['staying']
    named = unmoved.instances(staying[: unmoved.EXAMPLES], where)
    return ConsentRow(
        row['project'],
        _WORDS.get(row['kind'], row['kind']),
        row['instances'],
        named,
        len(staying) - len(named),
    )
