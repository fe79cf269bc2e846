# SPDX-License-Identifier: Apache-2.0
"""What does one audit do, from its parameters to a plan?"""

from dataclasses import dataclass
from typing import Any

from kronos.clients import cloud, prometheus
from kronos.engine import propose, schedule
from kronos.engine.settings import HostMatch, Settings, TieBreak
from kronos.engine.types import CycleReport
from kronos.policies import loader, models
from kronos.snapshots import collect
from kronos.strategies import parameters
from kronos.strategies import scope as audit_scope


@dataclass
class Cycle:
    """A plan, and for each of its steps the indices of its parents."""

    report: CycleReport
    parents: list[list[int]]


def run(
    mode: str,
    scope: list[dict[str, Any]],
    raw_parameters: dict[str, Any],
    conf: Any,
    osc: Any,
) -> Cycle:
    """Load the policies, look at the cloud and plan.

    :param mode: of the policies that the strategy takes
    :param scope: ``audit.scope``
    :param conf: Watcher's configuration with the options of Kronos
    :param osc: Watcher's OpenStackClients, for its session
    :raises KronosException: bad configuration, policies, parameters or
        scope, or Nova is away
    """
    asked = parameters.parse(raw_parameters)
    request = audit_scope.request(scope, asked, conf.kronos)
    policies = load_policies(conf.kronos.policies_file, mode)
    settings = make_settings(asked, conf.kronos)
    snapshots = _collector(conf, osc).collect(request, policies, settings)
    report = propose.propose(snapshots, policies, settings)
    parents = schedule.schedule(
        report.steps, snapshots, conf.kronos.max_concurrent_migrations
    )
    return Cycle(report, parents)


def load_policies(path: str, mode: str) -> list[models.Policy]:
    """The enabled policies of a file of the given mode (A11).

    :raises PolicyFileError: unreadable, invalid, or of another mode
    """
    found = loader.load(path)
    loader.require_mode(found, models.Mode(mode), path)
    return found.enabled


def make_settings(asked: parameters.Parameters, kronos: Any) -> Settings:
    """The group ``[kronos]``, with what the audit says instead."""
    restrict_to_az = asked.restrict_to_az
    if restrict_to_az is None:
        restrict_to_az = kronos.restrict_to_az
    return Settings(
        max_migrations=asked.max_migrations,
        restrict_to_az=restrict_to_az,
        require_all_policies=kronos.require_all_policies,
        min_host_coverage=kronos.min_host_coverage,
        host_match=HostMatch(kronos.host_match),
        check_disk=kronos.check_disk,
        require_headroom=kronos.require_headroom,
        allowed_extra_specs=list(kronos.allowed_extra_specs),
        cooldown_seconds=kronos.cooldown,
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
    )
