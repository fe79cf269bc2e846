# SPDX-License-Identifier: Apache-2.0
"""The scopes that a request names, and their hosts."""

import abc
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from oslo_log import log as logging

from kronos.clients.nova.rows import HostAggregate
from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.common.names.name_marks import (
    AggregateReference,
    HostName,
    ProjectName,
    ScopeName,
    Text,
    Uuid,
    ZoneName,
)
from kronos.engine import wording
from kronos.engine.scoring import labels
from kronos.engine.types import UNASSIGNED, Host, Instance

LOG = logging.getLogger(__name__)

ALL = '*'
NO_SCOPE = (
    'no scope: name aggregates (-p aggregates=NAME,..., or aggregates in '
    '[kronos]) or set include_unassigned_hosts'
)


@dataclass
class AggregateRef:
    """An aggregate by its id or by its name, whichever is given.

    An audit's scope says which of them it means: one aggregate's name may
    look like the id of another.
    """

    id: Text = ''
    name: ScopeName = ''


@dataclass
class ScopeRequest:
    """What an audit, or a command, wants to be planned and left alone."""

    aggregates: list[AggregateReference | AggregateRef] = field(
        default_factory=list
    )
    """In the order of planning; a string is a name, else a uuid or an id,
    and ``*`` means all."""
    include_unassigned: bool = False
    availability_zones: list[ZoneName] = field(default_factory=list)
    """Their aggregates are planned, each as a scope of its own; ``*`` means
    all zones that an aggregate makes."""
    excluded_hosts: list[HostName] = field(default_factory=list)
    """These are taken out of their scopes, with their instances."""
    excluded_aggregates: list[AggregateReference | AggregateRef] = field(
        default_factory=list
    )
    """Their hosts are taken out of every scope; ``*`` means all of them."""
    excluded_instances: list[Uuid] = field(default_factory=list)
    """Uuids; like the next two these stay, as load that cannot move."""
    excluded_projects: list[ProjectName] = field(default_factory=list)
    excluded_metadata: list[dict[Text, Text]] = field(default_factory=list)
    """An instance that has all items of one of them is excluded; the case
    of the values does not matter."""
    chosen: object = None
    """A :class:`HostChoice`: what is planned instead of aggregates and
    zones."""


@dataclass
class Cloud:
    """What the scopes are cut out of."""

    hosts: dict[HostName, Host]
    """Of the types that are planned, with their availability zones."""
    other_hosts: dict[HostName, Host]
    aggregates: list[HostAggregate]
    cells: dict[Text, dict[Text, Text]] = field(default_factory=dict)
    """By host, by name of a cell, who says that the host is in it."""


class HostChoice(abc.ABC):
    """The hosts of an audit that names neither aggregates nor zones."""

    NAMES: ClassVar[str]
    """What its parameters name instead, in the plural."""

    @abc.abstractmethod
    def scopes(
        self, cloud: Cloud, excluded: Collection[str]
    ) -> dict[str, list[Host]]:
        """The hosts of each scope, in the order of planning.

        :param excluded: names of hosts that take no part
        :raises ScopeError: names the parameter, its value and what is wrong
        """


def resolve(request: ScopeRequest, cloud: Cloud) -> dict[str, list[Host]]:
    """The hosts of each scope, in the order of planning.

    :raises ScopeError: no scope, one that is unknown or has no host, or
        an exclusion of what does not exist
    """
    if isinstance(request.chosen, HostChoice):
        return request.chosen.scopes(cloud, _excluded_hosts(request, cloud))
    named = [ref for ref in request.aggregates if ref != ALL]
    wants_all = ALL in request.aggregates
    if not (
        wants_all
        or named
        or request.availability_zones
        or request.include_unassigned
    ):
        raise exceptions.ScopeError(reason=NO_SCOPE)
    excluded = _excluded_hosts(request, cloud)
    scopes: dict[str, list[Host]] = {}
    for ref in named:
        aggregate = _find(ref, cloud.aggregates)
        scopes[aggregate.name] = _hosts_of(aggregate, cloud, excluded)
    for zone in request.availability_zones:
        scopes |= _zone_scopes(zone, cloud, excluded)
    if wants_all:
        scopes = _all_scopes(cloud, excluded)
    if request.include_unassigned:
        pool = _unassigned(cloud, excluded)
        if pool or scopes:
            scopes |= {UNASSIGNED: pool} if pool else {}
        else:
            raise exceptions.ScopeError(
                reason='include_unassigned_hosts is set, but there is no '
                'host outside all aggregates that may be planned'
                + _other_types(cloud)
            )
    if not scopes:
        raise exceptions.ScopeError(
            reason='no aggregate has a host that may be planned'
            + _other_types(cloud)
        )
    return scopes


