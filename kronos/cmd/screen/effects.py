# SPDX-License-Identifier: Apache-2.0
"""The effects of plans as a document, and as rows of a table."""

import datetime
from collections.abc import Sequence
from typing import Any

from kronos.common import durations, plain_text
from kronos.engine.effect import regression
from kronos.engine.effect.measurement import PolicyEffect
from kronos.snapshots.past.effects import PlanEffect

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
    by_scope: dict[str, list[PlanEffect]] = {}
    for plan in plans:
        by_scope.setdefault(plan.plan.scope, []).append(plan)
    return {
        'format_version': FORMAT_VERSION,
        'scopes': [
            _scope(name, by_scope[name], policies) for name in sorted(by_scope)
        ],
        'plans': [_plan(plan) for plan in plans],
    }


def _scope(
    name: str, plans: Sequence[PlanEffect], policies: Sequence[str]
) -> dict[str, Any]:
    started = [plan for plan in plans if plan.plan.is_started]
    ratios = [
        regression.ratio(
            policy,
            [
                effect
                for plan in started
                for effect in plan.effects
                if effect.policy == policy
            ],
        )
        for policy in policies
    ]
    return {
        'name': name,
        'trust': regression.trust(ratios),
        'plans': regression.plans(ratios),
        'policies': [
            {
                'name': each.policy,
                'ratio': each.ratio,
                'trust': each.trust,
                'plans': each.plans,
                'former_plans': each.former,
            }
            for each in ratios
        ],
    }


def _plan(measured: PlanEffect) -> dict[str, Any]:
    plan = measured.plan
    return {
        'uuid': plan.uuid,
        'scope': plan.scope,
        'state': plan.state,
        'created': plan.created,
        'started': plan.is_started,
        'forecast_seconds': plan.forecast_seconds,
        'taken_seconds': measured.taken_seconds,
        'policies': [_policy(effect) for effect in measured.effects],
    }


def _policy(effect: PolicyEffect) -> dict[str, Any]:
    reason = effect.unmeasured
    return {
        'name': effect.policy,
        'predicted': None if reason else effect.predicted,
        'realised': None if reason else effect.realised,
        'ratio': effect.ratio,
        'drift': effect.drift,
        'unmeasured_code': reason.value if reason else '',
        'unmeasured': reason.text if reason else '',
        'hosts': [
            {
                'host': change.host,
                'predicted': change.predicted,
                'realised': change.realised,
            }
            for change in effect.changes
        ],
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
