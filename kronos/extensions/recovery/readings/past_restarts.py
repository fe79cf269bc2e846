# SPDX-License-Identifier: Apache-2.0
"""The past restarts: what actions of Watcher tell of them, whoever asks."""

from kronos.clients.schema import seconds_of
from kronos.clients.watcher import WatcherClient
from kronos.engine.types import PastRestart
from kronos.snapshots import watcher_actions, watcher_api
from kronos.snapshots.watcher_actions import ActionRow, PlanRow
from kronos.watcher_db import marks

RESTART = 'kronos_restart_server'
"""The action."""
MARK = 'recovery'
"""Mark of a restart that began to act: ``{"at": 1763752294.1, "stop":
"req-...", "migrate": "req-..."}``, among its input parameters. Right before
Nova is asked for one of them it is ``ASKED``."""


def listed(
    watcher: WatcherClient, since: float
) -> dict[str, list[PastRestart]]:
    """What was done of late to start servers again, by uuid, in order.

    :param since: Unix seconds; plans that were made before are left out
    :raises ClientError: Watcher is away, or refuses
    """
    by_server = []
    for row in watcher.plans():
        if seconds_of(row['created_at']) < since:
            continue
        plan = PlanRow(row['uuid'], row['state'], watcher_api.touched(row))
        rows = map(watcher_api.action_row, watcher.actions_of(plan.uuid))
        by_server += [restart_of(action, plan) for action in rows]
    done: dict[str, list[PastRestart]] = {}
    for uuid, restart in sorted(
        (pair for pair in by_server if pair is not None),
        key=lambda pair: pair[1].at,
    ):
        done.setdefault(uuid, []).append(restart)
    return done


def restart_of(
    row: ActionRow, plan: PlanRow
) -> tuple[str, PastRestart] | None:
    """The server and the restart that an action tells of; None if none.

    One that waits in a plan that nobody started is no restart.
    """
    inputs = row.parameters if isinstance(row.parameters, dict) else {}
    uuid = inputs.get('resource_id')
    if row.action_type != RESTART or not isinstance(uuid, str):
        return None
    if (
        row.state == watcher_actions.PENDING
        and plan.state not in watcher_actions.STARTED
    ):
        return None
    mark = marks.part(inputs, MARK)
    return uuid, PastRestart(
        at=row.touched,
        state=row.state,
        acted=bool(mark),
        stop=marks.text(mark.get('stop')),
        migrate=marks.text(mark.get('migrate')),
        source=marks.text(inputs.get('source_node')),
        destination=marks.text(inputs.get('destination_node')),
    )
