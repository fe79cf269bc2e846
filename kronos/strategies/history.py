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
from watcher.common import context

from kronos.engine import cooldown
from kronos.engine.events import Event, Origin, Outcome

ACTION_TYPE = 'kronos_live_migrate'

_KRONOS_ERROR = re.compile(r'KRONOS:(\w+):')
_FAILURE = 'Action failed in '
"""How Watcher begins the message of an action that failed."""
_BARE_ERROR = re.compile(rf'^{_FAILURE}\w+: (\w+)$')
"""The class of an error that Kronos did not foresee."""
UNKNOWN = 'unknown'
"""The error type of a failure that names none."""


def events(since: float | None) -> list[Event]:
    """All moves of plans that were started, those of deleted ones too.

    Nothing is told of an action that was never started, was skipped, or was
    cancelled (I12): by an operator before its turn, or by Watcher because
    its applier died. What then became of a migration, Nova tells.

    :param since: Unix seconds; what ended before is left out. None: from
        the beginning
    """
    found = [_over(row) for row in _ended(since)]
    found += [_going(row) for row in _started()]
    return [event for event in found if event is not None]


def _ended(since: float | None) -> list[Any]:
    """Rows of actions that are over, or were deleted."""
    everything = context.make_context(is_admin=True, show_deleted=True)
    state = objects.action.State
    filters: dict[str, Any] = {
        'state__in': (state.SUCCEEDED, state.FAILED, state.DELETED)
    }
    if since is not None:
        # The column is in UTC and knows no zone.
        moment = datetime.datetime.fromtimestamp(since, datetime.UTC)
        filters['updated_at__gte'] = moment.replace(tzinfo=None)
    return _ours(objects.Action.list(everything, filters=filters))


def _started() -> list[Any]:
    """Rows, with their plans, of actions that run or will."""
    admin = context.make_context(is_admin=True)
    plan_state = objects.action_plan.State
    running = (plan_state.PENDING, plan_state.ONGOING, plan_state.CANCELLING)
    plans = objects.ActionPlan.list(admin, filters={'state__in': running})
    if not plans:
        return []
    state = objects.action.State
    filters = {
        'action_plan_id__in': [plan.id for plan in plans],
        'state__in': (state.PENDING, state.ONGOING),
    }
    return _ours(objects.Action.list(admin, filters=filters, eager=True))


def _ours(rows: list[Any]) -> list[Any]:
    # Watcher ignores a filter for the type.
    return [row for row in rows if row.action_type == ACTION_TYPE]


def _over(row: Any) -> Event | None:
    """An action that is over; None if nothing can be told of it.

    Deleting a plan wipes out the states and the times of its actions; their
    messages stay, so failures can still be told.
    """
    message = row.status_message or ''
    if row.state == objects.action.State.SUCCEEDED:
        return _event(row, Outcome.MOVED)
    if row.state == objects.action.State.DELETED:
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
    if row.state == objects.action.State.ONGOING:
        return _event(row, Outcome.UNDER_WAY)
    if row.action_plan.state == objects.action_plan.State.CANCELLING:
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
