# SPDX-License-Identifier: Apache-2.0
"""The work that an upgrade comes upon: plans, actions, and who does them.

From Watcher's database, which is only read;
:mod:`~kronos.watcher_db.service_probe` asks.
"""

import contextlib
import datetime
import types
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
from watcher import objects
from watcher.common import exception
from watcher.db.sqlalchemy import models

from kronos.watcher_db import marks, publishing, stored_plugins

SERVICES = ('watcher-decision-engine', 'watcher-applier')
MARKS = frozenset({marks.TURN, marks.CARRIER})
"""What stands among the parameters of an action once it began."""
MOST = 200
"""Characters of an error that are told."""

_Action = models.Action.__table__
_Description = models.ActionDescription.__table__
_Plan = models.ActionPlan.__table__
_Audit = models.Audit.__table__
_Service = models.Service.__table__
_OURS = _Action.c.action_type.startswith(
    stored_plugins.PREFIX, autoescape=True
)


@contextlib.contextmanager
def reading() -> Iterator[Any]:
    """A session that reads."""
    # A context of its own: no part of what the thread may be in.
    with enginefacade.reader.using(types.SimpleNamespace()) as session:
        yield session


def plans(session: Any) -> list[dict[str, str]]:
    """Plans with actions of ours that are carried out, or are about to be."""
    query = (
        sa.select(_Plan.c.uuid, _Plan.c.state, _Plan.c.hostname)
        .distinct()
        .join_from(_Action, _Plan, _Action.c.action_plan_id == _Plan.c.id)
        .outerjoin(_Audit, _Plan.c.audit_id == _Audit.c.id)
        .where(_OURS, _Plan.c.deleted == 0, publishing.is_active())
        .order_by(_Plan.c.uuid)
    )
    return [
        {'uuid': row.uuid, 'state': row.state, 'host': row.hostname or ''}
        for row in session.execute(query)
    ]


def services(session: Any, down_time: float) -> list[dict[str, Any]]:
    """Every decision engine and applier that Watcher knows.

    :param down_time: seconds after which Watcher takes one for dead
    """
    alive = timeutils.utcnow() - datetime.timedelta(seconds=down_time)
    query = (
        sa.select(_Service.c.name, _Service.c.host, _Service.c.last_seen_up)
        .where(_Service.c.name.in_(SERVICES), _Service.c.deleted == 0)
        .order_by(_Service.c.name, _Service.c.host)
    )
    return [
        {
            'name': row.name,
            'host': row.host,
            'up': row.last_seen_up is not None and row.last_seen_up >= alive,
        }
        for row in session.execute(query)
    ]


def actions(session: Any, loader: Any) -> dict[str, Any]:
    """What this machine's applier can do of what waits for an applier.

    :param loader: Watcher's, of actions
    :returns: ``waiting``, how many of ours wait; ``unreadable``, those that
        the code here does not understand, with why; ``unannounced``, the
        types that the code here has and no applier that has started
    """
    by_type = _loaded(loader)
    waiting = list(_waiting(session))
    unreadable = []
    for row in waiting:
        inputs = marks.parsed(row.parameters)
        if why := _why_unreadable(by_type.get(row.action_type), inputs):
            unreadable.append(
                {
                    'uuid': row.uuid,
                    'type': row.action_type,
                    'plan': row.plan,
                    'why': why,
                }
            )
    announced = session.execute(sa.select(_Description.c.action_type))
    return {
        'waiting': len(waiting),
        'unreadable': unreadable,
        'unannounced': sorted(by_type.keys() - {*announced.scalars()}),
    }


def _loaded(loader: Any) -> dict[str, Any]:
    """The actions of ours that can be loaded, by their types."""
    by_type = {}
    for name in loader.list_available():
        if name.startswith(stored_plugins.PREFIX):
            with contextlib.suppress(exception.LoadingError):
                by_type[name] = loader.load(name)
    return by_type


def _waiting(session: Any) -> Iterator[Any]:
    """Actions of ours that are not over, of plans that are not."""
    state = objects.action.State
    # Not as Watcher's type: one row that is no JSON would spoil all others.
    parameters = sa.literal_column('actions.input_parameters', sa.Text)
    query = (
        sa.select(
            _Action.c.uuid,
            _Action.c.action_type,
            parameters.label('parameters'),
            _Plan.c.uuid.label('plan'),
        )
        .join_from(_Action, _Plan, _Action.c.action_plan_id == _Plan.c.id)
        .where(
            _OURS,
            _Action.c.deleted == 0,
            _Action.c.state.in_((state.PENDING, state.ONGOING)),
            _Plan.c.state.in_(stored_plugins.WAITING),
        )
        .order_by(_Action.c.id)
    )
    yield from session.execute(query)


def _why_unreadable(action: Any, inputs: dict[str, Any] | None) -> str:
    """Why an applier could not carry out an action rightly; '' if it could.

    :param action: an object of its class; None: there is no such class
    :param inputs: its input parameters
    """
    if action is None:
        return 'there is no such action here'
    if inputs is None:
        return 'its parameters are no JSON object'
    action.input_parameters = inputs
    try:
        action.validate_parameters()
    except exception.WatcherException as error:
        return type(error).__name__
    # Of jsonschema, which is Watcher's and not ours.
    except Exception as error:
        return str(getattr(error, 'message', type(error).__name__))[:MOST]
    unknown = inputs.keys() - action.schema['properties'].keys() - MARKS
    if unknown:
        return f'it does not know {", ".join(sorted(unknown))}'
    return ''
