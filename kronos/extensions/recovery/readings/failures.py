# SPDX-License-Identifier: Apache-2.0
"""The failures: servers that failed and hosts at fault, by queries.

They are what a recovery begins with. It fails closed: who does not know what
failed closes no host, and moves and starts no server.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from oslo_log import log as logging

from kronos.common import exceptions
from kronos.engine import wording
from kronos.engine.scoring import answer_health, labels
from kronos.engine.settings import HostMatch
from kronos.engine.types import Reading, Sample
from kronos.extensions.recovery.failures import NAME, Failures
from kronos.snapshots import exclusions
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.exclusions import HostsAtFault
from kronos.snapshots.queries import QuerySource

LOG = logging.getLogger(__name__)

OF_HOSTS, OF_SERVERS = 'host_fault_query', 'server_fault_query'
INSTANCE, KIND = 'instance_uuid', 'kind'
"""Labels of a server that failed."""
IO_ERROR, UNKNOWN = 'io_error', 'unknown'
KINDS = frozenset(
    {
        'crash',
        'panic',
        'hang',
        IO_ERROR,
        'postcopy_failed',
        'paused',
        'memory_error',
        'control_error',
    }
)
"""What kronos-instance-monitor tells. Of others no more is known than that
the server failed."""
EARLIEST = 1e9
"""Unix seconds; anything less is a count, or a flag."""


@dataclass(frozen=True)
class FailureQueries:
    """The two queries of ``[kronos]``; '': nothing is at fault."""

    hosts: str
    servers: str

    @classmethod
    def of(cls, kronos: Any) -> 'FailureQueries':
        """:param kronos: the group ``[kronos]``"""
        return cls(kronos.host_fault_query, kronos.server_fault_query)


@dataclass(frozen=True)
class Failure:
    """A server that failed."""

    kind: str
    at: float
    """Unix seconds: when that was last said."""
    host: str = ''
    """Where, if the series names a host that is known."""


def note(
    gathered: CloudInventory,
    prometheus: QuerySource,
    queries: FailureQueries,
    how: HostMatch,
) -> None:
    """Note the hosts at fault and the servers that failed, or why not."""
    hosts = gathered.cloud.hosts | gathered.cloud.other_hosts
    try:
        faulty = of_hosts(prometheus, queries.hosts, hosts, how)
        failed = of_servers(prometheus, queries.servers, hosts, how)
    except exceptions.PrometheusError as error:
        gathered.beside[NAME] = Failures(str(error))
        LOG.error(
            'The failed hosts and servers are unknown, so Kronos recovers '
            'none: %s',
            error,
        )
        return
    gathered.beside[NAME] = Failures()
    gathered.warnings += faulty.warnings
    for name, value in faulty.values.items():
        hosts[name].faulty = value
    for instance in gathered.instances:
        failure = failed.get(instance.uuid)
        # What another host says of it is of before it came here.
        if failure is not None and failure.host in ('', instance.host):
            instance.failure, instance.failed_at = failure.kind, failure.at


def of_hosts(
    prometheus: QuerySource, query: str, hosts: Collection[str], how: HostMatch
) -> HostsAtFault:
    """The hosts at fault, with the value of each; NaN is none.

    :raises PrometheusError: the answer cannot be used, or it is not certain
        which host a series means
    """
    result = exclusions.ask(prometheus, query, hosts, how, OF_HOSTS)
    if result.unclear:
        raise exclusions.unusable(
            'which host is meant is not certain by '
            f'{wording.some(sorted(result.unclear))}; give it the whole name',
            option=OF_HOSTS,
        )
    result.values = {
        host: value
        for host, value in result.values.items()
        if not math.isnan(value)
    }
    return result


def of_servers(
    prometheus: QuerySource, query: str, hosts: Collection[str], how: HostMatch
) -> dict[str, Failure]:
    """The servers that failed, by uuid; of several series the newest.

    :raises PrometheusError: the answer cannot be used
    """
    if not query:
        return {}
    reading = prometheus.instant_query(query, INSTANCE)
    exclusions.require_whole(reading, OF_SERVERS)
    if reading.unlabelled:
        raise exclusions.unusable(
            answer_health.unlabelled(reading, INSTANCE), option=OF_SERVERS
        )
    meant = exclusions.matched(reading, hosts, how).hosts
    failures: dict[str, Failure] = {}
    for uuid, failure in _failures(reading, meant):
        former = failures.get(uuid)
        if former is None or _rank(failure) > _rank(former):
            failures[uuid] = failure
    return failures


def _failures(
    reading: Reading, meant: Mapping[str, str]
) -> list[tuple[str, Failure]]:
    return [
        (
            sample.label,
            Failure(
                _kind(sample),
                _time_of(sample),
                meant.get(exclusions.label_of(sample), ''),
            ),
        )
        for sample in reading.samples
    ]


def _kind(sample: Sample) -> str:
    kind = labels.of_series(sample.series).get(KIND, UNKNOWN)
    return kind if kind in KINDS else UNKNOWN


def _time_of(sample: Sample) -> float:
    """:raises PrometheusError: its value is no time"""
    if math.isfinite(sample.value) and sample.value >= EARLIEST:
        return sample.value
    raise exclusions.unusable(
        f'the value of {sample.series} is {sample.value:g}, which is no Unix '
        'time; let the query be timestamp(...) of a metric',
        option=OF_SERVERS,
    )


def _rank(failure: Failure) -> tuple[float, bool, str]:
    """Of two that were said at once an I/O error tells more."""
    return failure.at, failure.kind == IO_ERROR, failure.kind


def elsewhere(
    scope: str, inside: Collection[str], gathered: CloudInventory
) -> list[str]:
    """Hosts at fault, or closed, of an aggregate that an audit leaves out.

    :param scope: name of the aggregate
    :param inside: names of its hosts that the audit plans
    """
    hosts = gathered.cloud.hosts | gathered.cloud.other_hosts
    services = gathered.services or {}
    return sorted(
        host
        for aggregate in gathered.cloud.aggregates
        if aggregate.name == scope
        for host in set(aggregate.hosts) - set(inside)
        if (host in hosts and hosts[host].faulty is not None)
        or (host in services and services[host].is_closed_by_kronos)
    )
