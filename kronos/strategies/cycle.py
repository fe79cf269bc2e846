# SPDX-License-Identifier: Apache-2.0
"""What does one audit do, from its parameters to a plan?"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kronos.clients import cloud, prometheus
from kronos.common import exceptions
from kronos.engine import cooldown, labels, propose, schedule
from kronos.engine.settings import HostMatch, Settings, SoftRules, TieBreak
from kronos.engine.types import CycleReport, Snapshot
from kronos.policies import loader, models
from kronos.snapshots import collect
from kronos.strategies import history, parameters
from kronos.strategies import scope as audit_scope


@dataclass
class Order:
    """What an audit is to do, apart from where."""

    policies_file: str
    mode: str | None
    """Of the policies that the strategy takes; None: of either."""
    asked: parameters.Parameters
    adjust: Callable[[Settings, parameters.Parameters, Any], None]
    """Sets what is special to the strategy, given ``[kronos]``."""
    audit: str = ''
    """Uuid of the audit that asks."""


@dataclass
class Cycle:
    """A plan, and for each of its steps the indices of its parents."""

    report: CycleReport
    parents: list[list[int]]
    settings: Settings
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds that each part took."""


def run(
    order: Order,
    scope: list[dict[str, Any]],
    conf: Any,
    osc: Any,
) -> Cycle:
    """Load the policies, look at the cloud and plan.

    :param scope: ``audit.scope``
    :param conf: Watcher's configuration with the options of Kronos
    :param osc: Watcher's OpenStackClients, for its session
    :raises KronosException: bad configuration, policies, parameters or
        scope, or Nova is away
    """
    timings: dict[str, float] = {}
    request = audit_scope.request(scope, order.asked, conf.kronos)
    settings = make_settings(order.asked, conf.kronos)
    order.adjust(settings, order.asked, conf.kronos)
    with _timed(timings, 'policies'):
        policies = load_policies(order.policies_file, order.mode)
    with _timed(timings, 'history'):
        since = cooldown.watcher_since(settings, time.time())
        events = history.events(since, order.audit)
    with _timed(timings, 'collect'):
        snapshots = _collector(conf, osc).collect(
            request, policies, settings, events
        )
    require_hosts(settings.drain_hosts, snapshots)
    with _timed(timings, 'propose'):
        report = propose.propose(snapshots, policies, settings)
    with _timed(timings, 'schedule'):
        parents = schedule.schedule(
            report.steps, snapshots, conf.kronos.max_concurrent_migrations
        )
    return Cycle(report, parents, settings, timings)


@contextlib.contextmanager
def _timed(timings: dict[str, float], part: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    timings[part] = round(time.monotonic() - began, 6)


def load_policies(path: str, mode: str | None) -> list[models.Policy]:
    """The enabled policies of a file of the given mode (A11).

    :param mode: None: of either
    :raises PolicyFileError: unreadable, invalid, or of another mode
    """
    found = loader.load(path)
    if mode is not None:
        loader.require_mode(found, models.Mode(mode), path)
    return found.enabled


def require_hosts(wanted: list[str] | None, snapshots: list[Snapshot]) -> None:
    """Refuse to drain what is in no scope: it may be misspelt.

    :raises ScopeError: names the host and those that are known
    """
    known = {host for one in snapshots for host in one.hosts}
    strangers = [host for host in wanted or () if host not in known]
    if strangers:
        raise exceptions.ScopeError(
            reason=f'Audit parameter hosts: "{strangers[0]}" is no host of '
            f"the audit's scopes; theirs: {labels.some(sorted(known), 20)}"
        )


def make_settings(asked: parameters.Parameters, kronos: Any) -> Settings:
    """The group ``[kronos]``, with what the audit says instead.

    Only of what all strategies share; the rest is theirs to set.
    """
    return Settings(
        max_migrations=asked.max_migrations,
        restrict_to_az=parameters.either(
            asked.restrict_to_az, kronos.restrict_to_az
        ),
        require_all_policies=kronos.require_all_policies,
        min_host_coverage=kronos.min_host_coverage,
        host_match=HostMatch(kronos.host_match),
        check_disk=kronos.check_disk,
        require_headroom=kronos.require_headroom,
        allowed_extra_specs=list(kronos.allowed_extra_specs),
        cooldown_seconds=kronos.cooldown,
        instance_cooldown_seconds=kronos.instance_cooldown,
        quarantine_seconds=kronos.instance_quarantine_seconds,
        return_guard_seconds=kronos.return_guard,
        drain_may_exceed_threshold=kronos.drain_may_exceed_threshold,
        soft_rules=SoftRules(kronos.soft_rules),
        soft_rule_penalty=kronos.soft_rule_penalty,
        pack_partial_drains=kronos.pack_partial_drains,
        keep_hosts=kronos.keep_hosts,
        headroom_hosts=kronos.headroom_hosts,
        plateau_moves=kronos.plateau_moves,
        swap_moves=kronos.swap_moves,
        tie_break=TieBreak(kronos.tie_break),
    )


def _collector(conf: Any, osc: Any) -> collect.Collector:
    host = cloud.HostProcess(lambda: osc.session, conf)
    return collect.Collector(
        host.nova(),
        host.placement(),
        prometheus.from_options(conf.kronos_prometheus, osc.session),
        hypervisor_types=conf.kronos.hypervisor_types,
        cell_source=conf.kronos.cell_source,
    )
