# SPDX-License-Identifier: Apache-2.0
"""The inventory of a cloud, and what of it belongs to each scope."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kronos.common.names.name_marks import HostName, ScopeName, Text
from kronos.engine.extension import PLAIN, Extension
from kronos.engine.types import (
    ComputeService,
    Disruption,
    EffectRatio,
    Event,
    Host,
    Instance,
    PolicyReadings,
    ServerGroup,
    Snapshot,
)
from kronos.snapshots import exclusions, scopes
from kronos.snapshots.scopes import ScopeRequest

NO_HEADROOM = 'the headroom of the hosts is not known'
NO_HISTORY = (
    "the recording does not contain Watcher's history of moves, so no "
    'quarantine is in force, and cooldowns follow from the migrations of '
    'Nova only'
)
NO_DIRTY_RATES = (
    'the memory write rates of guests are not known, so migrations may take '
    'longer than expected'
)
"""Warnings that are told with the reason."""


@dataclass
class CloudInventory:
    """A cloud at one moment, whatever scopes are wanted of it."""

    cloud: scopes.Cloud
    """Its hosts with their headroom, traits and cells."""
    services: dict[HostName, ComputeService] | None
    """By host; None when os-services failed."""
    instances: list[Instance] = field(default_factory=list)
    """All of the cloud, without what an audit excludes."""
    groups: list[ServerGroup] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    taken_at: float = 0.0
    """Unix seconds."""
    warnings: list[Text] = field(default_factory=list)
    """What every scope should tell."""
    exclusions_unknown: Text = ''
    """Why nobody knows which hosts are at fault; '' if it is known."""
    effects: dict[ScopeName, list[EffectRatio]] = field(default_factory=dict)
    """Of earlier plans, by scope."""
    beside: dict[Text, object] = field(default_factory=dict)
    """What only extensions read, by their names."""
    disruptions: list[Disruption] = field(default_factory=list)
    """Empty unless there are budgets."""


def cut(
    gathered: CloudInventory,
    request: ScopeRequest,
    readings: dict[str, PolicyReadings],
    extension: Extension = PLAIN,
) -> list[Snapshot]:
    """One snapshot per scope of a request, in the order of planning.

    :param readings: by name of an enabled policy
    :param extension: that plans them
    :raises ScopeError: the request is for no, an unknown or an empty scope
    """
    hosts = scopes.resolve(request, gathered.cloud)
    return parts(gathered, request, hosts, readings, extension)


def parts(
    gathered: CloudInventory,
    request: ScopeRequest,
    hosts_by_scope: Mapping[str, Sequence[Host]],
    readings: dict[str, PolicyReadings],
    extension: Extension,
) -> list[Snapshot]:
    """The same for scopes that are resolved already.

    :param hosts_by_scope: hosts by scope, as of :func:`scopes.resolve`
    """
    scopes.warn_of_vain(request, gathered.instances)
    instances = [
        _checked(instance, request) for instance in gathered.instances
    ]
    snapshots = [
        _snapshot(name, hosts, instances, gathered, readings)
        for name, hosts in hosts_by_scope.items()
    ]
    display = Counter(instance.name for instance in instances)
    internal = Counter(instance.internal_name for instance in instances)
    for snapshot in snapshots:
        beside = extension.cut(snapshot, gathered, request)
        if beside is not None:
            snapshot.beside[extension.name] = beside
        inside = list(snapshot.instances.values())
        snapshot.display_names_elsewhere = _beyond(
            display, Counter(instance.name for instance in inside)
        )
        snapshot.internal_names_elsewhere = _beyond(
            internal, Counter(instance.internal_name for instance in inside)
        )
    return snapshots


def repeated(instances: Iterable[Instance]) -> set[str]:
    """Names, display or internal ones, that several instances have."""
    everyone = list(instances)
    counts = (
        Counter(instance.name for instance in everyone),
        Counter(instance.internal_name for instance in everyone),
    )
    return {
        name
        for count_by_name in counts
        for name, count in count_by_name.items()
        if name and count > 1
    }


def _beyond(everywhere: Counter[str], inside: Counter[str]) -> set[str]:
    """Names that are inside, and outside as well."""
    return {
        name
        for name, count in inside.items()
        if name and everywhere[name] > count
    }


def _checked(instance: Instance, request: ScopeRequest) -> Instance:
    """The instance; a copy with the reason if the request excludes it."""
    reason = scopes.exclusion_of(instance, request)
    if not reason:
        return instance
    return dataclasses.replace(instance, unmovable=reason)


def _snapshot(
    name: str,
    hosts: Sequence[Host],
    everyone: Sequence[Instance],
    gathered: CloudInventory,
    readings: dict[str, PolicyReadings],
) -> Snapshot:
    """Cut a scope out; other hosts, instances and groups are no part."""
    names = {host.name for host in hosts}
    instances = {
        instance.uuid: instance
        for instance in everyone
        if instance.host in names
    }
    return Snapshot(
        scope=name,
        hosts={host.name: host for host in hosts},
        instances=instances,
        readings=readings,
        services=gathered.services,
        exclusions_unknown=gathered.exclusions_unknown,
        groups=[
            group
            for group in gathered.groups
            if any(member in instances for member in group.members)
        ],
        events=[
            event
            for event in gathered.events
            if event.source in names
            or event.destination in names
            or event.instance in instances
        ],
        disruptions=gathered.disruptions,
        taken_at=gathered.taken_at,
        warnings=[*gathered.warnings, *exclusions.warnings(hosts)],
        effects=gathered.effects.get(name, []),
    )
