# SPDX-License-Identifier: Apache-2.0
"""The collector: it asks Nova, Placement and Prometheus once."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.clients import placement
from kronos.clients.nova import client
from kronos.clients.nova.client import NovaClient
from kronos.clients.placement import PlacementClient
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.engine import wording
from kronos.engine.eligibility import budgets, cooldown
from kronos.engine.scoring import answer_health, dirty_rates, labels
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Event,
    Host,
    Reading,
    Snapshot,
)
from kronos.policies.models import DirtyRateQuery, Policy
from kronos.snapshots import (
    cells,
    disruptions,
    exclusions,
    queries,
    scopes,
    stale_migrations,
)
from kronos.snapshots.cloud import (
    NO_DIRTY_RATES,
    NO_HEADROOM,
    CloudInventory,
    parts,
)
from kronos.snapshots.past import lasting_faults
from kronos.snapshots.reader import Look, Reader
from kronos.snapshots.scopes import ScopeRequest

__all__ = ['Collector', 'CollectedCloud', 'ScopeRequest']

LOG = logging.getLogger(__name__)


@dataclass
class CollectedCloud:
    """One look at the cloud: all of it, and the scopes that were wanted."""

    gathered: CloudInventory
    answers: dict[tuple[str, str], Reading]
    """By query and label: what Prometheus said."""
    snapshots: list[Snapshot]


class Collector:
    """Takes snapshots of a live cloud.

    One class, since a snapshot is of one look.

    :param hypervisor_types: types that are planned, in any case
    :param cell_source: where the operator tells the cells of hosts
    :param exclude_hosts_query: names the hosts that take nothing; '': none
        is asked
    :param dirty_rates: of the policies file; None: it is not asked
    :param reader: of an extension, for what only it needs
    :param clock: Unix seconds
    :param report: takes a line of text as each part has been read
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
        exclude_hosts_query: str = '',
        dirty_rates: DirtyRateQuery | None = None,
        reader: Reader | None = None,
        clock: Callable[[], float] = time.time,
        report: Callable[[str], None] = LOG.debug,
    ) -> None:
        self._nova = nova
        self._placement = placement
        self._prometheus = prometheus
        self._types = {name.lower() for name in hypervisor_types}
        self._cell_source = cells.CellSource(cell_source)
        self._exclude_hosts_query = exclude_hosts_query
        self._dirty_rates = dirty_rates
        self._reader = reader or Reader()
        self._clock = clock
        self._report = report

    def collect(
        self,
        request: ScopeRequest,
        policies: Sequence[Policy],
        settings: Settings,
        events: Sequence[Event] = (),
    ) -> CollectedCloud:
        """Look at the cloud and cut the scopes out.

        Every listing is read once for all scopes, and each query of a
        policy is asked once. Without os-services a snapshot's ``services``
        is None; without Placement its hosts have no headroom. Without an
        answer to ``exclude_hosts_query`` its ``exclusions_unknown`` says why.

        :param events: what is known of moves from elsewhere; those that
            Nova tells of are added
        :raises ScopeError: the request is for no, an unknown or an empty
            scope
        :raises NovaClientError: another listing of Nova failed: without
            it nothing can be planned
        :raises ConfigurationError: the reader refuses what an audit asks for
        """
        gathered = self._begin()
        # A name that is misspelt is told before the long listings.
        hosts = scopes.resolve(request, gathered.cloud)
        self._go_on(gathered, settings, events)
        metrics = queries.PolicyQueries(self._prometheus, settings)
        readings = metrics.of(policies)
        self._report(f'{metrics.queries} queries of the policies')
        _exclude(gathered, metrics, self._exclude_hosts_query, settings)
        self._reader.read(
            Look(gathered, hosts, self._nova, metrics, settings, self._report)
        )
        if self._dirty_rates is not None:
            _note_dirty_rates(gathered, metrics, self._dirty_rates, settings)
        _note_clocks(gathered, metrics)
        return CollectedCloud(
            gathered,
            metrics.answers,
            parts(gathered, request, hosts, readings, settings.extension),
        )

    def _begin(self) -> CloudInventory:
        taken_at = self._clock()
        services = self._services()
        cloud, warnings = self._cloud(services)
        source = self._cell_source
        cloud.cells = cells.claims(source, cloud.aggregates, services)
        hosts = [*cloud.hosts.values(), *cloud.other_hosts.values()]
        cells.fill_in(source, hosts, cloud.cells)
        aggregates = len(cloud.aggregates)
        self._report(f'{len(hosts)} hosts in {aggregates} aggregates')
        return CloudInventory(
            cloud, services, taken_at=taken_at, warnings=warnings
        )

    def _go_on(
        self,
        gathered: CloudInventory,
        settings: Settings,
        events: Sequence[Event],
    ) -> None:
        cloud = gathered.cloud
        gathered.warnings += self._fill_in(cloud.hosts)
        self._report('headroom of the hosts')
        gathered.instances = self._nova.list_instances()
        self._report(f'{len(gathered.instances)} instances')
        gathered.groups = self._nova.list_server_groups()
        self._remember(gathered, events, settings)
        if gathered.events:
            lasting_faults.note(self._placement, gathered)
        self._report(
            f'{len(gathered.groups)} server groups, {len(gathered.events)} '
            'recorded moves'
        )

    def _services(self) -> dict[str, ComputeService] | None:
        try:
            return self._nova.list_compute_services()
        except exceptions.NovaClientError as error:
            LOG.error(
                'The state of the compute services is not known, so Kronos '
                'migrates no server: %s',
                error,
            )
            return None

    def _cloud(
        self, services: dict[str, ComputeService] | None
    ) -> tuple[scopes.Cloud, list[str]]:
        """The cloud, and what every scope should tell of it."""
        cloud = scopes.Cloud({}, {}, self._nova.list_aggregates())
        hosts, warnings = self._hosts(services)
        for host in hosts:
            planned = host.hypervisor_type.lower() in self._types
            table = cloud.hosts if planned or warnings else cloud.other_hosts
            table[host.name] = host
            if services and host.name in services:
                host.availability_zone = services[host.name].zone
        all_hosts = cloud.hosts | cloud.other_hosts
        for aggregate in cloud.aggregates:
            # Nova takes the name of a host there in any case.
            names = (
                labels.find_host(name, all_hosts) or name
                for name in aggregate.hosts
            )
            aggregate.hosts = list(dict.fromkeys(names))
        return cloud, warnings

    def _hosts(
        self, services: dict[str, ComputeService] | None
    ) -> tuple[list[Host], list[str]]:
        """The hypervisors; while a cell is down the services' hosts.

        A host of the cells that are up then gets its node from Placement,
        or takes no part. Of the others nothing is known.
        """
        try:
            return self._nova.list_compute_hosts(), []
        except exceptions.NovaClientError as error:
            if not client.is_of_down_cell(error, services):
                raise
            down = [
                name
                for name, service in sorted((services or {}).items())
                if service.state is None
            ]
            warning = (
                'a cell is down, so Nova lists no hypervisors: Kronos takes '
                'the hosts from os-services and Placement, whatever their '
                f'hypervisor type, and has no data about {wording.some(down)}'
            )
            LOG.warning('%s: %s', warning, error)
        return [Host(name) for name in sorted(services or {})], [warning]

    def _fill_in(self, hosts: dict[str, Host]) -> list[str]:
        """Add headroom and traits; returns what every scope should tell."""
        rooms: dict[str, placement.Room] = {}
        warnings = []
        try:
            rooms = self._placement.headroom()
        except exceptions.PlacementClientError as error:
            warnings = [f'{error}; {NO_HEADROOM}']
            LOG.error('%s', warnings[0])
        for host in hosts.values():
            if not host.node:
                host.node = placement.like(host.name, rooms)
            if not host.node:
                host.frozen = (
                    'while a cell is down its hypervisor is not known, and '
                    'Placement has no provider with its name'
                )
            if host.node in rooms:
                host.headroom, host.traits = rooms[host.node]
        return warnings

    def _remember(
        self,
        gathered: CloudInventory,
        recorded: Sequence[Event],
        settings: Settings,
    ) -> None:
        """Add the known events and Nova's, without what was left behind."""
        instances, now = gathered.instances, gathered.taken_at
        existing = {instance.uuid for instance in instances}
        since = cooldown.nova_since(settings, now, recorded, existing)
        since = min(since, now - budgets.longest_window(settings))
        listed, started = self._nova.list_history(since)
        unexplained = stale_migrations.unexplained(instances, listed)
        if unexplained:
            listed += [
                event
                for event in self._nova.list_unfinished_migrations()
                if event.instance in unexplained
            ]
        gathered.events, left_behind = stale_migrations.sort_out(
            [*recorded, *listed], instances, now
        )
        for event in left_behind:
            LOG.warning('%s', stale_migrations.sentence(event))
        if budgets.is_limited(settings):
            deleted = disruptions.of_deleted(self._nova, settings, now)
            gathered.disruptions = disruptions.of(
                started, gathered.events, instances, deleted, settings, now
            )


