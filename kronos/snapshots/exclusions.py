# SPDX-License-Identifier: Apache-2.0
"""The exclusions: hosts that a query of the operator finds at fault.

The second half of the liveness gate: nova-compute may report while instances
fail on its host. An audit and the action ask by the same function. It fails
closed: who does not know which hosts are at fault moves nothing.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.engine.eligibility import hosts as eligible
from kronos.engine.scoring import answer_health, labels
from kronos.engine.settings import HostMatch
from kronos.engine.types import Host, Reading, Sample
from kronos.snapshots.queries import QuerySource

OPTION = 'exclude_hosts_query'
LABELS = ('host', 'instance')
"""The first of them that a series has names its host."""
ANY = ''
"""No label is asked for: a series may have either."""
EXAMPLES = 3
STRANGERS = 'no host of the cloud is called'
"""Of labels at fault."""
RENAME = (
    'Give the query a label host or instance that is the name in '
    f'"{ShellCommand.SERVICE_LIST}", or remove hosts of other clouds from it'
)


@dataclass
class HostsAtFault:
    """What an answer says of hosts at fault."""

    values: dict[str, float] = field(default_factory=dict)
    """By host."""
    unclear: list[str] = field(default_factory=list)
    """Labels at fault that may mean several hosts."""
    strangers: list[str] = field(default_factory=list)
    """Labels at fault that are no host of the cloud."""
    warnings: list[str] = field(default_factory=list)
    """That there are such."""


def ask(
    prometheus: QuerySource,
    query: str,
    hosts: Collection[str],
    how: HostMatch,
    option: str = OPTION,
) -> HostsAtFault:
    """The hosts at fault, with the value of each.

    :param query: ``[kronos] exclude_hosts_query``; '': none is at fault
    :param hosts: names of all that are known, so that no series is taken for
        one of a host that is called much like it
    :param option: where the query stands
    :raises PrometheusError: as of :func:`judge`
    """
    if not query:
        return HostsAtFault()
    return judge(prometheus.instant_query(query, ANY), hosts, how, option)


def judge(
    reading: Reading,
    hosts: Collection[str],
    how: HostMatch,
    option: str = OPTION,
) -> HostsAtFault:
    """The hosts that an answer excludes, with the value of each.

    The query names those at fault: a host without a series is not excluded,
    and NaN is not 0. Of several values the one furthest from 0 is told, and
    each host is excluded that a label may mean.

    :raises PrometheusError: the answer cannot be used, or a part of it may
        be missing, or no label of it is a host; ``transient`` says whether
        the next one may be better
    """
    require_whole(reading, option)
    named = _by_label(reading, option)
    result = HostsAtFault()
    for label, value in named.items():
        if value == 0.0:
            continue
        meant = labels.may_mean(label, named, hosts, how)
        if not meant and how is HostMatch.EXACT:
            _require_foreign(label, hosts, option)
        if not meant:
            result.strangers.append(label)
        if len(meant) > 1:
            result.unclear.append(label)
        for host in meant:
            result.values[host] = _worse(result.values.get(host, 0.0), value)
    if not result.values:
        _require_some_host(named, hosts, how, option)
    if result.strangers:
        series = [
            f'{label!r} ({named[label]:g})' for label in result.strangers
        ]
        result.warnings.append(
            f'{option}: {STRANGERS} {wording.some(series)}, which excluded '
            f'none. {RENAME}'
        )
    return result


def require_whole(reading: Reading, option: str) -> None:
    """:raises PrometheusError: a series may be missing from an answer"""
    if why := answer_health.why_unknown(reading):
        raise unusable(why, answer_health.may_pass(reading), option)


def unmatched(
    reading: Reading, hosts: Collection[str], how: HostMatch
) -> list[str]:
    """The labels of an answer that are no host."""
    return matched(reading, hosts, how).unmatched


def matched(
    reading: Reading, hosts: Collection[str], how: HostMatch
) -> labels.HostMatches:
    """The labels of an answer, and the hosts that they mean."""
    named = {
        label for sample in reading.samples if (label := label_of(sample))
    }
    return labels.match_hosts(named, hosts, how)


def warnings(hosts: Iterable[Host]) -> list[str]:
    """What is said of those of a scope that are excluded."""
    reasons = [
        f'{host.name}: {reason}'
        for host in sorted(hosts, key=lambda host: host.name)
        if (reason := eligible.why_excluded(host))
    ]
    if not reasons:
        return []
    verb = 'hosts take' if len(reasons) > 1 else 'host takes'
    return [f'{len(reasons)} {verb} no instance ({wording.some(reasons)})']


def _by_label(reading: Reading, option: str) -> dict[str, float]:
    """Values by the label of the host.

    :raises PrometheusError: of a series at fault nobody knows the host
    """
    named: dict[str, float] = {}
    nameless = [sample for sample in reading.samples if not label_of(sample)]
    for sample in reading.samples:
        if label := label_of(sample):
            named[label] = _worse(named.get(label, 0.0), sample.value)
    lost = [sample for sample in nameless if sample.value != 0.0]
    if lost or (nameless and not named):
        raise unusable(
            f'the series {(lost or nameless)[0].series} has neither a label '
            '"host" nor "instance"; keep one of them with "by"',
            option=option,
        )
    return named


def label_of(sample: Sample) -> str:
    """What names the host of a series; '' if nothing does."""
    by_name = labels.of_series(sample.series)
    return next((by_name[name] for name in LABELS if by_name.get(name)), '')


def _require_some_host(
    named: Collection[str],
    hosts: Collection[str],
    how: HostMatch,
    option: str,
) -> None:
    """:raises PrometheusError: there are labels, and none is a host"""
    matches = labels.match_hosts(named, hosts, how)
    if not named or matches.hosts or matches.ambiguous:
        return
    for label in named if how is HostMatch.EXACT else ():
        _require_foreign(label, hosts, option)
    raise unusable(
        'none of its labels is a host of the cloud '
        f'({wording.some([*map(repr, named)], EXAMPLES)}). {RENAME}',
        option=option,
    )


def _require_foreign(label: str, hosts: Collection[str], option: str) -> None:
    """:raises PrometheusError: it is a host but for a port or a domain"""
    if alike := labels.alike(label, hosts):
        raise unusable(
            f'its label {label!r} is not a host; [kronos] host_match = short '
            f'would match it to {wording.some(sorted(alike), EXAMPLES)}; '
            'otherwise remove it from the query',
            option=option,
        )


def _worse(value: float, other: float) -> float:
    """The value that is further from 0; a number tells more than NaN."""
    return max(value, other, key=lambda each: (each != 0.0, _size(each)))


def _size(value: float) -> float:
    return -1.0 if math.isnan(value) else abs(value)


def unusable(
    reason: str, transient: bool = False, option: str = OPTION
) -> exceptions.PrometheusError:
    """The error of an answer that cannot be used."""
    return exceptions.PrometheusError(
        f'{option}: {reason}', transient=transient
    )
