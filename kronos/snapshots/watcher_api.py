# SPDX-License-Identifier: Apache-2.0
"""The moves of Kronos, as Watcher's API tells of them.

The same as its database, which only Watcher itself can read.
"""

import time
from collections.abc import Callable, Iterator

from kronos.clients.nova.rows import Row
from kronos.clients.schema import seconds_of
from kronos.clients.watcher import WatcherClient
from kronos.engine.eligibility import cooldown
from kronos.engine.types import Event
from kronos.snapshots import stale_migrations, watcher_actions
from kronos.snapshots.watcher_actions import ActionRow, PlanRow

_ENDED = (
    watcher_actions.FINISHED,
    watcher_actions.FAILED,
    watcher_actions.DELETED,
)


def events(
    watcher: WatcherClient,
    since: cooldown.Since,
    clock: Callable[[], float] = time.time,
) -> list[Event]:
    """All moves of plans that were started, those of deleted ones too.

    :param since: what ended before is left out
    :param clock: Unix seconds
    :raises ClientError: Watcher is away, or refuses
    """
    # In the order of an action's life, each read when the one before it has
    # been: so none slips through, and what is told last is the newest.
    result: watcher_actions.Events = {}
    for plan in _plans(watcher, clock() - stale_migrations.GRACE_SECONDS):
        result |= watcher_actions.to_do(
            plan, map(action_row, watcher.actions_of(plan.uuid))
        )
    result |= watcher_actions.ended(_ended(watcher, since))
    return [event for event in result.values() if event is not None]


def _plans(watcher: WatcherClient, oldest: float) -> list[PlanRow]:
    """Those that were started, or are about to be without being asked.

    While all workers of the applier are busy, a plan that was launched
    automatically stays RECOMMENDED; one whose message was lost does so for
    ever, so it only counts while it is young.
    """
    return [
        PlanRow(row['uuid'], row['state'], touched(row))
        for row in watcher.plans()
        if row['state'] in watcher_actions.STARTED
        or (
            row['state'] == watcher_actions.RECOMMENDED
            and seconds_of(row['created_at']) >= oldest
            and _is_auto_triggered(watcher, row.get('audit_uuid') or '')
        )
    ]


def _is_auto_triggered(watcher: WatcherClient, audit: str) -> bool:
    """:param audit: uuid; '': the plan has none, as that of a pipeline"""
    return bool(audit and watcher.audit(audit).get('auto_trigger'))


def _ended(
    watcher: WatcherClient, since: cooldown.Since
) -> Iterator[ActionRow]:
    """Actions that are over, or were deleted, the newest first."""
    limits = [since.moves, since.failures]
    oldest = min(limit or 0.0 for limit in limits)
    for row in map(action_row, watcher.actions()):
        if row.touched < oldest:
            return
        limit = limits[0 if row.state == watcher_actions.FINISHED else 1]
        if row.state in _ENDED and row.touched >= (limit or 0.0):
            yield row


def action_row(row: Row) -> ActionRow:
    """An action of a listing of Watcher's API."""
    return ActionRow(
        row['uuid'],
        row['action_type'],
        row['state'],
        row['input_parameters'],
        row.get('status_message') or '',
        seconds_of(row['created_at']),
        touched(row),
    )


def touched(row: Row) -> float:
    """When Watcher last wrote a row, in Unix seconds."""
    return seconds_of(row.get('updated_at') or row['created_at'])
