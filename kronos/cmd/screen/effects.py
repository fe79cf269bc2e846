# SPDX-License-Identifier: Apache-2.0
"""The effects of plans as a document, and as rows of a table."""

import datetime
from collections.abc import Sequence
from typing import Any

from kronos.common import durations, plain_text
from kronos.engine.effect import regression
from kronos.reports import effects
from kronos.snapshots.past import scope_effects
from kronos.snapshots.past.effects import PlanEffect
from kronos.snapshots.past.scope_effects import ScopeEffect

FORMAT_VERSION = 1
UNKNOWN = '-'
COLUMNS = (
    'Plan',
    'Made (UTC)',
    'State',
    'Scope',
    'Policy',
    'Predicted',
    'Realised',
    'Ratio',
    'Forecast',
    'Taken',
    'Note',
)
HOST_COLUMNS = ('Scope', 'Policy', 'Host', 'Predicted', 'Realised', 'Note')
NEVER_STARTED = 'not started: this came without its moves'


def document(
    plans: Sequence[PlanEffect], policies: Sequence[str]
) -> dict[str, Any]:
    """All that is known, for programs.

    :param plans: the newest first
    :param policies: names, in the order of the policies file
    """
    scopes = scope_effects.by_scope(plans, policies)
    return {
        'format_version': FORMAT_VERSION,
        'scopes': [_scope(name, scopes[name]) for name in sorted(scopes)],
        'plans': [effects.plan(plan, by_host=True) for plan in plans],
    }


def _scope(name: str, scope: ScopeEffect) -> dict[str, Any]:
    return {
        'name': name,
        'trust': scope.trust,
        'plans': regression.plans(scope.ratios),
        'policies': [effects.ratio(each) for each in scope.ratios],
    }


def sentences(whole: dict[str, Any]) -> list[str]:
    """One about each scope, and a blank line after them."""
    lines = []
    for scope in whole['scopes']:
        parts = [
            f'{policy["name"]} {policy["ratio"]:.2f} of the predicted change '
            f'({_plans(policy["plans"])}, trust {policy["trust"]:.2f})'
            for policy in scope['policies']
        ]
        name = plain_text.line(scope['name'])
        lines.append(f'Scope {name}: {"; ".join(parts)}')
    if not lines:
        return ['Watcher has no action plan of Kronos.']
    return [*lines, '']


def _plans(number: int) -> str:
    return f'{number} measured plan{"" if number == 1 else "s"}'


def rows(whole: dict[str, Any], by_host: bool = False) -> list[Sequence[str]]:
    """A row for each plan and policy, or for each host of it.

    :returns: nothing but the names of the columns without any plan
    """
    plans = whole['plans']
    if not plans:
        return [] if not by_host else [HOST_COLUMNS]
    if by_host:
        return [HOST_COLUMNS, *_host_rows(plans)]
    return [
        COLUMNS,
        *(_row(plan, policy) for plan in plans for policy in plan['policies']),
    ]


def _row(plan: dict[str, Any], policy: dict[str, Any]) -> Sequence[str]:
    created = datetime.datetime.fromtimestamp(plan['created'], datetime.UTC)
    taken = plan['taken_seconds']
    forecast = plan['forecast_seconds']
    return (
        plan['uuid'],
        f'{created:%Y-%m-%d %H:%M}',
        plan['state'],
        plan['scope'],
        policy['name'],
        _number(policy['predicted']),
        _number(policy['realised']),
        _number(policy['ratio'], 2),
        durations.rounded(round(forecast)) if forecast else UNKNOWN,
        durations.rounded(round(taken)) if taken else UNKNOWN,
        _note(plan, policy),
    )


def _host_rows(plans: Sequence[dict[str, Any]]) -> list[Sequence[str]]:
    result: list[Sequence[str]] = []
    for plan in plans:
        for policy in plan['policies']:
            ends = plan['scope'], policy['name']
            note = _note(plan, policy)
            if not policy['hosts']:
                result.append((*ends, UNKNOWN, UNKNOWN, UNKNOWN, note))
            result += [
                (
                    *ends,
                    host['host'],
                    f'{host["predicted"]:+.3f}',
                    f'{host["realised"]:+.3f}',
                    note,
                )
                for host in policy['hosts']
            ]
    return result


def _number(value: float | None, digits: int = 3) -> str:
    return UNKNOWN if value is None else f'{value:.{digits}f}'


def _note(plan: dict[str, Any], policy: dict[str, Any]) -> str:
    if policy['unmeasured']:
        return f'not measurable: {policy["unmeasured"]}'
    return '' if plan['started'] else NEVER_STARTED
