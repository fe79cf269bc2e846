# SPDX-License-Identifier: Apache-2.0
"""The check of the exclusions: which hosts does the query find at fault?

It is judged by the very function that an audit judges it with.
"""

from collections.abc import Collection, Mapping
from typing import Any

from kronos.cmd.checks import metrics
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Cause, Findings, names, option
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.engine.scoring import labels, name_forms
from kronos.engine.settings import HostMatch
from kronos.engine.types import Host, Reading
from kronos.snapshots import exclusions
from kronos.snapshots.exclusions import HostsAtFault

OPTION = exclusions.OPTION
UNTIL = 'until then no migration is planned'
REMEDY = f'correct {OPTION} in [kronos]; {UNTIL}'

SEE = (
    'this is right for hosts of another cloud; else give the query a label '
    f'host or instance that is the name in "{ShellCommand.SERVICE_LIST}", or '
    'correct host_match'
)


def check(
    cloud: Apis, prometheus: OncePrometheus, kronos: Any, findings: Findings
) -> dict[str, Any] | None:
    """Ask the query, if there is one.

    :param kronos: the group ``[kronos]``
    :returns: what the answer says, for the report
    """
    query, how = kronos.exclude_hosts_query, HostMatch(kronos.host_match)
    if not query:
        return None
    reading = prometheus.instant_query(query, exclusions.ANY)
    metrics.report_clock(reading, findings)
    hosts = cloud.host_names()
    at_fault, error = _judged(reading, hosts, how, findings)
    values = at_fault.values
    unmatched: list[str] = []
    if hosts:
        unmatched = exclusions.unmatched(reading, hosts, how)
    if hosts and not error:
        others = set(unmatched) - set(at_fault.strangers)
        _report(values, sorted(others), hosts, findings)
    if not (error or reading.samples):
        findings.note(
            'exclusions-none',
            f'{OPTION} gives no series, so no host is at fault',
            'this is right if the query returns only hosts at fault; else try '
            'it in Prometheus: is the name of the metric right?',
        )
    return {
        'query': query,
        'health': reading.health.value,
        'error': error,
        'series': len(reading.samples),
        'hosts_excluded': {
            host: f'{value:g}' for host, value in sorted(values.items())
        },
        'labels_unmatched': unmatched[: metrics.EXAMPLES],
        'labels_unmatched_count': len(unmatched),
    }


def _judged(
    reading: Reading, hosts: Collection[str], how: HostMatch, to: Findings
) -> tuple[HostsAtFault, str]:
    """The hosts at fault, and why nobody knows them."""
    at_fault = HostsAtFault()
    if reading.is_away:
        metrics.report_away(reading, to)
        return at_fault, reading.error
    try:
        if hosts:
            at_fault = exclusions.judge(reading, hosts, how)
        else:
            exclusions.require_whole(reading, OPTION)
    except exceptions.PrometheusError as error:
        remedy, key = metrics.remedy(reading)
        if remedy:
            remedy = f'{remedy}; {UNTIL}'
        else:
            remedy = _other_form(reading, hosts, how)
            key = names(remedy)
        to.error(
            'exclusions-unknown',
            str(error),
            remedy or REMEDY,
            key=Cause.EXCLUSIONS,
            because=[key, option(OPTION)],
        )
        return at_fault, str(error)
    for text in at_fault.warnings:
        to.warning('exclusions-unmatched', text, SEE)
    return at_fault, ''


def _other_form(
    reading: Reading, hosts: Collection[str], how: HostMatch
) -> str:
    """What has the labels match hosts, if a way of matching does."""
    named = [exclusions.label_of(sample) for sample in reading.samples]
    form = name_forms.better(
        [{'host': name} for name in named], 'host', hosts, how
    )
    return form.remedy(how) if form else ''


def _report(
    values: Mapping[str, float],
    unmatched: Collection[str],
    hosts: Collection[str],
    to: Findings,
) -> None:
    excluded = [Host(name, excluded=value) for name, value in values.items()]
    for text in exclusions.warnings(excluded):
        to.warning('host-excluded', text, 'see what the query returns for it')
    if unmatched:
        to.warning(
            'exclusions-unmatched',
            f'{OPTION}: {len(unmatched)} labels are no host '
            f'({wording.some([_named(label, hosts) for label in unmatched])})',
            SEE,
        )


def _named(label: str, hosts: Collection[str]) -> str:
    """A label, and the host that is called much like it."""
    alike = sorted(labels.alike(label, hosts))
    if not alike:
        return repr(label)
    return f'{label!r}, which host_match = short may match to {alike[0]}'
