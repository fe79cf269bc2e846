# SPDX-License-Identifier: Apache-2.0
"""The report of a cycle, as a document for programs.

It holds only strings, numbers, lists, mappings and nulls, so that any format
of text may carry it. Keys are added, never changed: each is written here,
whatever the engine calls it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kronos.engine.planning import move_reasons, stop_reasons
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
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


def settings(found: Settings) -> dict[str, Any]:
    """What was planned with, beside the policies."""
    return {
        'max_migrations': found.max_migrations,
        'restrict_to_az': found.restrict_to_az,
        'require_all_policies': found.require_all_policies,
        'min_host_coverage': found.min_host_coverage,
        'host_match': found.host_match.value,
        'partial_answers': found.partial_answers.value,
        'check_disk': found.check_disk,
        'require_headroom': found.require_headroom,
        'allowed_extra_specs': list(found.allowed_extra_specs),
        'cooldown_seconds': found.cooldown_seconds,
        'instance_cooldown_seconds': found.instance_cooldown_seconds,
        'quarantine_seconds': found.quarantine_seconds,
        'return_guard_seconds': found.return_guard_seconds,
        'stuck_seconds': found.stuck_seconds,
        'evacuate': found.evacuate,
        'drain_hosts': found.drain_hosts and list(found.drain_hosts),
        'max_closed_hosts': found.max_closed_hosts,
        'restart_servers': found.restart_servers,
        'recovery_window_seconds': found.recovery_window_seconds,
        'cell_move_lossy': found.cell_move_lossy,
        'long_rpc_timeout_seconds': found.long_rpc_timeout_seconds,
        'snapshot_mb_per_second': found.snapshot_mb_per_second,
        'drain_may_exceed_threshold': found.drain_may_exceed_threshold,
        'enforce_hard_affinity': found.enforce_hard_affinity,
        'enforce_soft_affinity': found.enforce_soft_affinity,
        'rebalance': found.rebalance,
        'unlimited': found.unlimited,
        'soft_rules': found.soft_rules.value,
        'soft_rule_penalty': found.soft_rule_penalty,
        'pack_partial_drains': found.pack_partial_drains,
        'keep_hosts': found.keep_hosts,
        'headroom_hosts': found.headroom_hosts,
        'search': found.search.value,
        'veto_reference': found.veto_reference.value,
        'min_gain': found.min_gain,
        'min_plan_gain': found.min_plan_gain,
        'optimal_limit': found.optimal_limit,
        'optimal_seconds': found.optimal_seconds,
        'cost_weight': found.cost_weight,
        'migration_bandwidth': found.migration_bandwidth,
        'migration_timeout_seconds': found.migration_timeout_seconds,
        'migration_timeout_per_gib': found.migration_timeout_per_gib,
        'unexplained_load': found.unexplained_load.value,
        'plateau_moves': found.plateau_moves,
        'swap_moves': found.swap_moves.value,
        'tie_break': found.tie_break.value,
        'repeat_moves': found.repeat_moves,
        'exhaust': found.exhaust,
        **_added(part.settings(found) for part in parts.every()),
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
        'reason_code': stop_reasons.CODES[scope.stopped].value,
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
        'closings': [_closing(one) for one in scope.closings],
        'drains': [_drain(drain) for drain in scope.drains],
        'unmeasured': scope.unmeasured,
        'begun': [_begun(one) for one in scope.begun],
        'not_drained': dict(scope.not_drained),
        'not_drained_codes': _codes(scope.not_drained),
        'violations_before': list(scope.violations_before),
        'violations_after': list(scope.violations_after),
        'groups': [_group(group) for group in scope.groups],
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
    return [
        step(one) | {'gain': move_reasons.gain(one), 'why': why}
        for one, why in zip(steps, move_reasons.of(steps), strict=True)
    ]


def step(found: MigrationStep) -> dict[str, Any]:
    """A step, but for the scope that it stands in."""
    return {
        'phase': found.phase.value,
        'instance': found.instance,
        'instance_name': found.instance_name,
        'source': found.source,
        'destination': found.destination,
        'memory_mb': found.memory_mb,
        'copied_mb': found.copied_mb,
        'seconds': found.seconds,
        'imbalance_before': dict(found.imbalance_before),
        'imbalance_after': dict(found.imbalance_after),
        'combined_before': found.combined_before,
        'combined_after': found.combined_after,
        'rest_before': found.rest_before,
        'rest_after': found.rest_after,
        'requires': found.requires,
        **_added(part.step(found) for part in parts.every()),
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
