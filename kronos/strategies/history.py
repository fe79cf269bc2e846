# SPDX-License-Identifier: Apache-2.0
"""The history of Kronos' moves, from Watcher's database."""

import datetime
import time
from typing import Any

from watcher import objects
from watcher.common import context

from kronos.engine.eligibility import cooldown
from kronos.engine.types import Event
from kronos.snapshots import stale_migrations, watcher_actions
from kronos.snapshots.watcher_actions import ActionRow, PlanRow


def events(since: cooldown.Since, audit: str = '') -> list[Event]:
    """All moves of plans that were started, those of deleted ones too.

    Nothing is told of an action that was never started, was skipped, or was
    cancelled: by an operator before its turn, or by Watcher because
    its applier died. What then became of a migration, Nova tells. An action
    that Kronos cannot have written is left out, and the log names it.

    :param since: what ended before is left out
    :param audit: uuid of the audit that asks
    """
    # In the order of an action's life, each read when the one before it has
    # been: so none slips through, and what is told last is the newest.
    result = _to_do(_launched(audit))
    result |= _to_do(_started())
    result |= watcher_actions.ended(action_row(row) for row in _ended(since))
    return [event for event in result.values() if event is not None]


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
        'created_at__gte': moment(
            time.time() - stale_migrations.GRACE_SECONDS
        ),
    }
    return [
        plan
        for plan in objects.ActionPlan.list(admin, filters=filters, eager=True)
        if _is_launched(plan, audit)
    ]


def _is_launched(plan: Any, audit: str) -> bool:
    """Of a pipeline's plan, which has no audit, only its applier tells."""
    if plan.audit_id is None:
        return bool(plan.hostname)
    continuous = objects.audit.AuditType.CONTINUOUS.value
    is_dropped = (plan.audit.uuid, plan.audit.audit_type) == (
        audit,
        continuous,
    )
    return bool(plan.audit.auto_trigger) and not is_dropped


def _started() -> list[Any]:
    """Plans that run or will."""
    admin = context.make_context(is_admin=True)
    state = objects.action_plan.State
    running = (state.PENDING, state.ONGOING, state.CANCELLING)
    return list(objects.ActionPlan.list(admin, filters={'state__in': running}))


def _to_do(plans: list[Any]) -> watcher_actions.Events:
    """What the actions of plans tell that are not over."""
    if not plans:
        return {}
    admin = context.make_context(is_admin=True)
    filters = {'action_plan_id__in': [plan.id for plan in plans]}
    by_plan: dict[int, list[Any]] = {}
    for row in objects.Action.list(admin, filters=filters, eager=True):
        by_plan.setdefault(row.action_plan_id, []).append(row)
    result: watcher_actions.Events = {}
    for rows in by_plan.values():
        # It may have changed since it was listed.
        newest = max((row.action_plan for row in rows), key=touched)
        plan = PlanRow(newest.uuid, _state(newest), touched(newest))
        result |= watcher_actions.to_do(
            plan, [action_row(row) for row in rows]
        )
    return result


def _state(plan: Any) -> str:
    """Of a plan; PENDING once an applier has taken it.

    Watcher leaves it RECOMMENDED until a worker of that applier is free.
    """
    state: str = plan.state
    is_taken = state == watcher_actions.RECOMMENDED and plan.hostname
    return watcher_actions.PENDING if is_taken else state


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
        filters['updated_at__gte'] = moment(since)
    return list(objects.Action.list(everything, filters=filters))


def moment(seconds: float) -> datetime.datetime:
    """As Watcher's columns have it: in UTC, and without a zone."""
    utc = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return utc.replace(tzinfo=None)


def action_row(row: Any) -> ActionRow:
    """An action, as an object of Watcher has it."""
    return ActionRow(
        row.uuid,
        row.action_type,
        row.state,
        row.input_parameters,
        row.status_message or '',
        row.created_at.timestamp(),
        touched(row),
    )


def touched(row: Any) -> float:
    """When Watcher last wrote a row, in Unix seconds."""
    written: datetime.datetime = row.updated_at or row.created_at
    return written.timestamp()
