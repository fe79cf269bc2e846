# SPDX-License-Identifier: Apache-2.0
"""The live runs: what Watcher's audits say is being maintained, and moved."""

from collections import Counter
from typing import Any

from oslo_log import log as logging
from watcher import objects
from watcher.common import context

from kronos.common.exceptions import ConfigurationError
from kronos.extensions.maintenance import maintenance_parameters
from kronos.extensions.maintenance.maintenance import Maintenance

LOG = logging.getLogger(__name__)

STRATEGY = 'kronos_maintain'
BALANCERS = frozenset({'kronos_spread', 'kronos_pack'})
LIVE = frozenset({'PENDING', 'ONGOING', 'SUSPENDED'})
"""States of an audit that goes on, or will; one that is paused has hosts that
are still to be done."""
MOVE = 'kronos_live_migrate'


def live() -> list[Maintenance]:
    """What the live audits maintain, each run once."""
    by_run: dict[str, Maintenance] = {}
    for audit in _audits(STRATEGY):
        try:
            spec = maintenance_parameters.parse(dict(audit.parameters))
        except ConfigurationError as error:
            LOG.warning(
                'What audit %s maintains is unknown: %s', audit.uuid, error
            )
            continue
        by_run.setdefault(spec.run, spec)
    return [*by_run.values()]


def balancing() -> list[str]:
    """Names of live audits that repeat, and that move servers for balance."""
    return sorted(
        str(audit.name or audit.uuid)
        for strategy in BALANCERS
        for audit in _audits(strategy)
        if audit.audit_type == objects.audit.AuditType.CONTINUOUS.value
        and audit.state != 'SUSPENDED'
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
