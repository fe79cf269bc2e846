# SPDX-License-Identifier: Apache-2.0
"""The outcome of a plan: the numbers of its goal's indicators."""

from kronos.engine import types


def balance(report: types.CycleReport) -> dict[str, float]:
    """For ``kronos_balance``; of several scopes the most uneven counts."""
    scopes = report.scopes
    return {
        'combined_imbalance_before': max(
            (scope.combined_before for scope in scopes), default=0.0
        ),
        'combined_imbalance_after': max(
            (scope.combined_after for scope in scopes), default=0.0
        ),
        'migrations': len(report.steps),
        'hosts_over_threshold_before': sum(
            scope.hosts_over_before for scope in scopes
        ),
        'hosts_over_threshold_after': sum(
            scope.hosts_over_after for scope in scopes
        ),
    }


def consolidate(report: types.CycleReport) -> dict[str, float]:
    """For ``kronos_consolidate``."""
    before = sum(scope.hosts_in_use_before for scope in report.scopes)
    after = sum(scope.hosts_in_use_after for scope in report.scopes)
    return {
        'hosts_in_use_before': before,
        'hosts_in_use_after': after,
        'hosts_released': max(before - after, 0),
        'migrations': len(report.steps),
    }


def drain(report: types.CycleReport) -> dict[str, float]:
    """For ``kronos_drain``.

    A later scope sees a host that it shares as the earlier one leaves it.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for scope in report.scopes:
        for one in scope.drains:
            first.setdefault(one.host, one.instances)
            last[one.host] = len(one.staying)
    return {
        'hosts_to_drain': len(first),
        'instances_before': sum(first.values()),
        'instances_after': sum(last.values()),
        'migrations': len(report.steps),
    }


def affinity(report: types.CycleReport) -> dict[str, float]:
    """For ``kronos_affinity``."""
    scopes = report.scopes
    return {
        'violations_before': sum(len(s.violations_before) for s in scopes),
        'violations_after': sum(len(s.violations_after) for s in scopes),
        'migrations': len(report.steps),
    }
