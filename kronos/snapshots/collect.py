# SPDX-License-Identifier: Apache-2.0
"""What is known of the scopes now? Asks Nova, Placement, Prometheus once."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.clients.nova import NovaClient
from kronos.clients.placement import PlacementClient
from kronos.clients.prometheus import PrometheusClient
from kronos.common import exceptions
from kronos.engine import cooldown
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Event,
    Host,
    Instance,
    PolicyReadings,
    ServerGroup,
    Snapshot,
)
from kronos.policies.models import Policy
from kronos.snapshots import cells, flights, scopes, survey
from kronos.snapshots.scopes import ScopeRequest

__all__ = ['Collector', 'ScopeRequest']

LOG = logging.getLogger(__name__)


@dataclass
class _Gathered:
    """What all snapshots of one cycle share."""

    services: dict[str, ComputeService] | None
    instances: list[Instance]
    groups: list[ServerGroup]
    events: list[Event]
    readings: dict[str, PolicyReadings]
    taken_at: float
    warnings: list[str]


class Collector:
    """Takes snapshots of a live cloud.

    :param hypervisor_types: types that are planned, in any case (M4)
    :param cell_source: where the operator tells the cells of hosts (S15)
    :param clock: Unix seconds
    :raises ValueError: ``cell_source`` is not ``metadata`` or ``az``
    """

    def __init__(
        self,
        nova: NovaClient,
        placement: PlacementClient,
        prometheus: PrometheusClient,
        *,
        hypervisor_types: Collection[str] = ('QEMU', 'KVM'),
        cell_source: str = 'metadata',
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._nova = nova
        self._placement = placement
        self._prometheus = prometheus
        self._types = {name.lower() for name in hypervisor_types}
        self._cell_source = cells.CellSource(cell_source)
        self._clock = clock

    def collect(
        self,
        request: ScopeRequest,
        policies: Sequence[Policy],
        settings: Settings,
        events: Sequence[Event] = (),
    ) -> list[Snapshot]:
        """One snapshot per scope, in the order of planning.

        Every listing is read once for all scopes, and each query of a
        policy is asked once. Without os-services a snapshot's ``services``
        is None (E12); without Placement its hosts have no headroom.

        :param events: what is known of moves from elsewhere; those that
            Nova tells of are added
        :raises ScopeError: the request is for no, an unknown or an empty
            scope
        :raises NovaClientError: another listing of Nova failed: without
            it nothing can be planned
        """
        taken_at = self._clock()
        services = self._services()
        cloud = self._cloud(services)
        found = scopes.resolve(request, cloud)
        hosts = {host.name: host for scope in found.values() for host in scope}
        warnings = self._fill_in(hosts)
        cells.fill_in(
            self._cell_source, hosts.values(), cloud.aggregates, services
        )
        instances = self._instances(request)
        gathered = _Gathered(
            services=services,
            instances=instances,
            groups=self._nova.list_server_groups(),
            events=self._events(instances, events, settings, taken_at),
            readings=survey.Survey(self._prometheus, settings).of(policies),
            taken_at=taken_at,
            warnings=warnings,
        )
        return [
            _snapshot(name, scope, gathered) for name, scope in found.items()
        ]

    def _services(self) -> dict[str, ComputeService] | None:
        try:
            return self._nova.list_compute_services()
        except exceptions.NovaClientError as error:
            LOG.error(
                'The state of the compute services is not known, so '
                'nothing will be migrated: %s',
                error,
            )
            return None

    def _cloud(
        self, services: dict[str, ComputeService] | None
    ) -> scopes.Cloud:
        cloud = scopes.Cloud({}, {}, self._nova.list_aggregates())
        for host in self._nova.list_compute_hosts():
            planned = host.hypervisor_type.lower() in self._types
            table = cloud.hosts if planned else cloud.other_hosts
            table[host.name] = host
            if services and host.name in services:
                host.availability_zone = services[host.name].zone
        return cloud

    def _fill_in(self, hosts: dict[str, Host]) -> list[str]:
        """Add headroom and traits; returns what every scope should tell."""
        try:
            rooms = self._placement.headroom()
        except exceptions.PlacementClientError as error:
            warning = f'{error}; the headroom of the hosts is not known'
            LOG.error('%s', warning)
            return [warning]
        for host in hosts.values():
            if host.node in rooms:
                host.headroom, host.traits = rooms[host.node]
        return []

    def _instances(self, request: ScopeRequest) -> list[Instance]:
        instances = self._nova.list_instances()
        for instance in instances:
            instance.unmovable = scopes.exclusion_of(instance, request)
        scopes.warn_of_vain(request, instances)
        return instances

    def _events(
        self,
        instances: Sequence[Instance],
        known: Sequence[Event],
        settings: Settings,
        now: float,
    ) -> list[Event]:
        """The known events and Nova's, without what was left behind."""
        existing = {instance.uuid for instance in instances}
        since = cooldown.nova_since(settings, now, known, existing)
        told = self._nova.list_migrations(since)
        unexplained = flights.unexplained(instances, told)
        if unexplained:
            told += [
                event
                for event in self._nova.list_unfinished_migrations()
                if event.instance in unexplained
            ]
        events, left_behind = flights.sort_out([*known, *told], instances, now)
        for event in left_behind:
            LOG.warning('%s', flights.sentence(event))
        return events


def _snapshot(name: str, hosts: list[Host], gathered: _Gathered) -> Snapshot:
    """Cut a scope out; other hosts, instances and groups are no part."""
    names = {host.name for host in hosts}
    instances = {
        instance.uuid: instance
        for instance in gathered.instances
        if instance.host in names
    }
    return Snapshot(
        scope=name,
        hosts={host.name: host for host in hosts},
        instances=instances,
        readings=gathered.readings,
        services=gathered.services,
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
        warnings=list(gathered.warnings),
    )
