# SPDX-License-Identifier: Apache-2.0
"""What does Watcher's database tell of the moves of Kronos?

The state of an action says how it went. The state of its plan is only used
to tell whether an action that is not over is still going to be: Watcher
rewrites the plans of a strategy that changed.
"""

import datetime
import re
import time
from collections.abc import Callable
from typing import Any

from oslo_log import log as logging
from watcher import objects
from watcher.common import context

from kronos.engine import cooldown, quarantine
from kronos.engine.events import Event, Origin, Outcome
from kronos.snapshots import flights

LOG = logging.getLogger(__name__)

ACTION_TYPE = 'kronos_live_migrate'

_KRONOS_ERROR = re.compile(r'KRONOS:(\w+):')
_FAILURE = 'Action failed in '
"""How Watcher begins the message of an action that failed."""
_BARE_ERROR = re.compile(rf'^{_FAILURE}\w+: (\w+)$')
"""The class of an error that Kronos did not foresee."""
UNKNOWN = 'unknown'
"""The error type of a failure that names none."""
NEEDED = ('resource_id', 'source_node', 'destination_node', 'aggregate')
"""Input parameters without which nothing can be told of an action."""


def events(since: cooldown.Since, audit: str = '') -> list[Event]:
    """All moves of plans that were started, those of deleted ones too.

    Nothing is told of an action that was never started, was skipped, or was
    cancelled (I12): by an operator before its turn, or by Watcher because
    its applier died. What then became of a migration, Nova tells. An action
    that Kronos cannot have written is left out, and the log names it.

    :param since: what ended before is left out
    :param audit: uuid of the audit that asks
    """
    # In the order of an action's life, each read when the one before it has
    # been: so none slips through, and what is told last is the newest.
    found = _to_do(_launched(audit))
    found |= _to_do(_started())
    found |= _told(_ended(since), _over)
    return [event for event in found.values() if event is not None]


def _told(
    rows: list[Any], tell: Callable[[Any], Event | None]
) -> dict[str, Event | None]:
    """What each row of Kronos tells, by the uuid of the action."""
    # Watcher ignores a filter for the type.
    ours = [row for row in rows if row.action_type == ACTION_TYPE]
    found: dict[str, Event | None] = {}
    for row in ours:
        missing = _missing(row.input_parameters)
        if missing:
            LOG.warning(
                'Action %s is left out of what is remembered: its input '
                'parameters do not say %s',
                row.uuid,
                ', '.join(missing),
            )
        else:
            found[row.uuid] = tell(row)
    return found


def _missing(told: Any) -> list[str]:
    """Names of the input parameters that are needed and are no text."""
    given = told if isinstance(told, dict) else {}
    return [name for name in NEEDED if not isinstance(given.get(name), str)]


def _launched(audit: str) -> list[Any]:
    """Plans that an applier is to start without being asked once more.

    While all its workers are busy, a plan that was launched automatically
    stays RECOMMENDED. One whose message was lost does so for ever, so it
    only counts while it is young.

    :param audit: if it is continuous, Watcher cancels what waits of it
    """
    admin = context.make_context(is_admin=True)
    filters = {
        'state': objects.action_plan.State.RECOMMENDED,
        'created_at__gte': _moment(time.time() - flights.GRACE_SECONDS),
    }
    continuous = objects.audit.AuditType.CONTINUOUS.value
    return [
        plan
        for plan in objects.ActionPlan.list(admin, filters=filters, eager=True)
        if plan.audit.auto_trigger
        and (plan.audit.uuid, plan.audit.audit_type) != (audit, continuous)
    ]


def _started() -> list[Any]:
    """Plans that run or will."""
    admin = context.make_context(is_admin=True)
    state = objects.action_plan.State
    running = (state.PENDING, state.ONGOING, state.CANCELLING)
    return list(objects.ActionPlan.list(admin, filters={'state__in': running}))


def _to_do(plans: list[Any]) -> dict[str, Event | None]:
    """What the actions of plans tell that are not over."""
    if not plans:
        return {}
    admin = context.make_context(is_admin=True)
    filters = {'action_plan_id__in': [plan.id for plan in plans]}
    rows = objects.Action.list(admin, filters=filters, eager=True)
    # What is done of a plan tells that somebody is at it.
    heard: dict[int, float] = {}
    for row in rows:
        known = heard.get(row.action_plan_id, 0.0)
        newest = max(known, _touched(row), _touched(row.action_plan))
        heard[row.action_plan_id] = newest
    return _told(rows, lambda row: _going(row, heard[row.action_plan_id]))


def _ended(since: cooldown.Since) -> list[Any]:
    """Rows of actions that are over, or were deleted."""
    state = objects.action.State
    return [
        *_changed([state.SUCCEEDED], since.moves),
        *_changed([state.FAILED, state.DELETED], since.failures),
    ]


def _changed(states: list[str], since: float | None) -> list[Any]:
    everything = context.make_context(is_admin=True, show_deleted=True)
    filters: dict[str, Any] = {'state__in': states}
    if since is not None:
        filters['updated_at__gte'] = _moment(since)
    return list(objects.Action.list(everything, filters=filters))


def _moment(seconds: float) -> datetime.datetime:
    """As Watcher's columns have it: in UTC, and without a zone."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.replace(tzinfo=None)


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
        event.status = quarantine.DELETED
    else:
        event = _event(row, Outcome.FAILED)
    event.error_type = error_type_of(message)
    return event


def _going(row: Any, heard: float) -> Event | None:
    """An action of a plan that runs; None if it will not be carried out.

    :param heard: Unix seconds: when anything of its plan changed
    """
    plan, state = row.action_plan, objects.action_plan.State
    if row.state == objects.action.State.ONGOING:
        return _event(row, Outcome.UNDER_WAY)
    if row.state != objects.action.State.PENDING:
        return None
    if plan.state not in (state.RECOMMENDED, state.PENDING, state.ONGOING):
        return None
    event = _event(row, Outcome.PLANNED)
    event.at, event.status, event.plan = heard, plan.state, plan.uuid
    return event


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
        at=_touched(row),
        origin=Origin.WATCHER,
        scope=told['aggregate'],
        status=row.state,
        plan=told.get('action_plan_uuid', ''),
        began=row.created_at.timestamp(),
    )


def _touched(row: Any) -> float:
    """When Watcher last wrote a row, in Unix seconds."""
    moment: datetime.datetime = row.updated_at or row.created_at
    return moment.timestamp()
