# SPDX-License-Identifier: Apache-2.0
"""The hosts and zones in figures, before and after."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = list[tuple[float | None, float | None]]


@dataclass
class HostFigures:
    name: str
    zone: str
    unavailable: str
    """Why it takes no part; empty if it does."""
    before: int
    """Instances, and ``after`` the same."""
    after: int
    values: Values
    """Before and after, by policy in the order of the scope."""
    leaving: list[int] = field(default_factory=list)
    """Numbers of the moves from it, as in their table, and ``coming``."""
    coming: list[int] = field(default_factory=list)


@dataclass
class ZoneFigures:
    name: str
    hosts: int = 0
    unavailable: int = 0
    before: int = 0
    after: int = 0
    inside: int = 0
    """Moves that stay in it."""
    leaving: int = 0
    entering: int = 0


@dataclass
class InstanceHosts:
    """Where the instances of a scope are; empty in old reports."""

    is_known: bool
    before: dict[str, str] = field(default_factory=dict)
    """Instance uuid to host, and ``after`` the same."""
    after: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def instance_hosts(scope: Mapping[str, Any]) -> InstanceHosts:
    instances = scope.get('instances')
    if instances is None:
        return InstanceHosts(False)
    hosts_of = InstanceHosts(True)
    for uuid, instance in instances.items():
        hosts_of.before[uuid] = instance['host']
        hosts_of.names[uuid] = instance['name']
    hosts_of.after = dict(hosts_of.before)
    for step in scope['steps']:
        hosts_of.after[step['instance']] = step['destination']
    return hosts_of


def hosts(
    scope: Mapping[str, Any], where: InstanceHosts, policies: Sequence[str]
) -> list[HostFigures]:
    """Every host of the scope, by name.

    :param policies: names of those that have values
    """
    before = Counter(where.before.values())
    after = Counter(where.after.values())
    scores = {
        policy['name']: {row['host']: row for row in policy['scores']}
        for policy in scope['policies']
    }
    leaving: dict[str, list[int]] = {}
    coming: dict[str, list[int]] = {}
    for number, step in enumerate(scope['steps'], start=1):
        leaving.setdefault(step['source'], []).append(number)
        coming.setdefault(step['destination'], []).append(number)
    rows = []
    for host in scope['hosts']:
        name = host['name']
        own = [scores[policy].get(name, {}) for policy in policies]
        rows.append(
            HostFigures(
                name=name,
                zone=host['availability_zone'],
                unavailable=host['unavailable'],
                before=before[name],
                after=after[name],
                values=[(row.get('value'), row.get('after')) for row in own],
                leaving=leaving.get(name, []),
                coming=coming.get(name, []),
            )
        )
    return rows


def zones(
    rows: Sequence[HostFigures], steps: Sequence[Mapping[str, Any]]
) -> list[ZoneFigures]:
    """The zones by name, with their hosts added up."""
    zone_of = {row.name: row.zone for row in rows}
    by_name: dict[str, ZoneFigures] = {}
    for row in rows:
        zone = by_name.setdefault(row.zone, ZoneFigures(row.zone))
        zone.hosts += 1
        zone.unavailable += bool(row.unavailable)
        zone.before += row.before
        zone.after += row.after
    for step in steps:
        source = by_name.get(zone_of.get(step['source'], ''))
        destination = by_name.get(zone_of.get(step['destination'], ''))
        if source is destination:
            if source:
                source.inside += 1
            continue
        if source:
            source.leaving += 1
        if destination:
            destination.entering += 1
    return [by_name[name] for name in sorted(by_name)]