def _other_types(cloud: Cloud) -> str:
    """What hypervisor_types leaves out, where that may be the reason."""
    types = {host.hypervisor_type for host in cloud.other_hosts.values()}
    if not types:
        return ''
    number = len(cloud.other_hosts)
    return (
        f'; {number} host{" is" if number == 1 else "s are"} of a type that '
        'is not in hypervisor_types of [kronos]: '
        + wording.some(sorted(types))
    )


def exclusion_of(instance: Instance, request: ScopeRequest) -> str:
    """Why a request keeps an instance where it is; empty if it does not."""
    if instance.uuid in request.excluded_instances:
        return "excluded by the audit's scope"
    if instance.project_id in request.excluded_projects:
        return "its project is excluded by the audit's scope"
    for items in request.excluded_metadata:
        if items and all(
            key in instance.metadata
            and instance.metadata[key].lower() == value.lower()
            for key, value in items.items()
        ):
            text = ', '.join(f'{k}={v}' for k, v in sorted(items.items()))
            return f"its metadata {text} is excluded by the audit's scope"
    return ''


def warn_of_vain(request: ScopeRequest, instances: Iterable[Instance]) -> None:
    """Say which exclusions meet nothing.

    A server that was deleted must not stop the audits that spared it.
    """
    uuids, projects = set(), set()
    for instance in instances:
        uuids.add(instance.uuid)
        projects.add(instance.project_id)
    for kind, names, existing in (
        ('instances', request.excluded_instances, uuids),
        ('projects', request.excluded_projects, projects),
    ):
        if vain := sorted(set(names) - existing):
            LOG.warning(
                'The scope excludes %s of which Nova shows no server: %s',
                kind,
                wording.some(vain, 20),
            )


def _find(
    ref: str | AggregateRef, aggregates: Iterable[HostAggregate]
) -> HostAggregate:
    candidates = list(aggregates)
    if isinstance(ref, AggregateRef):
        return _find_exactly(ref, candidates)
    for matches in (
        [a for a in candidates if a.name == ref],
        [a for a in candidates if ref in (a.uuid, str(a.id))],
    ):
        if matches:
            return matches[0]
    raise _unknown('aggregate', ref, sorted(a.name for a in candidates))


def _find_exactly(
    ref: AggregateRef, aggregates: list[HostAggregate]
) -> HostAggregate:
    for aggregate in aggregates:
        if ref.id == str(aggregate.id) or ref.name == aggregate.name:
            return aggregate
    if ref.id:
        numbered = sorted(aggregates, key=lambda a: a.id)
        names = [f'{a.id} ({a.name})' for a in numbered]
        raise _unknown('aggregate with the id', ref.id, names)
    raise _unknown(
        'aggregate named', ref.name, sorted(a.name for a in aggregates)
    )


def _zone_scopes(
    zone: str, cloud: Cloud, excluded: Collection[str]
) -> dict[str, list[Host]]:
    """The aggregates of a zone.

    One without a host that may be planned is left out, since nobody named
    it, unless all are.
    """
    aggregates = _of_zone(zone, cloud)
    able = [a for a in aggregates if _sorted_out(a, cloud, excluded)[0]]
    return {a.name: _hosts_of(a, cloud, excluded) for a in able or aggregates}


