# SPDX-License-Identifier: Apache-2.0
"""One audit, from its parameters to a plan."""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kronos.clients.connection import HostProcess
from kronos.clients.prometheus import client
from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.common.timing import timed
from kronos.engine.eligibility import cooldown
from kronos.engine.planning import propose
from kronos.engine.scheduling import migration_costs
from kronos.engine.scoring import labels
from kronos.engine.settings import (
    ModePhases,
    PlanMode,
    Settings,
    phases_of,
)
from kronos.engine.types import CycleReport, Snapshot
from kronos.policies import loader
from kronos.policies.models import PolicyFile
from kronos.recordings.recording import Recording
from kronos.snapshots import (
    collector,
    parts,
    scope_windows,
    settings_from_conf,
)
from kronos.snapshots.collector import CollectedCloud
from kronos.snapshots.past.scope_effects import ScopeEffect
from kronos.snapshots.reader import Reader, Readers
from kronos.snapshots.scopes import ScopeRequest
from kronos.strategies import audit_scope, effects, history, parameters
from kronos.strategies.outcome.additions import PLAIN, Additions
from kronos.watcher_db import publishing


@dataclass
class AuditRequest:
    """What an audit is to do, apart from where."""

    policies_file: str
    plan_mode: PlanMode | ModePhases
    requested: parameters.Parameters
    audit: str = ''
    """Uuid of the audit that asks."""
    strategy: str = ''
    """``kronos_spread``, ..."""
    record: Callable[[Recording], None] | None = None
    """Keeps what the audit plans by; must not raise."""
    reader: Callable[[Settings, Any, HostProcess], Reader | None] = field(
        default=lambda *_: None
    )
    """As :meth:`.KronosStrategy.reader`."""
    additions: Additions = PLAIN


@dataclass
class AuditResult:
    """A plan, and how it is carried out (:class:`.graph.Schedule`)."""

    report: CycleReport
    parents: list[list[int]]
    order: list[int]
    settings: Settings
    basis: publishing.Basis
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds that each part took."""
    pace: dict[str, float] = field(default_factory=dict)
    """Seconds that a move of a scope has taken, by its name."""
    snapshots: Sequence[Snapshot] = ()
    """What the plan was made from."""
    effects: Mapping[str, ScopeEffect] = field(default_factory=dict)
    """By scope what earlier plans changed."""


def run(
    request: AuditRequest,
    scope: list[dict[str, Any]],
    conf: Any,
    osc: Any,
) -> AuditResult:
    """Load the policies, look at the cloud and plan.

    :param scope: ``audit.scope``
    :param conf: Watcher's configuration with the options of Kronos
    :param osc: Watcher's OpenStackClients, for its session
    :raises KronosException: bad configuration, policies, parameters or
        scope, or Nova is away
    """
    timings: dict[str, float] = {}
    scopes = audit_scope.request(scope, request.requested, conf.kronos)
    settings = make_settings(request.plan_mode, request.requested, conf.kronos)
    with timed(timings, 'policies'):
        text = loader.read(request.policies_file)
        file = _policies(text, request)
    host = HostProcess(lambda: osc.session, conf)
    reader = _reader(request, settings, conf, host)
    with timed(timings, 'history'):
        # First: what comes up later is new to this audit, so that it is
        # noticed when the plan is published.
        live_plans = publishing.live_plans(request.audit)
        since = cooldown.watcher_since(settings, time.time())
        events = history.events(since, request.audit)
        reader.recall()
    with timed(timings, 'collect'):
        source = _collector(conf, osc, host, file, reader)
        collected = source.collect(scopes, file.enabled, settings, events)
        snapshots = collected.snapshots
    _note_windows(collected, settings, request, conf.kronos)
    past = _effects(conf, osc, host, file, collected, settings, timings)
    settings.drain_hosts = as_known(settings.drain_hosts, snapshots)
    if request.record is not None:
        with timed(timings, 'record'):
            inputs = text, file, scopes, settings
            request.record(_recording(collected, *inputs, conf.kronos))
    require_hosts(settings.drain_hosts, snapshots)
    plan = _planned(snapshots, file, settings, conf.kronos, timings)
    basis = publishing.Basis(
        live_plans, _hosts(plan.report, snapshots, request.additions)
    )
    pace = migration_costs.seconds_by_scope(snapshots)
    moves = plan.report, plan.parents, plan.order
    return AuditResult(*moves, settings, basis, timings, pace, snapshots, past)


def _reader(
    request: AuditRequest, settings: Settings, conf: Any, host: HostProcess
) -> Reader:
    """What the audit's own extension reads, and then what all others do."""
    own = request.reader(settings, conf, host) or Reader()
    return Readers(
        [own, *(part.reader(settings, conf, host) for part in parts.every())]
    )