def _note_clocks(
    gathered: CloudInventory, metrics: queries.PolicyQueries
) -> None:
    """Note that the clock of Prometheus is not that of this host."""
    if warning := answer_health.clocks(metrics.readings):
        gathered.warnings.append(warning)
        LOG.warning('%s', warning)


def _note_dirty_rates(
    gathered: CloudInventory,
    metrics: queries.PolicyQueries,
    query: DirtyRateQuery,
    settings: Settings,
) -> None:
    """Note how fast guests write to memory, or that nobody knows."""
    reading = metrics.instant_query(query.query, query.label)
    why = answer_health.why_unusable(reading, settings.partial_answers)
    rates = dirty_rates.of(
        Reading(query.query) if why else reading,
        query,
        gathered.instances,
        gathered.cloud.hosts,
        settings.host_match,
    )
    for instance in gathered.instances:
        instance.dirty_rate = rates.get(instance.uuid, 0.0)
    doubts = answer_health.doubts(reading, query.label) if not why else []
    if not rates:
        why = why or (
            f'none of its {len(reading.samples)} series is of an instance'
        )
        doubts.append(f'{why}; {NO_DIRTY_RATES}')
    for text in doubts:
        warning = f'{dirty_rates.FIELD}: {text}'
        gathered.warnings.append(warning)
        LOG.warning('%s', warning)


def _exclude(
    gathered: CloudInventory,
    metrics: queries.PolicyQueries,
    query: str,
    settings: Settings,
) -> None:
    """Note the hosts at fault, or why nobody knows them."""
    hosts = gathered.cloud.hosts | gathered.cloud.other_hosts
    try:
        at_fault = exclusions.ask(metrics, query, hosts, settings.host_match)
    except exceptions.PrometheusError as error:
        gathered.exclusions_unknown = str(error)
        LOG.error(
            'The hosts at fault are not known, so Kronos migrates no server: '
            '%s',
            error,
        )
        return
    for text in at_fault.warnings:
        LOG.warning('%s', text)
    gathered.warnings += at_fault.warnings
    for name, value in at_fault.values.items():
        hosts[name].excluded = value
