# SPDX-License-Identifier: Apache-2.0
"""The audits of the loop: the real engine, on snapshots of its cloud.

An audit of a scope that rests costs next to nothing: its window and cooldown
are asked before anything is read.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kronos.engine.eligibility import budgets, cooldown, window
from kronos.engine.planning import propose
from kronos.engine.planning.propose import ScheduledPlan
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Disruption,
    Event,
    Host,
    Instance,
    PolicyReadings,
    Reading,
    Sample,
    Snapshot,
    Stop,
    StopReason,
)
from kronos.policies.models import LabelType, Policy
from kronos.policies.windows import NOW
from kronos.recordings.recording import Recording
from kronos.simulate.accounting import Floats
from kronos.simulate.cloud import Cloud
from kronos.simulate.meter import Meter, QueryWindows
from kronos.snapshots import scope_windows, scopes
from kronos.snapshots.scope_windows import PlanContext
from kronos.snapshots.scopes import ScopeRequest


@dataclass
class Audit:
    """A continuous audit."""

    policies: list[Policy]
    settings: Settings
    request: ScopeRequest
    interval: float = 300.0
    """Seconds."""
    max_concurrent: int = 2
    windows: dict[str, QueryWindows] = field(default_factory=dict)
    """By policy; of one that is not in it those of its queries."""
    strategy: str = ''
    """``kronos_spread``, ...: which windows for moves apply to it."""

    @property
    def enabled(self) -> list[Policy]:
        return [policy for policy in self.policies if policy.enabled]

    @property
    def memory(self) -> float:
        """Seconds for which it remembers a move.

        Without end where failures are never forgotten.
        """
        settings = self.settings
        if settings.quarantine_seconds < 0:
            return float('inf')
        return max(
            settings.cooldown_seconds,
            settings.instance_cooldown_seconds,
            settings.return_guard_seconds,
            settings.quarantine_seconds,
        )

    @property
    def budget_seconds(self) -> float:
        """Seconds for which a move counts in its disruption budgets."""
        return budgets.longest_window(self.settings)


@dataclass
class AuditCounts:
    """What became of the audits of a column."""

    ends: Counter[str] = field(default_factory=Counter)
    """How many scopes were planned, by the way in which that ended."""
    plans: int = 0
    seconds: float = 0.0
    """Of CPU, that plans took."""
    longest: float = 0.0


class Auditor:
    """An audit that is run again and again.

    :param audit: what is asked for each time
    """

    def __init__(
        self, audit: Audit, recording: Recording, cloud: Cloud, meter: Meter
    ) -> None:
        self.audit = audit
        self._cloud = cloud
        self._meter = meter
        self._recorded = recording.gathered
        self._windows = {
            policy.name: audit.windows.get(
                policy.name, QueryWindows.of(policy)
            )
            for policy in audit.enabled
        }
        self.policies = [
            _as_simulated(policy, self._windows[policy.name])
            for policy in audit.enabled
        ]
        resolved = scopes.resolve(audit.request, self._recorded.cloud)
        self.scopes = {
            name: Scope(
                name, [cloud.hosts[host.name] for host in hosts], cloud
            )
            for name, hosts in resolved.items()
        }
        self._services = self._recorded.services or {
            name: ComputeService(name, state='up', status='enabled')
            for name in cloud.names
        }
        self._samples = SampleStore(cloud)
        self._context = PlanContext(
            self._recorded.cloud.aggregates,
            audit.strategy,
            audit.max_concurrent,
        )
        self._next = 0.0
        self.counts = AuditCounts()

    @property
    def longest_window(self) -> float:
        """Seconds until a server that was just placed is in all readings."""
        return max(
            (each.hosts or each.servers).seconds
            for each in self._windows.values()
        )

    def is_available(self, host: int) -> bool:
        """Whether a host may give or take servers."""
        service = self._services.get(self._cloud.names[host])
        return service is not None and service.is_available

    def is_due(self, now: float) -> bool:
        """Whether it begins again at a tick."""
        if now < self._next:
            return False
        self._next = max(self._next, now) + self.audit.interval
        return True

    def plan(
        self,
        tick: int,
        now: float,
        events: list[Event],
        disruptions: Sequence[Disruption] = (),
    ) -> ScheduledPlan | None:
        """Plan all scopes that do not rest; None: all of them do.

        :param disruptions: as far as the budgets of the audit count them
        """
        began = time.process_time()
        snapshots = []
        for scope in self.scopes.values():
            bare = self._bare(scope, now, events)
            if stop := _standstill(bare, self.audit.settings):
                self.counts.ends[stop.value] += 1
                continue
            snapshots.append(
                replace(
                    self.snapshot(scope, tick, now, events),
                    disruptions=[*disruptions],
                    window=bare.window,
                )
            )
        if not snapshots:
            return None
        plan = propose.plan(
            snapshots,
            self.policies,
            self.audit.settings,
            self.audit.max_concurrent,
        )
        for result in plan.report.scopes:
            self.counts.ends[result.stopped.value] += 1
        spent = time.process_time() - began
        self.counts.plans += 1
        self.counts.seconds += spent
        self.counts.longest = max(self.counts.longest, spent)
        return plan

    def _bare(
        self, scope: 'Scope', now: float, events: list[Event]
    ) -> Snapshot:
        """A scope with its window and nothing to plan by."""
        bare = Snapshot(
            scope.name, scope.hosts, {}, {}, events=events, taken_at=now
        )
        scope_windows.note([bare], self.audit.settings, self._context)
        return bare

    def snapshot(
        self, scope: 'Scope', tick: int, now: float, events: list[Event]
    ) -> Snapshot:
        """A scope as an audit finds it at a tick."""
        servers = scope.servers()
        instances = scope.instances(servers)
        bare = self.hosts_alone(scope, tick, now)
        for policy in self.policies:
            window = self._windows[policy.name].servers
            usage = self._meter.servers(policy.name, window, tick)
            samples = self._samples.of(
                (policy.name, 'profile'),
                servers,
                self._cloud.uuids,
                usage,
                now,
            )
            bare.readings[policy.name].profile = Reading(
                policy.vm_profile_query, samples=samples
            )
        return replace(
            bare,
            instances=instances,
            groups=[
                group
                for group in self._cloud.groups.values()
                if any(member in instances for member in group.members)
            ],
            events=[
                event
                for event in events
                if event.source in scope.hosts
                or event.destination in scope.hosts
                or event.instance in instances
            ],
        )

    def hosts_alone(self, scope: 'Scope', tick: int, now: float) -> Snapshot:
        """The same without its servers, as Kronos' weigher scores hosts."""
        readings = {}
        for policy in self.policies:
            name, windows = policy.name, self._windows[policy.name]
            values = {
                'imbalance_query': self._meter.hosts(name, windows, tick),
                'host_capacity_query': self._meter.capacity[name],
                'capacity_query': self._meter.in_use(name, windows, tick),
            }
            answers = {
                query: Reading(
                    text,
                    samples=self._samples.of(
                        (name, query),
                        scope.places,
                        self._cloud.names,
                        row,
                        now,
                    ),
                )
                for query, row in values.items()
                if (text := getattr(policy, query)) is not None
            }
            readings[name] = PolicyReadings(
                answers['imbalance_query'],
                host_capacity=answers.get('host_capacity_query'),
                capacity=answers.get('capacity_query'),
            )
        return Snapshot(
            scope.name,
            scope.hosts,
            {},
            readings,
            services=self._services,
            exclusions_unknown=self._recorded.exclusions_unknown,
            taken_at=now,
        )

    def cores(self, host: int) -> float:
        """vCPUs that a host has, of which no more than a core is used."""
        room = float(self._cloud.capacity[0, host])
        sizes = [
            float(self._meter.capacity[policy.name][host])
            for policy in self.policies
            if policy.host_capacity_query is not None and 'cpu' in policy.name
        ]
        return min([room, *(size for size in sizes if size >= 1)])


