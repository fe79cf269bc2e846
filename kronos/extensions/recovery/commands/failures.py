# SPDX-License-Identifier: Apache-2.0
"""The check of the failures: what would kronos_recover find to recover?

They are judged by the very functions that an audit judges them with.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from kronos.cmd.checks import exclusions as exclusion_checks
from kronos.cmd.checks import metrics
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings, option
from kronos.common import exceptions
from kronos.engine import wording
from kronos.engine.settings import HostMatch
from kronos.engine.types import Reading
from kronos.extensions.recovery.readings import failures
from kronos.snapshots import exclusions
from kronos.snapshots.exclusions import HostsAtFault

T = TypeVar('T')


def check(
    cloud: Apis, prometheus: OncePrometheus, kronos: Any, findings: Findings
) -> dict[str, Any]:
    """Ask both queries, as far as there are any.

    :param kronos: the group ``[kronos]``
    :returns: what the answers say, for the report
    """
    how, hosts = HostMatch(kronos.host_match), cloud.host_names()
    of_hosts, of_servers = kronos.host_fault_query, kronos.server_fault_query
    faulty, of_faulty = _answer_of(
        prometheus,
        (failures.OF_HOSTS, of_hosts, exclusions.ANY),
        lambda: (
            failures.of_hosts(prometheus, of_hosts, hosts, how)
            if hosts
            else HostsAtFault()
        ),
        findings,
    )
    failed, of_failed = _answer_of(
        prometheus,
        (failures.OF_SERVERS, of_servers, failures.INSTANCE),
        lambda: failures.of_servers(prometheus, of_servers, hosts, how),
        findings,
    )
    faulty = faulty or HostsAtFault()
    _report(faulty, findings)
    return {
        failures.OF_HOSTS: {
            **of_faulty,
            'hosts_at_fault': {
                host: f'{value:g}'
                for host, value in sorted(faulty.values.items())
            },
        },
        failures.OF_SERVERS: {**of_failed, 'servers': len(failed or {})},
    }


def _report(faulty: HostsAtFault, to: Findings) -> None:
    for text in faulty.warnings:
        to.warning('exclusions-unmatched', text, exclusion_checks.SEE)
    if faulty.values:
        to.warning(
            'host-at-fault',
            f'{wording.counted(len(faulty.values), "host")} at fault by '
            f'{failures.OF_HOSTS} ({wording.some(sorted(faulty.values))})',
            'kronos_recover closes and drains it, if there are no more of '
            'its aggregate than max_closed_hosts',
        )


def _answer_of(
    prometheus: OncePrometheus,
    query_of: tuple[str, str, str],
    judge: Callable[[], T],
    to: Findings,
) -> tuple[T | None, dict[str, Any]]:
    """What a query says, and the same for the report.

    :param query_of: the option, its query and the label that series must have
    """
    name, query, label = query_of
    reading = Reading('')
    if query:
        reading = prometheus.instant_query(query, label)
        metrics.report_clock(reading, to)
    answer = {
        'query': query,
        'health': reading.health.value,
        'error': '',
        'series': len(reading.samples),
    }
    if reading.is_away:
        metrics.report_away(reading, to)
        return None, {**answer, 'error': reading.error}
    try:
        return judge(), answer
    except exceptions.PrometheusError as error:
        remedy, key = metrics.remedy(reading)
        to.warning(
            'failures-unknown',
            str(error),
            f'{remedy or f"correct {name} in [kronos]"}; until then '
            'kronos_recover takes no action',
            because=[key, option(name)],
        )
        return None, {**answer, 'error': str(error)}
