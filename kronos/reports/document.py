# SPDX-License-Identifier: Apache-2.0
"""The report of a cycle, as a document for programs.

It holds only strings, numbers, lists, mappings and nulls, so that any format
of text may carry it. Keys are added, never changed: each is written here,
whatever the engine calls it.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kronos.engine.planning import move_reasons
from kronos.engine.reasons import Reason
from kronos.engine.settings import PlainSettings, Settings
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationStep,
    PolicyResult,
    ScopeWindow,
)
from kronos.options import extensions
from kronos.reports import certificates, parts, rest
from kronos.reports import effects as effect_rows
from kronos.reports.parts import picked, plain

if TYPE_CHECKING:
    from kronos.snapshots.past.scope_effects import ScopeEffect

FORMAT_VERSION = 1


def document(
    report: CycleReport,
    about: Mapping[str, Any] | None = None,
    effects: 'Mapping[str, ScopeEffect] | None' = None,
) -> dict[str, Any]:
    """The whole report.

    :param about: what the engine does not know: when, for whom, how long
    :param effects: by scope, what earlier plans changed
    """
    past = effects or {}
    return {
        'format_version': FORMAT_VERSION,
        **(about or {}),
        'seconds': report.seconds,
        'scopes': [
            {**_scope(scope), 'effect': effect_rows.row(past.get(scope.name))}
            for scope in report.scopes
        ],
    }


def settings(how: Settings) -> dict[str, Any]:
    """What was planned with, beside the policies."""
    values = {
        field.name: getattr(how, field.name)
        for field in dataclasses.fields(PlainSettings)
    }
    for kind in extensions.classes():
        values |= vars(how.options(kind))
    return {
        **{name: plain(value) for name, value in values.items()},
        **_added(part.settings(how) for part in parts.every()),
    }


def _added(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What extensions add to a row."""
    return {key: value for row in rows for key, value in row.items()}


def counted(reasons: Mapping[str, str]) -> list[tuple[str, int]]:
    """Reasons with how often each is given, the most frequent first."""
    counts = Counter(reasons.values())
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _codes(reasons: Mapping[str, Reason]) -> dict[str, str]:
    """By the same keys the reasons' stable names."""
    return {key: reason.code.value for key, reason in reasons.items()}


def _ending(scope: AggregateResult) -> dict[str, Any]:
    """Why planning ended, by which search, and how good that is."""
    return {
        'stopped': scope.stopped.value,
        'reason': scope.reason,
        'reason_code': scope.stopped.code.value,
        'search': scope.search,
        'effect_limit': scope.effect_limit,
        'window': _window(scope.window),
        'window_limit': scope.window_limit,
        **_limits(scope),
        'certificate': certificates.row(scope.certificate),
        'rest': rest.row(scope.rest),
        'packing': certificates.packing_row(scope.packing),
        'stages': [picked(x, 'name count text') for x in scope.stages],
    }


def _window(window: ScopeWindow | None) -> dict[str, Any] | None:
    if window is None:
        return None
    return picked(
        window,
        'text is_open until changes_at fault is_exempt move_seconds '
        'most_moves',
    )


def _limits(scope: AggregateResult) -> dict[str, Any]:
    """How disruption budgets and consent stand."""
    return {
        'budgets': [
            {
                **picked(budget, 'kind used free planned'),
                'full': [
                    picked(row, 'key reason free_at instances')
                    for row in budget.full
                ],
            }
            for budget in scope.budgets
        ],
        'consents': [
            picked(consent, 'kind project instances staying')
            for consent in scope.consents
        ],
    }


def _scope(scope: AggregateResult) -> dict[str, Any]:
    return {
        **picked(scope, 'name combined_before combined_after'),
        **_ending(scope),
        'steps': _steps(scope.steps),
        'memory_mb': sum(step.memory_mb for step in scope.steps),
        'copied_mb': sum(step.copied_mb for step in scope.steps),
        'seconds': sum(step.seconds for step in scope.steps),
        **picked(scope, 'hosts_over_before hosts_over_after'),
        **picked(scope, 'hosts_in_use_before hosts_in_use_after'),
        'policies': [_policy(policy) for policy in scope.policies],
        'hosts': _hosts(scope),
        **picked(scope, 'availability_zones unavailable_hosts'),
        'unavailable_hosts_codes': _codes(scope.unavailable_hosts),
        **_added(part.scope(scope) for part in parts.every()),
        'closings': _closings(scope),
        'drains': [
            picked(x, 'host reason instances leaving staying')
            for x in scope.drains
        ],
        'unmeasured': scope.unmeasured,
        'begun': [picked(x, 'host instances leaving') for x in scope.begun],
        'not_drained': dict(scope.not_drained),
        'not_drained_codes': _codes(scope.not_drained),
        **picked(scope, 'violations_before violations_after'),
        'groups': _groups(scope),
        'instances': {
            uuid: picked(instance, 'name host')
            for uuid, instance in scope.instances.items()
        },
        'unmovable': dict(scope.unmovable),
        'unmovable_reasons': dict(counted(scope.unmovable)),
        'stayed': dict(scope.stayed),
        'stayed_codes': _codes(scope.stayed),
        'stayed_reasons': dict(counted(scope.stayed)),
        'warnings': list(scope.warnings),
    }


def _closings(scope: AggregateResult) -> list[dict[str, Any]]:
    return [
        {
            **picked(closing, 'host reason'),
            'code': closing.reason.code.value,
        }
        for closing in scope.closings
    ]


def _groups(scope: AggregateResult) -> list[dict[str, Any]]:
    return [
        picked(
            group,
            'uuid name policy most_per_host enforced members elsewhere '
            'broken_before broken_after',
        )
        for group in scope.groups
    ]


def _hosts(scope: AggregateResult) -> list[dict[str, str]]:
    """Every host with its zone, and why it takes no part; '' if it does."""
    return [
        {
            'name': host,
            'availability_zone': zone,
            'unavailable': scope.unavailable_hosts.get(host, ''),
        }
        for host, zone in sorted(scope.availability_zones.items())
    ]


def _steps(steps: Sequence[MigrationStep]) -> list[dict[str, Any]]:
    """Each with what it gains in combined imbalance, and why it is made."""
    return [
        step(migration) | {'gain': move_reasons.gain(migration), 'why': why}
        for migration, why in zip(steps, move_reasons.of(steps), strict=True)
    ]


def step(migration: MigrationStep) -> dict[str, Any]:
    """A step, but for the scope that it stands in."""
    return {
        **picked(
            migration,
            'phase instance instance_name source destination memory_mb '
            'copied_mb seconds imbalance_before imbalance_after '
            'combined_before combined_after rest_before rest_after requires',
        ),
        **_added(part.step(migration) for part in parts.every()),
    }


def _policy(policy: PolicyResult) -> dict[str, Any]:
    return {
        **picked(
            policy,
            'name weight threshold mode capacity_threshold skipped health',
        ),
        'scores': [
            picked(score, 'host value normalized after')
            for score in policy.scores
        ],
        **picked(policy, 'missing_hosts unmatched_labels'),
        **picked(policy, 'imbalance_before imbalance_after'),
    }
