# SPDX-License-Identifier: Apache-2.0
"""The checks of the exporters: which of them does Prometheus have?

Each is known by a series that no other one gives, and has sample policies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.cmd.checks import metrics
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.findings import Cause, Findings
from kronos.cmd.screen import progress
from kronos.engine import wording

FOLDER = 'etc/kronos'
"""Of the samples, in the source and below the environment of Python."""
TARGET = 'instance'
"""The label by which Prometheus tells targets apart."""


@dataclass(frozen=True)
class Exporter:
    """An exporter that there are sample policies for."""

    name: str
    series: str
    """PromQL: a selector that matches nothing of another exporter."""
    sample: str
    """A file in FOLDER."""

    @property
    def query(self) -> str:
        return f'count by ({TARGET}) ({self.series})'


NODE = Exporter(
    'node_exporter',
    'node_memory_MemTotal_bytes',
    'policies-node-exporter.yaml',
)
OF_SERVERS: Sequence[Exporter] = (
    Exporter(
        'libvirt-exporter (Tinkoff)',
        'libvirt_domain_info_meta',
        'policies.yaml',
    ),
    Exporter(
        'prometheus-libvirt-exporter (Debian)',
        # The others have no uuid in it.
        'libvirt_domain_info_cpu_time_seconds_total{uuid!=""}',
        'policies-debian-libvirt-exporter.yaml',
    ),
    Exporter(
        'prometheus-libvirt-exporter (inovex)',
        'libvirt_domain_openstack_info',
        'policies-inovex-libvirt-exporter.yaml',
    ),
    Exporter('ceilometer', 'ceilometer_cpu', 'policies-ceilometer.yaml'),
)


def check(
    prometheus: OncePrometheus, findings: Findings
) -> list[dict[str, Any]]:
    """Look for each exporter, with one query.

    :returns: a row for each, that of the hosts first. ``fits``: whether its
        sample does; that of node_exporter, where nothing tells of servers
    """
    progress.step('asking Prometheus')
    rows = [
        _row(exporter, prometheus, findings)
        for exporter in (NODE, *OF_SERVERS)
    ]
    of_hosts, *of_servers = rows
    for row in of_servers:
        row['fits'] = row['series'] > 0
    of_hosts['fits'] = of_hosts['series'] > 0 and not any(
        row['fits'] or row['error'] for row in of_servers
    )
    return rows


def _row(
    exporter: Exporter, prometheus: OncePrometheus, findings: Findings
) -> dict[str, Any]:
    reading = prometheus.instant_query(exporter.query, TARGET)
    if reading.is_away:
        metrics.report_away(reading, findings)
    return {
        'name': exporter.name,
        'query': reading.query,
        'targets': len(reading.samples),
        'series': int(sum(sample.value for sample in reading.samples)),
        'sample': exporter.sample,
        'fits': False,
        'error': reading.error,
    }


def nothing(
    rows: Sequence[Mapping[str, Any]],
    queries: Sequence[Mapping[str, Any]],
    address: str,
    findings: Findings,
) -> None:
    """Tell of a Prometheus that has nothing of what any query asks for.

    :param rows: those of :func:`check`
    :param queries: those of :mod:`.metrics`
    :param address: of Prometheus
    """
    answers = [*rows, *queries]
    if len(queries) > 1 and not any(
        row['series'] or row['error'] for row in answers
    ):
        findings.warning(
            'query-empty',
            f'Prometheus at {address} has no series for any query of the '
            'policies, and none from an exporter that Kronos supports',
            'set [kronos_prometheus] url to the Prometheus that scrapes the '
            'compute nodes',
            key=Cause.NO_SERIES,
        )


def remedy(rows: Sequence[Mapping[str, Any]]) -> str:
    """What to do about a ``vm_profile_query`` that gives no series.

    :param rows: those of :func:`check`
    :returns: '' if no sample fits
    """
    fitting = [row for row in rows if row['fits']]
    if not fitting:
        return ''
    if fitting[0]['name'] == NODE.name:
        return (
            'no exporter of servers was found: scrape one; until then, '
            f'{_path(fitting[0])} estimates the usage of servers from their '
            'flavors'
        )
    samples = [
        f'{_path(row)} for {row["name"]} ({_seen(row)})' for row in fitting
    ]
    return (
        'compare the query, its label and its window with the sample that '
        f'fits what is scraped: {wording.some(samples)}'
    )


def _path(row: Mapping[str, Any]) -> str:
    return f'{FOLDER}/{row["sample"]}'


def _seen(row: Mapping[str, Any]) -> str:
    targets = wording.counted(row['targets'], 'target')
    return f'{row["series"]} series of {targets}'
