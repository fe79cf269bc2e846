# SPDX-License-Identifier: Apache-2.0
"""The collector: it asks Nova, Placement and Prometheus once."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.clients.nova.client import NovaClient
from kronos.clients.placement import PlacementClient
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.engine.eligibility import budgets, cooldown
from kronos.engine.scoring import answer_health, dirty_rates
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Reading,
    Snapshot,
)
from kronos.options import choices
from kronos.policies.models import DirtyRateQuery, Policy
from kronos.snapshots import (
    disruptions,
    exclusions,
    queries,
    scopes,
    stale_migrations,
)
from kronos.snapshots.cloud import (
    NO_DIRTY_RATES,
    CloudInventory,
    parts,
)
from kronos.snapshots.host_reader import HostReader
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
        hypervisor_types: Collection[str] = choices.HYPERVISOR_TYPES,
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
        self._hosts = HostReader(
            nova,
            placement,
            hypervisor_types=hypervisor_types,
            cell_source=cell_source,
            clock=clock,
            report=report,
        )
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
        gathered = self._hosts.begin()
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

    def _go_on(
        self,
        gathered: CloudInventory,
        settings: Settings,
        events: Sequence[Event],
    ) -> None:
        self._hosts.fill_in(gathered)
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
