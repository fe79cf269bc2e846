# SPDX-License-Identifier: Apache-2.0
"""What does Watcher's database tell of the moves of Kronos?

The state of an action says how it went. The state of its plan is only used
to tell whether an action that is not over is still going to be: Watcher
rewrites the plans of a strategy that changed.
"""

import datetime
import re
from typing import Any

from watcher import objects
from watcher.common import context as watcher_context

from kronos.engine import cooldown
from kronos.engine.events import Event, Origin, Outcome

ACTION_TYPE = 'kronos_live_migrate'

_Action = objects.action.State
_Plan = objects.action_plan.State
_RUNNING = (_Plan.PENDING, _Plan.ONGOING, _Plan.CANCELLING)
_KRONOS_ERROR = re.compile(r'KRONOS:(\w+):')
_FAILURE = 'Action failed in '
"""How Watcher begins the message of an action that failed."""
_BARE_ERROR = re.compile(rf'^{_FAILURE}\w+: (\w+)$')
"""The class of an error that Kronos did not foresee."""
UNKNOWN = 'unknown'
"""The error type of a failure that names none."""


def events(context: Any, since: float | None) -> list[Event]:
    """All moves of plans that were started, those of deleted ones too.

    Nothing is told of an action that was never started, was skipped, or was
    cancelled (I12): by an operator before its turn, or by Watcher because
    its applier died. What then became of a migration, Nova tells.

    :param context: of Watcher
    :param since: Unix seconds; what ended before is left out. None: from
        the beginning
    """
    with_deleted = watcher_context.make_context(
        is_admin=True, show_deleted=True
    )
    found = [_over(row) for row in _ended(with_deleted, since)]
    found += [_going(row) for row in _started(context)]
    return [event for event in found if event is not None]


def _ended(context: Any, since: float | None) -> list[Any]:
    """Rows of actions that are over, or were deleted."""
    filters: dict[str, Any] = {
        'state__in': (_Action.SUCCEEDED, _Action.FAILED, _Action.DELETED)
    }
    if since is not None:
        # The column is in UTC and knows no zone.
        moment = datetime.datetime.fromtimestamp(since, datetime.UTC)
        filters['updated_at__gte'] = moment.replace(tzinfo=None)
    return _ours(objects.Action.list(context, filters=filters))


def _started(context: Any) -> list[Any]:
    """Rows, with their plans, of actions that run or will."""
    plans = objects.ActionPlan.list(context, filters={'state__in': _RUNNING})
    if not plans:
        return []
    filters = {
        'action_plan_id__in': [plan.id for plan in plans],
        'state__in': (_Action.PENDING, _Action.ONGOING),
    }
    return _ours(objects.Action.list(context, filters=filters, eager=True))


def _ours(rows: list[Any]) -> list[Any]:
    # Watcher ignores a filter for the type.
    return [row for row in rows if row.action_type == ACTION_TYPE]


def _over(row: Any) -> Event | None:
    """An action that is over; None if nothing can be told of it.

    Deleting a plan wipes out the states and the times of its actions; their
    messages stay, so failures can still be told.
    """
    message = row.status_message or ''
    if row.state == _Action.SUCCEEDED:
        return _event(row, Outcome.MOVED)
    if row.state == _Action.DELETED:
        if not message.startswith(_FAILURE):
            return None
        event = _event(row, Outcome.FAILED)
        event.status = cooldown.DELETED
    else:
        event = _event(row, Outcome.FAILED)
    event.error_type = error_type_of(message)
    return event


def _going(row: Any) -> Event | None:
    """An action of a plan that runs; None if it will not be carried out."""
    if row.state == _Action.ONGOING:
        return _event(row, Outcome.UNDER_WAY)
    if row.action_plan.state == _Plan.CANCELLING:
        return None
    return _event(row, Outcome.PLANNED)


def error_type_of(message: str) -> str:
    """The class of the error in the message of an action that failed."""
    for pattern in (_KRONOS_ERROR, _BARE_ERROR):
        found = pattern.search(message)
        if found:
            return found[1]
    return UNKNOWN


def _event(row: Any, outcome: Outcome) -> Event:
    told = row.input_parameters
    return Event(
        instance=told['resource_id'],
        source=told['source_node'],
        destination=told['destination_node'],
        outcome=outcome,
        at=(row.updated_at or row.created_at).timestamp(),
        origin=Origin.WATCHER,
        scope=told['aggregate'],
        status=row.state,
        plan=told.get('action_plan_uuid', ''),
    )
