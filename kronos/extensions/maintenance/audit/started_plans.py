# SPDX-License-Identifier: Apache-2.0
"""The started plans of runs: which hosts they are still to change."""

from collections.abc import Iterator
from typing import Any

from watcher import objects
from watcher.common import context

from kronos.extensions.maintenance.audit.additions import HAND_OVER, REOPEN
from kronos.extensions.maintenance.audit.history import CLOSE
from kronos.extensions.maintenance.readings.in_hand import HostInHand
from kronos.snapshots import watcher_actions
from kronos.strategies import history

CHANGES = frozenset({CLOSE, HAND_OVER, REOPEN})


def in_hand() -> list[HostInHand]:
    """The hosts that started plans of all runs are still to change.

    A plan that only waits for a worker of an applier is left out: Watcher
    cancels those of a continuous audit when it plans again.
    """
    admin = context.make_context(is_admin=True)
    plans = objects.ActionPlan.list(
        admin, filters={'state__in': watcher_actions.STARTED}
    )
    return [row for plan in plans for row in _of_plan(admin, plan)]


def _of_plan(admin: Any, plan: Any) -> Iterator[HostInHand]:
    rows = objects.Action.list(admin, filters={'action_plan_uuid': plan.uuid})
    going = {watcher_actions.ONGOING}
    if plan.state != watcher_actions.CANCELLING:
        going.add(watcher_actions.PENDING)
    heard = max(map(history.touched, [plan, *rows]))
    for row in rows:
        if row.action_type in CHANGES and row.state in going:
            inputs = row.input_parameters
            yield HostInHand(
                str(inputs.get('source_node', '')),
                str(inputs.get('run', '')),
                plan.uuid,
                heard,
            )
