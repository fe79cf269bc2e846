# SPDX-License-Identifier: Apache-2.0
"""The checks of the metrics: what Prometheus answers to each query."""

import math
import time
from collections.abc import Collection, Sequence
from typing import Any

from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.findings import Findings
from kronos.common import durations
from kronos.engine.scoring import evaluation, labels
from kronos.engine.settings import HostMatch, Settings
from kronos.engine.types import Health, Reading, Snapshot
from kronos.policies import models
from kronos.policies.models import Policy

SKEW_SECONDS = 5.0
"""Samples that much newer than now tell of clocks that differ."""
EXAMPLES = 5
TRY = (
    'try the query in Prometheus: is the exporter scraped, and is the name of '
    'the metric right?'
)


def check(
    policies: Sequence[Policy],
    prometheus: OncePrometheus,
    snapshots: Sequence[Snapshot],
    settings: Settings,
    remedy: str,
    findings: Findings,
) -> list[dict[str, Any]]:
    """Look at each answer; what was asked before is not asked again.

    :param snapshots: of the scopes; none if they are not known
    :param remedy: what to do where servers have no series; '' if nothing
        more is known than of other queries
    :returns: a row for each query
    """
    hosts = {host for one in snapshots for host in one.hosts}
    rows = []
    for policy in policies:
        for one in models.QUERIES:
            query, label = (
                getattr(policy, one.field),
                getattr(policy, one.label),
            )
            if not query:
                continue
            reading = prometheus.instant_query(query, label)
            row: dict[str, Any] = {
                'policy': policy.name,
                'field': one.field,
                'label': label,
            }
            row['is_used'] = evaluation.asks(one, policy, settings)
            row |= _answer(reading)
            if not one.label_type and hosts:
                row |= _coverage(reading, hosts, settings.host_match)
            rows.append(row)
            mend = remedy if one.label_type else ''
            _tell(row, reading, bool(snapshots), mend or TRY, findings)
    return rows


def tell_away(reading: Reading, to: Findings) -> None:
    """Tell that Prometheus is away, whatever it was asked."""
    to.error(
        'prometheus-away',
        reading.error,
        'see that [kronos_prometheus] url is right and that it answers',
    )


def _answer(reading: Reading) -> dict[str, Any]:
    values = [s.value for s in reading.samples if math.isfinite(s.value)]
    stamps = [s.timestamp for s in reading.samples]
    return {
        'query': reading.query,
        'health': reading.health.value,
        'error': reading.error,
        'series': len(reading.samples),
        'lowest': min(values, default=None),
        'highest': max(values, default=None),
        'oldest_seconds': _age(min(stamps, default=None)),
    }


def _age(stamp: float | None) -> float | None:
    return None if stamp is None else round(time.time() - stamp, 1)


def _coverage(
    reading: Reading, hosts: Collection[str], how: HostMatch
) -> dict[str, Any]:
    """Which hosts of the scopes have a value, and their range."""
    finite = [s for s in reading.samples if math.isfinite(s.value)]
    matches = labels.match_hosts((s.label for s in finite), hosts, how)
    values = [s.value for s in finite if s.label in matches.hosts]
    missing = sorted(set(hosts) - set(matches.hosts.values()))
    return {
        'hosts': len(hosts) - len(missing),
        'hosts_of_scope': len(hosts),
        'hosts_missing': missing[:EXAMPLES],
        'labels_unmatched': matches.unmatched[:EXAMPLES],
        'lowest': min(values, default=None),
        'highest': max(values, default=None),
    }


def _tell(
    row: dict[str, Any],
    reading: Reading,
    is_judged: bool,
    mend: str,
    to: Findings,
) -> None:
    what = f'policy {row["policy"]}: {row["field"]}'
    if reading.is_away:
        tell_away(reading, to)
    elif reading.health in (Health.STALE, Health.UNREACHABLE):
        # One that no audit asks stops none.
        tell = to.error if row['is_used'] else to.warning
        tell(
            'query-failed',
            f'{what}: {reading.error}',
            'try the query in Prometheus and correct it in the policies file',
        )
    elif not reading.samples and not is_judged:
        # Else it is told which hosts and servers lack a value.
        to.warning('query-empty', f'{what} gives no series', mend)
    if (row['oldest_seconds'] or 0.0) < -SKEW_SECONDS:
        to.warning(
            'clock',
            f'{what}: samples are '
            f'{durations.rounded(-row["oldest_seconds"])} in the future',
            'set the clocks of this machine and of Prometheus by NTP',
        )
