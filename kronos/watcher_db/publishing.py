# SPDX-License-Identifier: Apache-2.0
"""The publishing of a plan: the moment from which it may be started.

Audits run side by side, in several decision engines too, and each plans from
the past that it has read. A plan is written as CANCELLED first. It becomes
RECOMMENDED under the lock, and only if no other plan for its hosts has come
up since its audit read the past.
"""

import datetime
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from oslo_utils import timeutils
from watcher import objects
from watcher.db.sqlalchemy import models

from kronos.common import exceptions
from kronos.engine import wording
from kronos.snapshots import stale_migrations, watcher_actions
from kronos.watcher_db import lock, marks

RECENT = datetime.timedelta(hours=1)
"""For so long a plan that is over is looked at: longer than any audit takes
from reading the past to writing its plan."""
_HOSTS = ('source_node', 'destination_node')

_Action = models.Action.__table__
_Plan = models.ActionPlan.__table__
_Audit = models.Audit.__table__


class DatabaseUnknown(exceptions.KronosException):
    """Watcher's database does not answer, or not in time."""

    msg_fmt = (
        "Watcher's database does not show which plans there are: %(reason)s"
    )


@dataclass
class Basis:
    """What an audit has planned from."""

    plans: frozenset[str]
    """Uuids of the plans that were there when it read the past."""
    hosts: frozenset[str] = field(default_factory=frozenset)
    """Of the scopes in which it plans anything."""


def is_active() -> Any:
    """Holds for plans that Watcher carries out, or is about to.

    For their rows, joined with those of their audits, which the plan of a
    pipeline has not.
    """
    state = objects.action_plan.State
    handed_over = timeutils.utcnow() - datetime.timedelta(
        seconds=stale_migrations.GRACE_SECONDS
    )
    return sa.or_(
        _Plan.c.state.in_((state.PENDING, state.ONGOING, state.CANCELLING)),
        # An applier has been told to start it, and has no time yet.
        sa.and_(
            _Plan.c.state == state.RECOMMENDED,
            sa.or_(
                _Audit.c.auto_trigger.is_(True),
                sa.and_(_Audit.c.id.is_(None), _Plan.c.hostname.is_not(None)),
            ),
            _Plan.c.created_at >= handed_over,
        ),
    )


def live_plans(audit: str = '') -> frozenset[str]:
    """Uuids of the plans that move servers, will, or did a moment ago.

    :param audit: uuid of the audit that asks. If it is continuous, its plans
        that wait for an applier are left out: Watcher cancels those of them
        that have not begun until it has planned, so the others are new to it
    :raises DatabaseUnknown: the database does not tell
    """
    try:
        return lock.exclusively(
            lambda session: (
                frozenset(_live(session)) - _dropped(session, audit)
            )
        )
    except lock.FAILURES as error:
        raise _unknown(error) from error


def publish(plan: str, basis: Basis) -> str:
    """Let a plan be started that was written as CANCELLED.

    :param plan: its uuid
    :returns: '', or why it stays as it is: another plan came first
    :raises DatabaseUnknown: the database does not tell; the plan stays
    """
    try:
        return lock.exclusively(lambda session: _publish(session, plan, basis))
    except lock.FAILURES as error:
        raise _unknown(error) from error


def _publish(session: Any, plan: str, basis: Basis) -> str:
    for other, hosts in sorted(_live(session).items()):
        shared = hosts & basis.hosts
        if other not in basis.plans | {plan} and shared:
            return (
                f'action plan {other} for {wording.some(sorted(shared))} came '
                'up while this audit was looking'
            )
    lock.mark(session)
    values = {
        'state': objects.action_plan.State.RECOMMENDED,
        'status_message': None,
        'updated_at': timeutils.utcnow(),
    }
    written = session.execute(
        sa.update(_Plan)
        .where(
            _Plan.c.uuid == plan,
            _Plan.c.state == objects.action_plan.State.CANCELLED,
        )
        .values(values)
    )
    if written.rowcount != 1:
        raise DatabaseUnknown(reason=f'action plan {plan} is gone')
    return ''


def _dropped(session: Any, audit: str) -> set[str]:
    """Plans of a continuous audit that its next run is to replace."""
    continuous = objects.audit.AuditType.CONTINUOUS.value
    rows = session.execute(
        sa.select(_Plan.c.uuid)
        .join_from(_Plan, _Audit, _Plan.c.audit_id == _Audit.c.id)
        .where(
            _Audit.c.uuid == audit,
            _Audit.c.audit_type == continuous,
            _Plan.c.state == objects.action_plan.State.RECOMMENDED,
        )
    )
    return {row.uuid for row in rows}


def _live(session: Any) -> dict[str, set[str]]:
    """Plan uuid to the hosts of its moves.

    A plan that was only recommended, and waits for an operator, binds nobody.
    """
    move = objects.action.State
    # Not as Watcher's type: one row that is no JSON would spoil all others.
    parameters = sa.literal_column('actions.input_parameters', sa.Text)
    rows = session.execute(
        sa.select(_Plan.c.uuid, parameters.label('parameters'))
        .join_from(_Action, _Plan, _Action.c.action_plan_id == _Plan.c.id)
        .outerjoin(_Audit, _Plan.c.audit_id == _Audit.c.id)
        .where(
            _Action.c.action_type.like(watcher_actions.OURS),
            sa.or_(
                is_active(),
                sa.and_(
                    _Action.c.state.in_(
                        (move.ONGOING, move.SUCCEEDED, move.FAILED)
                    ),
                    _Plan.c.updated_at >= timeutils.utcnow() - RECENT,
                ),
            ),
        )
    )
    hosts_of: dict[str, set[str]] = {}
    for row in rows:
        inputs = marks.parsed(row.parameters) or {}
        hosts = {inputs.get(name) for name in _HOSTS}
        hosts_of.setdefault(row.uuid, set()).update(
            host for host in hosts if isinstance(host, str)
        )
    return hosts_of


def _unknown(error: Exception) -> DatabaseUnknown:
    return DatabaseUnknown(reason=lock.reason(error))