def _note_windows(
    collected: CollectedCloud,
    settings: Settings,
    request: AuditRequest,
    kronos: Any,
) -> None:
    context = scope_windows.PlanContext(
        collected.gathered.cloud.aggregates,
        request.strategy,
        kronos.max_concurrent_migrations,
    )
    scope_windows.note(collected.snapshots, settings, context)


def _effects(
    conf: Any,
    osc: Any,
    host: HostProcess,
    file: PolicyFile,
    collected: CollectedCloud,
    settings: Settings,
    timings: dict[str, float],
) -> dict[str, ScopeEffect]:
    """By scope what earlier plans changed; planned with if asked for."""
    prometheus = client.from_options(conf.kronos_prometheus, osc.session)
    snapshots = collected.snapshots
    with timed(timings, 'effect'):
        past = effects.read(
            snapshots, file.enabled, host.nova, prometheus, conf.kronos
        )
    effects.use(past, collected.gathered, snapshots, settings)
    return past


def _planned(
    snapshots: Sequence[Snapshot],
    file: PolicyFile,
    settings: Settings,
    conf: Any,
    timings: dict[str, float],
) -> propose.ScheduledPlan:
    plan = propose.plan(
        snapshots,
        file.enabled,
        settings,
        conf.max_concurrent_migrations,
        functools.partial(timed, timings),
    )
    with timed(timings, 'certify'):
        propose.certify(plan.report)
    return plan


def _policies(text: str, request: AuditRequest) -> PolicyFile:
    """:raises PolicyFileError: they are not valid, or of another mode"""
    file = loader.parse(text, request.policies_file)
    needed = phases_of(request.plan_mode).policies
    if needed is not None:
        loader.require_mode(file, needed, request.policies_file)
    return file


def _recording(
    collected: CollectedCloud,
    text: str,
    file: PolicyFile,
    scopes: ScopeRequest,
    settings: Settings,
    kronos: Any,
) -> Recording:
    """What the audit plans by, with what a replay needs of the options."""
    return Recording(
        collected.gathered,
        file.policies,
        scopes,
        settings,
        collected.answers,
        text,
        configured=settings_from_conf.settings_of(kronos),
        max_concurrent=kronos.max_concurrent_migrations,
        recorded_at=collected.gathered.taken_at,
    )


def _hosts(
    report: CycleReport,
    snapshots: list[Snapshot],
    additions: Additions,
) -> frozenset[str]:
    """Those of the scopes in which something is done, and whatever beyond."""
    planned = {step.scope for step in report.steps}
    planned |= {
        scope.name
        for scope in report.scopes
        if scope.closings or additions.acts(scope)
    }
    hosts = {
        host
        for snapshot in snapshots
        if snapshot.scope in planned
        for host in snapshot.hosts
    }
    for scope in report.scopes:
        hosts.update(additions.hosts(scope))
    return frozenset(hosts)


def as_known(
    names: list[str] | None, snapshots: list[Snapshot]
) -> list[str] | None:
    """The names as Nova spells them; those it does not know stay."""
    hosts = {host for snapshot in snapshots for host in snapshot.hosts}
    if names is None:
        return None
    return [labels.find_host(name, hosts) or name for name in names]


def require_hosts(names: list[str] | None, snapshots: list[Snapshot]) -> None:
    """Refuse to drain what is in no scope: it may be misspelt.

    :raises ScopeError: names the host and those that are known
    """
    hosts = {host for snapshot in snapshots for host in snapshot.hosts}
    strangers = [host for host in names or () if host not in hosts]
    if strangers:
        raise exceptions.ScopeError(
            reason=f'Audit parameter hosts: "{strangers[0]}" is no host of '
            "the audit's scopes; "
            + near_names.of_cloud(strangers[0], sorted(hosts))
        )


def make_settings(
    mode: PlanMode | ModePhases, requested: parameters.Parameters, kronos: Any
) -> Settings:
    """The group ``[kronos]``, with what the audit and the mode say instead."""
    settings = settings_from_conf.settings_of(kronos)
    settings_from_conf.ask(
        settings,
        settings,
        mode,
        max_migrations=requested.max_migrations,
        restrict_to_az=requested.restrict_to_az,
        evacuate=requested.evacuate_disabled_hosts,
        enforce_hard_affinity=requested.enforce_hard_affinity,
        enforce_soft_affinity=requested.enforce_soft_affinity,
        drain_hosts=requested.hosts,
        extension=requested.extension,
    )
    return settings


def _collector(
    conf: Any, osc: Any, host: HostProcess, file: PolicyFile, reader: Reader
) -> collector.Collector:
    return collector.Collector(
        host.nova(),
        host.placement(),
        client.from_options(conf.kronos_prometheus, osc.session),
        hypervisor_types=conf.kronos.hypervisor_types,
        cell_source=conf.kronos.cell_source,
        exclude_hosts_query=conf.kronos.exclude_hosts_query,
        dirty_rates=file.dirty_rates,
        reader=reader,
    )
