# SPDX-License-Identifier: Apache-2.0
"""The history of restarts, from Watcher's database."""

from watcher import objects
from watcher.common import context

from kronos.engine.types import PastRestart
from kronos.extensions.recovery.readings import past_restarts
from kronos.snapshots.watcher_actions import PlanRow
from kronos.strategies import history


def restarts(since: float) -> dict[str, list[PastRestart]]:
    """What was done of late to start servers again, by uuid, in order.

    :param since: Unix seconds; actions that were made before are left out
    """
    everything = context.make_context(is_admin=True, show_deleted=True)
    rows = objects.Action.list(
        everything,
        filters={'created_at__gte': history.moment(since)},
        eager=True,
    )
    result: dict[str, list[PastRestart]] = {}
    for row in sorted(rows, key=history.touched):
        if row.action_type != past_restarts.RESTART:
            continue
        plan = row.action_plan
        restart = past_restarts.restart_of(
            history.action_row(row),
            PlanRow(plan.uuid, plan.state, history.touched(plan)),
        )
        if restart is not None:
            result.setdefault(restart[0], []).append(restart[1])
    return result