def _of_zone(zone: str, cloud: Cloud) -> list[HostAggregate]:
    aggregates = [
        a
        for a in cloud.aggregates
        if a.availability_zone and zone in (a.availability_zone, ALL)
    ]
    if aggregates:
        return aggregates
    hosts = [*cloud.hosts.values(), *cloud.other_hosts.values()]
    if any(host.availability_zone == zone for host in hosts):
        # The zone of all hosts that no aggregate puts into another one.
        raise exceptions.ScopeError(
            reason=f'no host aggregate makes the availability zone "{zone}": '
            'name its aggregates in host_aggregates instead, or set '
            'include_unassigned_hosts for its hosts that are in none'
        )
    zones = (a.availability_zone for a in cloud.aggregates)
    raise _unknown('availability zone', zone, sorted(filter(None, zones)))


def _unknown(
    kind: str, name: str, existing: Iterable[str]
) -> exceptions.ScopeError:
    return exceptions.ScopeError(
        reason=f'there is no {kind} "{name}"; '
        + near_names.of_cloud(name, existing)
    )


def _excluded_hosts(request: ScopeRequest, cloud: Cloud) -> set[str]:
    nodes = {h.node: h.name for h in cloud.hosts.values()}
    hosts = {h for a in cloud.aggregates for h in a.hosts}
    hosts |= set(cloud.hosts) | set(cloud.other_hosts)
    excluded = set()
    for name in request.excluded_hosts:
        host = labels.find_host(name, hosts)
        if host is None:
            node = labels.find_host(name, nodes)
            host = None if node is None else nodes[node]
        if host is None:
            # Ignored, it might let a host be touched that was misspelt.
            raise _unknown('host to exclude', name, sorted(cloud.hosts))
        excluded.add(host)
    for ref in request.excluded_aggregates:
        whole = cloud.aggregates
        for aggregate in whole if ref == ALL else [_find(ref, whole)]:
            excluded |= set(aggregate.hosts)
    return excluded


def _hosts_of(
    aggregate: HostAggregate, cloud: Cloud, excluded: Collection[str]
) -> list[Host]:
    """The hosts of an aggregate that may be planned.

    :raises ScopeError: none is left, with what became of each
    """
    hosts, left_out = _sorted_out(aggregate, cloud, excluded)
    if hosts:
        for reason, names in left_out.items():
            LOG.info(
                'Aggregate %s: left out: %s (%s)',
                aggregate.name,
                wording.some(names, 20),
                reason,
            )
        return hosts
    reasons = '; '.join(
        f'{wording.some(names)}: {reason}'
        for reason, names in left_out.items()
    )
    raise exceptions.ScopeError(
        reason=f'aggregate "{aggregate.name}" has no host that may be '
        f'planned ({reasons or "it is empty"})'
    )


def _sorted_out(
    aggregate: HostAggregate, cloud: Cloud, excluded: Collection[str]
) -> tuple[list[Host], Mapping[str, list[str]]]:
    hosts: list[Host] = []
    left_out: dict[str, list[str]] = {}
    for name in aggregate.hosts:
        if name in excluded:
            left_out.setdefault('excluded', []).append(name)
        elif name in cloud.hosts:
            hosts.append(cloud.hosts[name])
        elif name in cloud.other_hosts:
            reason = (
                f'type {cloud.other_hosts[name].hypervisor_type} is not in '
                'hypervisor_types of [kronos]'
            )
            left_out.setdefault(reason, []).append(name)
        else:
            left_out.setdefault('Nova has no hypervisor', []).append(name)
    return hosts, left_out


def _all_scopes(
    cloud: Cloud, excluded: Collection[str]
) -> dict[str, list[Host]]:
    """Every aggregate but those without a host that may be planned."""
    scopes = {}
    for aggregate in sorted(cloud.aggregates, key=lambda a: a.name):
        hosts, _ = _sorted_out(aggregate, cloud, excluded)
        if hosts:
            scopes[aggregate.name] = hosts
    return scopes


def _unassigned(cloud: Cloud, excluded: Collection[str]) -> list[Host]:
    taken = {host for a in cloud.aggregates for host in a.hosts}
    return [
        host
        for name, host in sorted(cloud.hosts.items())
        if name not in taken and name not in excluded
    ]