def _standstill(bare: Snapshot, settings: Settings) -> Stop | None:
    """Why a scope rests, as the engine itself judges; None if it does not."""
    if closed := window.why_closed(bare):
        return window.STOPS[closed.code]
    if settings.cooldown_seconds <= 0:
        return None
    past = cooldown.remember(bare, settings)
    return StopReason.COOLDOWN if past.standstill else None


def _as_simulated(policy: Policy, windows: QueryWindows) -> Policy:
    """A policy whose queries have the windows that are simulated.

    The engine asks queries for theirs, to know what they still show. Servers
    are told apart by their uuids, whatever the labels were.
    """
    queries = {
        'vm_profile_query': windows.servers,
        'imbalance_query': windows.hosts or NOW,
        'capacity_query': windows.capacity,
    }
    return policy.model_copy(
        update={
            'vm_profile_label_type': LabelType.NOVA_INSTANCE_UUID,
            'metrics_window': None,
            **{
                name: window.query
                for name, window in queries.items()
                if getattr(policy, name) is not None
            },
        }
    )


class Scope:
    """The hosts of a scope, and who is on them now."""

    def __init__(self, name: str, hosts: list[Host], cloud: Cloud) -> None:
        self.name = name
        self.hosts = {host.name: host for host in hosts}
        self._cloud = cloud
        self.places = np.array([cloud.index[host.name] for host in hosts])
        """The indices of its hosts."""
        self._is_inside = np.zeros(len(cloud.names), bool)
        self._is_inside[self.places] = True

    def servers(self) -> npt.NDArray[np.intp]:
        """Their indices."""
        alive = self._cloud.alive
        inside = self._is_inside[self._cloud.host[alive]]
        return alive if inside.all() else alive[inside]

    def instances(self, servers: npt.NDArray[np.intp]) -> dict[str, Instance]:
        """The same by uuid."""
        everyone = self._cloud.instances
        if len(servers) == len(everyone):
            return everyone
        uuids = self._cloud.uuids
        return {uuids[each]: everyone[uuids[each]] for each in servers}


class SampleStore:
    """The samples of all readings, which are filled in again and again."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._samples: dict[tuple[str, str], dict[int, Sample]] = {}

    def of(
        self,
        reading: tuple[str, str],
        places: npt.NDArray[np.intp],
        labels: list[str],
        values: Floats,
        now: float,
    ) -> list[Sample]:
        """One sample for each place whose value is known."""
        store = self._samples.setdefault(reading, {})
        picked = values[places]
        is_known = ~np.isnan(picked)
        samples = []
        for place, value in zip(
            places[is_known].tolist(), picked[is_known].tolist(), strict=True
        ):
            sample = store.get(place)
            if sample is None:
                sample = store[place] = Sample(labels[place], value, now)
            sample.value, sample.timestamp = value, now
            samples.append(sample)
        return samples
