# SPDX-License-Identifier: Apache-2.0
"""The forms of host names: which option would have labels match hosts.

Nova and Prometheus may call a host by its short name, with its domain, with a
port, or by another label of the series.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kronos.engine.scoring import labels
from kronos.engine.settings import HostMatch
from kronos.engine.types import Sample, Snapshot
from kronos.policies.models import Policy

HOST = 'host'
Series = Mapping[str, str]
"""The labels of a series."""


@dataclass(frozen=True)
class NameForm:
    """How an answer would find hosts that it misses."""

    label: str
    """Name of the label that holds the host."""
    host_match: HostMatch
    value: str
    """Of that label, as an example."""
    host: str
    """The host that it would match, as Nova calls it."""
    missing: int
    """Hosts without a value now."""
    hosts: int

    @property
    def cause(self) -> str:
        """What differs, as a sentence."""
        share = (
            'no host has a value'
            if self.missing == self.hosts
            else f'{self.missing} of {self.hosts} hosts have no value'
        )
        return (
            f'{share}: Prometheus has the name {self.value} where '
            f'Nova has {self.host}'
        )

    def remedy(
        self, how: HostMatch, label: str = HOST, option: str = 'host_label'
    ) -> str:
        """The options that the form differs by.

        :param how: labels are matched now
        :param label: that is to hold the host now
        :param option: of a policy, that names the label
        """
        parts = []
        if self.label != label:
            parts.append(f'write {option}: {self.label} into each such policy')
        if self.host_match is not how:
            parts.append(f'set [kronos] host_match = {self.host_match}')
        return ', and '.join(parts)


def series_of(samples: Iterable[Sample], label: str) -> list[Series]:
    """The labels of each series.

    :param label: that the samples were asked by; '': by none
    """
    return [
        {
            **labels.of_series(sample.series),
            **({label: sample.label} if label else {}),
        }
        for sample in samples
    ]


def better(
    series: Sequence[Series],
    label: str,
    hosts: Collection[str],
    how: HostMatch,
) -> NameForm | None:
    """The form by which most of the hosts that have no value would have one.

    The label that is asked for goes before others, the present way of matching
    before another one.

    :param label: that is to hold the host
    :returns: None if no other form finds so many
    """
    matched = _matched(series, label, hosts, how)
    missing = set(hosts) - set(matched.values())
    best, most = None, 0
    for key, other in _forms(series, label, how):
        gained = {
            value: host
            for value, host in _matched(series, key, hosts, other).items()
            if host in missing
        }
        count = len(set(gained.values()))
        if count > most:
            value = min(gained)
            best, most = (
                NameForm(
                    key,
                    other,
                    value,
                    gained[value],
                    len(missing),
                    len(hosts),
                ),
                count,
            )
    is_cause = 2 * most >= len(missing) or not matched
    return best if is_cause else None


def of_snapshots(
    snapshots: Iterable[Snapshot], policies: Iterable[Policy], how: HostMatch
) -> NameForm | None:
    """The way of matching that hosts lack a value for, in all scopes.

    :returns: None if hosts have values, or no other way gives them any
    """
    names = [policy.name for policy in policies if policy.enabled]
    values: list[Series] = []
    hosts: set[str] = set()
    for snapshot in snapshots:
        hosts |= set(snapshot.hosts)
        for name in names:
            if (readings := snapshot.readings.get(name)) is not None:
                values += [
                    {HOST: sample.label}
                    for sample in readings.imbalance.samples
                ]
    return better(values, HOST, hosts, how) if hosts else None


def _forms(
    series: Sequence[Series], label: str, how: HostMatch
) -> Iterator[tuple[str, HostMatch]]:
    others = sorted({name for row in series for name in row} - {label})
    ways = [how, *(way for way in HostMatch if way is not how)]
    for name in (label, *others):
        for way in ways:
            if (name, way) != (label, how):
                yield name, way


def _matched(
    series: Sequence[Series],
    label: str,
    hosts: Collection[str],
    how: HostMatch,
) -> dict[str, str]:
    values = {row[label] for row in series if row.get(label)}
    return labels.match_hosts(values, hosts, how).hosts
