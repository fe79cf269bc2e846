# SPDX-License-Identifier: Apache-2.0
"""The report of a cycle, as a document for programs.

It holds only strings, numbers, lists, mappings and nulls, so that any format
of text may carry it. Keys are added, never changed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kronos.engine.planning import move_reasons, stop_reasons
from kronos.engine.reasons import Reason
from kronos.engine.types import AggregateResult, CycleReport, MigrationStep

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
        'scopes': [_scope(scope) for scope in report.scopes],
    }


def counted(reasons: Mapping[str, str]) -> list[tuple[str, int]]:
    """Reasons with how often each is given, the most frequent first."""
    counts = Counter(reasons.values())
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _codes(reasons: Mapping[str, Reason]) -> dict[str, str]:
    """By the same keys the reasons' stable names."""
    return {key: reason.code.value for key, reason in reasons.items()}


def _scope(scope: AggregateResult) -> dict[str, Any]:
    return {
        'name': scope.name,
        'combined_before': scope.combined_before,
        'combined_after': scope.combined_after,
        'stopped': scope.stopped.value,
        'reason': scope.reason,
        'reason_code': stop_reasons.CODES[scope.stopped].value,
        'stages': [asdict(stage) for stage in scope.stages],
        'steps': _steps(scope.steps),
        'memory_mb': sum(step.memory_mb for step in scope.steps),
        'hosts_over_before': scope.hosts_over_before,
        'hosts_over_after': scope.hosts_over_after,
        'hosts_in_use_before': scope.hosts_in_use_before,
        'hosts_in_use_after': scope.hosts_in_use_after,
        'policies': [
            asdict(policy)
            | {'health': policy.health.value, 'mode': policy.mode.value}
            for policy in scope.policies
        ],
        'hosts': _hosts(scope),
        'availability_zones': dict(scope.availability_zones),
        'unavailable_hosts': dict(scope.unavailable_hosts),
        'unavailable_hosts_codes': _codes(scope.unavailable_hosts),
        'drains': [asdict(drain) for drain in scope.drains],
        'unmeasured': scope.unmeasured,
        'begun': [asdict(one) for one in scope.begun],
        'not_drained': dict(scope.not_drained),
        'not_drained_codes': _codes(scope.not_drained),
        'violations_before': list(scope.violations_before),
        'violations_after': list(scope.violations_after),
        'groups': [asdict(group) for group in scope.groups],
        'instances': {
            uuid: {'name': one.name, 'host': one.host}
            for uuid, one in scope.instances.items()
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
    found = []
    for step, why in zip(steps, move_reasons.of(steps), strict=True):
        row = asdict(step) | {'phase': step.phase.value}
        del row['scope']  # that it stands in
        found.append(row | {'gain': move_reasons.gain(step), 'why': why})
    return found
