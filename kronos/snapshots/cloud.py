# SPDX-License-Identifier: Apache-2.0
"""The inventory of a cloud, and what of it belongs to each scope."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kronos.common.shell_commands import ShellCommand
from kronos.engine.name_marks import HostName, Text
from kronos.engine.types import (
    ComputeService,
    Event,
    Host,
    Instance,
    PolicyReadings,
    ServerGroup,
    Snapshot,
)
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import CellNeeds
from kronos.extensions.recovery import failures
from kronos.extensions.recovery.failures import Failures
from kronos.snapshots import cell_hosts, exclusions, scopes
from kronos.snapshots.scopes import ScopeRequest

NO_HEADROOM = 'the headroom of the hosts is not known'
NO_HISTORY = (
    'what Watcher knows of past moves is not recorded, so no quarantine is in '
    'force, and cooldowns are known from the migrations of Nova alone'
)
NO_DIRTY_RATES = (
    'how fast guests write to memory is not known, so migrations may take '
    'longer than expected'
)
"""Warnings that are told with the reason."""
NOT_ASKED = (
    'nobody asked which hosts are at fault and which servers failed; '
    f'kronos_recover and {ShellCommand.RECORD} do'
)


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
    failures_unknown: Text = NOT_ASKED
    """Why nobody knows what is to be recovered; '' if it is known."""
    cell_needs: CellNeeds = field(default_factory=CellNeeds)
    beside: dict[Text, object] = field(default_factory=dict)
    """What extensions keep for all scopes, by their names."""


def cut(
    gathered: CloudInventory,
    request: ScopeRequest,
    readings: dict[str, PolicyReadings],
) -> list[Snapshot]:
    """One snapshot per scope of a request, in the order of planning.

    :param readings: by name of an enabled policy
    :raises ScopeError: the request is for no, an unknown or an empty scope
    """
    hosts = scopes.resolve(request, gathered.cloud)
    return parts(gathered, request, hosts, readings)


def parts(
    gathered: CloudInventory,
    request: ScopeRequest,
    hosts_by_scope: Mapping[str, Sequence[Host]],
    readings: dict[str, PolicyReadings],
) -> list[Snapshot]:
    """The same for scopes that are resolved already.

    :param hosts_by_scope: hosts by scope, as of :func:`scopes.resolve`
    """
    scopes.warn_of_vain(request, gathered.instances)
    instances = [_kept(instance, request) for instance in gathered.instances]
    snapshots = [
        _snapshot(name, hosts, instances, gathered, readings)
        for name, hosts in hosts_by_scope.items()
    ]
    display = Counter(instance.name for instance in instances)
    internal = Counter(instance.internal_name for instance in instances)
    for snapshot in snapshots:
        if request.cells is not None:
            _add_cell_needs(snapshot, request.cells, gathered)
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


def _kept(instance: Instance, request: ScopeRequest) -> Instance:
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
    failed = Failures(
        gathered.failures_unknown, _faulty_elsewhere(name, names, gathered)
    )
    return Snapshot(
        scope=name,
        hosts={host.name: host for host in hosts},
        instances=instances,
        readings=readings,
        services=gathered.services,
        exclusions_unknown=gathered.exclusions_unknown,
        beside={failures.NAME: failed, **gathered.beside},
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
        taken_at=gathered.taken_at,
        warnings=[*gathered.warnings, *exclusions.warnings(hosts)],
    )


def _add_cell_needs(
    snapshot: Snapshot, scope: cell_hosts.CellScope, gathered: CloudInventory
) -> None:
    services = gathered.services or {}
    open_ = {
        name for name, service in services.items() if service.is_available
    }
    hosts = gathered.cloud.hosts | gathered.cloud.other_hosts
    snapshot.beside[cell_drain.NAME] = dataclasses.replace(
        gathered.cell_needs,
        open_source_hosts=cell_hosts.open_beside(scope, hosts, open_),
    )


def _faulty_elsewhere(
    scope: str, inside: Collection[str], gathered: CloudInventory
) -> list[str]:
    """Hosts of the aggregate of a scope that an audit leaves out of it."""
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
