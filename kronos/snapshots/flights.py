# SPDX-License-Identifier: Apache-2.0
"""Which of the moves that are said to be under way are so in truth?

A nova-compute or an applier that is killed leaves rows behind that say
"queued" or "ONGOING" for ever. The task state of a server does not lie: Nova
sets it before there is a migration, and takes it away at the end.
"""

from collections.abc import Collection, Sequence

from kronos.engine.events import Outcome
from kronos.engine.types import Event, Instance

GRACE_SECONDS = 600.0
"""For so long a row counts although its server is not busy: the server was
looked at a moment earlier, and an action may wait for another try."""
_MOVING = ('migrating', 'resize_')
"""How the task states begin that a server has on its way."""


def unexplained(
    instances: Collection[Instance], events: Sequence[Event]
) -> set[str]:
    """Uuids of servers on their way of whose move nothing was told."""
    known = {
        event.instance
        for event in events
        if event.outcome is Outcome.UNDER_WAY
    }
    moving = {
        one.uuid
        for one in instances
        if (one.task_state or '').startswith(_MOVING)
    }
    return moving - known


def sort_out(
    events: Sequence[Event], instances: Collection[Instance], now: float
) -> tuple[list[Event], list[Event]]:
    """Part events from rows that were left behind.

    :param instances: all of the cloud
    :param now: Unix seconds
    :returns: those that hold, and those that were left behind
    """
    busy = {one.uuid for one in instances if one.task_state}
    hold: list[Event] = []
    left_behind: list[Event] = []
    for event in events:
        is_silent = now - event.at > GRACE_SECONDS
        is_busy = event.instance in busy
        if event.outcome is Outcome.UNDER_WAY and is_silent and not is_busy:
            left_behind.append(event)
        else:
            hold.append(event)
    return hold, left_behind
