# SPDX-License-Identifier: Apache-2.0
"""The report of a cycle, as a document for programs.

It holds only strings, numbers, lists, mappings and nulls, so that any format
of text may carry it. Keys are added, never changed: each is written here,
whatever the engine calls it.
"""

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kronos.engine.planning import move_reasons
from kronos.engine.reasons import Reason
from kronos.engine.settings import PlainSettings, Settings
from kronos.engine.types import (
    AggregateResult,
    Begun,
    Closing,
    CycleReport,
    Drain,
    GroupStanding,
    MigrationStep,
    PolicyResult,
    Stage,
)
from kronos.options import extensions
from kronos.options.row import Choice
from kronos.reports import certificates, parts, rest

FORMAT_VERSION = 1


def document(
    report: CycleReport, about: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The whole report.

    :param about: what the engine does not know: when, for whom, how long
    """
    return {
        'format_version': FORMAT_VERSION,
        **(about or {}),
        'seconds': report.seconds,
        'scopes': [_scope(scope) for scope in report.scopes],
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
        **{name: _plain(value) for name, value in values.items()},
        **_added(part.settings(how) for part in parts.every()),
    }


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Choice) else copy.copy(value)


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
        'certificate': certificates.row(scope.certificate),
        'rest': rest.row(scope.rest),
        'packing': certificates.packing_row(scope.packing),
        'stages': [_stage(stage) for stage in scope.stages],
    }


def _scope(scope: AggregateResult) -> dict[str, Any]:
    return {
        'name': scope.name,
        'combined_before': scope.combined_before,
        'combined_after': scope.combined_after,
        **_ending(scope),
        'steps': _steps(scope.steps),
        'memory_mb': sum(step.memory_mb for step in scope.steps),
        'copied_mb': sum(step.copied_mb for step in scope.steps),
        'seconds': sum(step.seconds for step in scope.steps),
        'hosts_over_before': scope.hosts_over_before,
        'hosts_over_after': scope.hosts_over_after,
        'hosts_in_use_before': scope.hosts_in_use_before,
        'hosts_in_use_after': scope.hosts_in_use_after,
        'policies': [_policy(policy) for policy in scope.policies],
        'hosts': _hosts(scope),
        'availability_zones': dict(scope.availability_zones),
        'unavailable_hosts': dict(scope.unavailable_hosts),
        'unavailable_hosts_codes': _codes(scope.unavailable_hosts),
        **_added(part.scope(scope) for part in parts.every()),
        'closings': [_closing(closing) for closing in scope.closings],
        'drains': [_drain(drain) for drain in scope.drains],
        'unmeasured': scope.unmeasured,
        'begun': [_begun(move) for move in scope.begun],
        'not_drained': dict(scope.not_drained),
        'not_drained_codes': _codes(scope.not_drained),
        'violations_before': list(scope.violations_before),
        'violations_after': list(scope.violations_after),
        'groups': [_group(group) for group in scope.groups],
        'instances': {
            uuid: {'name': instance.name, 'host': instance.host}
            for uuid, instance in scope.instances.items()
        },
        'unmovable': dict(scope.unmovable),
        'unmovable_reasons': dict(counted(scope.unmovable)),
        'stayed': dict(scope.stayed),
        'stayed_codes': _codes(scope.stayed),
        'stayed_reasons': dict(counted(scope.stayed)),
        'warnings': list(scope.warnings),
    }


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
        'phase': migration.phase.value,
        'instance': migration.instance,
        'instance_name': migration.instance_name,
        'source': migration.source,
        'destination': migration.destination,
        'memory_mb': migration.memory_mb,
        'copied_mb': migration.copied_mb,
        'seconds': migration.seconds,
        'imbalance_before': dict(migration.imbalance_before),
        'imbalance_after': dict(migration.imbalance_after),
        'combined_before': migration.combined_before,
        'combined_after': migration.combined_after,
        'rest_before': migration.rest_before,
        'rest_after': migration.rest_after,
        'requires': migration.requires,
        **_added(part.step(migration) for part in parts.every()),
    }


def _stage(stage: Stage) -> dict[str, Any]:
    return {'name': stage.name, 'count': stage.count, 'text': stage.text}


def _policy(policy: PolicyResult) -> dict[str, Any]:
    return {
        'name': policy.name,
        'weight': policy.weight,
        'threshold': policy.threshold,
        'mode': policy.mode.value,
        'capacity_threshold': policy.capacity_threshold,
        'skipped': policy.skipped,
        'health': policy.health.value,
        'scores': [
            {
                'host': score.host,
                'value': score.value,
                'normalized': score.normalized,
                'after': score.after,
            }
            for score in policy.scores
        ],
        'missing_hosts': list(policy.missing_hosts),
        'unmatched_labels': list(policy.unmatched_labels),
        'imbalance_before': policy.imbalance_before,
        'imbalance_after': policy.imbalance_after,
    }


def _closing(closing: Closing) -> dict[str, Any]:
    return {
        'host': closing.host,
        'reason': closing.reason,
        'code': closing.reason.code.value,
    }


def _drain(drain: Drain) -> dict[str, Any]:
    return {
        'host': drain.host,
        'reason': drain.reason,
        'instances': drain.instances,
        'leaving': drain.leaving,
        'staying': dict(drain.staying),
    }


def _begun(begun: Begun) -> dict[str, Any]:
    return {
        'host': begun.host,
        'instances': begun.instances,
        'leaving': begun.leaving,
    }


def _group(group: GroupStanding) -> dict[str, Any]:
    return {
        'uuid': group.uuid,
        'name': group.name,
        'policy': group.policy,
        'most_per_host': group.most_per_host,
        'enforced': group.enforced,
        'members': list(group.members),
        'elsewhere': group.elsewhere,
        'broken_before': group.broken_before,
        'broken_after': group.broken_after,
    }
