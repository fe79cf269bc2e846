# SPDX-License-Identifier: Apache-2.0
"""The check of the instance monitors: does one report for each host?

An operator uses them who has their metrics in Prometheus, or sets a query that
asks for these.
"""

from collections.abc import Collection
from typing import Any

from kronos.clients.prometheus import selectors
from kronos.cmd.checks import metrics
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.findings import Findings
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.engine.scoring import answer_health, labels
from kronos.engine.settings import HostMatch
from kronos.engine.types import Reading

QUERY = (
    'max by (host) (kronos_monitor_libvirt_up * on (job, instance) '
    'group_left (host) kronos_monitor_info)'
)
LABEL = 'host'
GROUP = 'kronos'
METRICS = 'kronos_vm_'
"""What the names begin with that queries of an operator ask for."""
FAILED = 'kronos_vm_failed'
OF_KINDS = (FAILED, 'kronos_vm_events_total')
"""Metrics with a label for the kind of a failure."""
BY_GUESTS = ('hang', 'panic')
"""Kinds of failure that a guest can cause at will."""
ALERT = 'KronosInstanceFailed'
"""Of the sample alerts, the one that is raised for each kind."""
OF_HOSTS = ('exclude_hosts_query', 'host_fault_query')
"""Queries that keep servers from a host, or have it emptied."""
START = (
    f'check on each that {ShellCommand.MONITOR_STATUS} prints active, and in '
    'Prometheus that its target is up'
)


def check(
    prometheus: OncePrometheus,
    hosts: Collection[str],
    conf: Any,
    findings: Findings,
) -> dict[str, Any] | None:
    """Ask which hosts a monitor reports for, where any is used.

    :param hosts: of the scopes; none if they are not known
    :param conf: with the options of ``[kronos]``
    :returns: what the answer says, for the report; None: none is used
    """
    _report_guests(conf, findings)
    reading = prometheus.instant_query(QUERY, LABEL)
    if answer_health.why_unknown(reading):
        # Prometheus being away is told with the other queries.
        return None
    asking = _asking(conf)
    if not reading.samples and not asking:
        return None
    missing, blind = _judged(reading, hosts, HostMatch(conf.kronos.host_match))
    _report(reading, hosts, missing, blind, asking, findings)
    return {
        'query': QUERY,
        'series': len(reading.samples),
        'hosts_missing': missing[: metrics.EXAMPLES],
        'hosts_blind': blind[: metrics.EXAMPLES],
    }


def _report_guests(conf: Any, to: Findings) -> None:
    """Warn of queries by which a tenant can have hosts closed."""
    for name in OF_HOSTS:
        query = str(conf[GROUP][name] or '')
        kinds = [kind for kind in BY_GUESTS if _asks_for(query, kind)]
        if kinds:
            to.warning(
                'hosts-by-guests',
                f'{name} counts servers of kind {" and ".join(kinds)}: a '
                'guest can cause this at will, so a tenant can close hosts',
                f'count two servers or more with {FAILED}{{kind="io_error"}}, '
                'as the default of host_fault_query does',
            )


def _asks_for(query: str, kind: str) -> bool:
    """Whether a failed server of a kind may be among a query's series."""
    names = (*OF_KINDS, 'ALERTS') if ALERT in query else OF_KINDS
    return any(
        selectors.asks(
            query, {selectors.NAME: name, 'alertname': ALERT, 'kind': kind}
        )
        for name in names
    )


def _asking(conf: Any) -> list[str]:
    """Options of queries that an operator has set to ask for the metrics."""
    return [
        name
        for name in conf[GROUP]
        if name.endswith('_query')
        and METRICS in str(conf[GROUP][name] or '')
        and _is_set(conf, name)
    ]


def _is_set(conf: Any, name: str) -> bool:
    location = conf.get_location(name, GROUP)
    return location is not None and location.location.name != 'opt_default'


def _judged(
    reading: Reading, hosts: Collection[str], how: HostMatch
) -> tuple[list[str], list[str]]:
    """The hosts that no monitor reports for, and those of blind ones."""
    matches = labels.match_hosts(
        (s.label for s in reading.samples), hosts, how
    )
    missing = sorted(set(hosts) - set(matches.hosts.values()))
    blind = sorted(s.label for s in reading.samples if not s.value > 0)
    return missing, blind


def _report(
    reading: Reading,
    hosts: Collection[str],
    missing: list[str],
    blind: list[str],
    asking: list[str],
    to: Findings,
) -> None:
    if not reading.samples:
        to.warning(
            'monitors-none',
            f'{" and ".join(asking)}: reads the metrics of the instance '
            'monitors, and Prometheus has none',
            'check that the instance monitors run, and have Prometheus scrape '
            'their /metrics',
        )
        return
    if missing:
        to.warning(
            'monitors-missing',
            f'no instance monitor reports for {len(missing)} of {len(hosts)} '
            f'hosts ({wording.some(missing)}), so failures of servers there '
            'go unnoticed',
            f'{START}; [kronos_monitor] host must be the name in '
            f'"{ShellCommand.SERVICE_LIST}"',
        )
    if blind:
        to.warning(
            'monitors-blind',
            f'{wording.counted(len(blind), "instance monitor")} '
            f'({wording.some(blind)}): the hypervisor sends no events',
            'check there that libvirt runs, and read the log of the monitor',
        )
