# SPDX-License-Identifier: Apache-2.0
"""The live runs: what Watcher's audits say is being maintained, and moved."""

import datetime
from collections import Counter
from collections.abc import Iterator
from typing import Any

from oslo_log import log as logging
from oslo_utils import timeutils
from watcher import conf, objects
from watcher.common import context

from kronos.common.exceptions import ConfigurationError
from kronos.extensions.maintenance import maintenance_parameters
from kronos.extensions.maintenance.maintenance import (
    TURN_SECONDS,
    Maintenance,
)
from kronos.extensions.maintenance.readings.pace import Pace

LOG = logging.getLogger(__name__)
CONF = conf.CONF

STRATEGY = 'kronos_maintain'
BALANCERS = frozenset({'kronos_spread', 'kronos_pack'})
LIVE = frozenset({'PENDING', 'ONGOING', 'SUSPENDED'})
"""States of an audit that goes on, or will; one that is paused has hosts that
are still to be done."""
MOVE = 'kronos_live_migrate'
APPLIER = 'watcher-applier'


def live() -> list[Maintenance]:
    """What the live audits maintain, each run once."""
    by_run: dict[str, Maintenance] = {}
    for _, spec in _runs():
        by_run.setdefault(spec.run, spec)
    return [*by_run.values()]


def elsewhere(run: str) -> dict[str, str]:
    """The hosts of other runs that have begun, and the run of each.

    :param run: name of this one
    """
    hosts: dict[str, str] = {}
    for audit, spec in _runs():
        has_begun = audit.state != objects.audit.State.PENDING
        if spec.run != run and has_begun and _is_continuous(audit):
            hosts |= dict.fromkeys(spec.hosts, spec.run)
    return hosts


def pace(run: str) -> Pace:
    """How often a run is planned, and how much goes on side by side.

    One that has no audit yet is taken to be started by the client.

    :param run: its name
    """
    for audit, spec in _runs():
        if spec.run == run and _is_continuous(audit):
            plans = plans_at_once() if audit.force else 1
            return Pace(_seconds(audit.interval), plans, bool(audit.force))
    return Pace(plans_at_once=plans_at_once())


def plans_at_once() -> int:
    """How many plans all appliers that are up carry out at a time."""
    oldest = timeutils.utcnow() - datetime.timedelta(
        seconds=CONF.service_down_time
    )
    appliers = [
        row
        for row in objects.Service.list(
            context.make_context(is_admin=True),
            filters={'name': APPLIER},
        )
        if row.last_seen_up is not None
        and timeutils.normalize_time(row.last_seen_up) >= oldest
    ]
    workers: int = CONF.watcher_applier.workers
    return workers * max(1, len(appliers))


def _seconds(interval: str | None) -> float:
    """Between two audits; what a line of cron means is not looked at."""
    text = str(interval or '')
    return float(text) if text.isdecimal() else TURN_SECONDS


def _is_continuous(audit: Any) -> bool:
    continuous: str = objects.audit.AuditType.CONTINUOUS.value
    return bool(audit.audit_type == continuous)


def _runs() -> Iterator[tuple[Any, Maintenance]]:
    """The live audits, and what each maintains."""
    for audit in _audits(STRATEGY):
        try:
            spec = maintenance_parameters.parse(dict(audit.parameters))
        except ConfigurationError as error:
            LOG.warning(
                'What audit %s maintains is unknown: %s', audit.uuid, error
            )
            continue
        yield audit, spec


def balancing() -> list[str]:
    """Names of live audits that repeat, and that move servers for balance."""
    return sorted(
        str(audit.name or audit.uuid)
        for strategy in BALANCERS
        for audit in _audits(strategy)
        if _is_continuous(audit)
        and audit.state != objects.audit.State.SUSPENDED
    )


def moves(run: str) -> Counter[str]:
    """How often a run has moved each server, by uuid."""
    admin = context.make_context(is_admin=True)
    plans = objects.ActionPlan.list(
        admin, filters={'strategy_name': STRATEGY}, eager=True
    )
    numbers: Counter[str] = Counter()
    for plan in plans:
        if (
            plan.audit_id is None
            or str(plan.audit.parameters.get('run')) != run
        ):
            continue
        rows = objects.Action.list(
            admin,
            filters={
                'action_plan_uuid': plan.uuid,
                'state': objects.action.State.SUCCEEDED,
            },
        )
        numbers.update(
            str(row.input_parameters['resource_id'])
            for row in rows
            if row.action_type == MOVE
        )
    return numbers


def _audits(strategy: str) -> list[Any]:
    rows: list[Any] = objects.Audit.list(
        context.make_context(is_admin=True),
        filters={'strategy_name': strategy},
    )
    return [row for row in rows if row.state in LIVE]
