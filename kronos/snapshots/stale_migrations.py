# SPDX-License-Identifier: Apache-2.0
"""The stale migrations: said to be under way, and not so in truth.

A nova-compute or an applier that is killed leaves rows behind that say
"queued" or "ONGOING" for ever. The task state of a server does not lie: Nova
sets it before there is a migration, and takes it away at the end.
"""

from collections.abc import Collection, Sequence

from kronos.common import durations
from kronos.engine.eligibility import quarantine
from kronos.engine.types import Event, Instance, Outcome

GRACE_SECONDS = 600.0
"""For so long a row counts although its server is not busy: the server was
looked at a moment earlier, and an action may wait for another try."""
CANCELLING_SECONDS = 60.0
"""The same of a plan that is being cancelled: its applier looks every second,
unless it is dead."""
_TAKEN = ('ONGOING', 'CANCELLING')
"""States of a plan that an applier has taken."""
_CANCEL_IT = '. If its applier is dead, cancel the plan'
_ARRIVED = 'VERIFY_RESIZE'
"""The status of a server whose move is looked at before it is confirmed; it
has no task meanwhile."""
_MOVING = ('migrating', 'resize_')
"""How the task states begin that a server has on its way."""


def unexplained(
    instances: Collection[Instance], events: Sequence[Event]
) -> set[str]:
    """Uuids of servers on their way of whose move nothing was told."""
    reported = {
        event.instance
        for event in events
        if event.outcome is Outcome.UNDER_WAY
    }
    moving = {
        instance.uuid
        for instance in instances
        if (instance.task_state or '').startswith(_MOVING)
    }
    return moving - reported


def sort_out(
    events: Sequence[Event], instances: Collection[Instance], now: float
) -> tuple[list[Event], list[Event]]:
    """Part events from rows that were left behind.

    :param instances: all of the cloud
    :param now: Unix seconds
    :returns: those that hold, and those that were left behind
    """
    busy = {
        instance.uuid
        for instance in instances
        if instance.task_state or instance.status == _ARRIVED
    }
    silent = [event for event in events if now - event.at > _grace(event)]
    stuck = [
        event
        for event in silent
        if event.outcome is Outcome.UNDER_WAY and event.instance not in busy
    ]
    stuck_ids = {id(event) for event in stuck}
    alive = {
        event.plan
        for event in events
        if event.outcome is Outcome.UNDER_WAY and id(event) not in stuck_ids
    }
    # Whoever carries out a plan always has one of its actions running. A
    # plan that nobody has taken yet may be carried out at any time.
    stuck += [
        event
        for event in silent
        if event.outcome is Outcome.PLANNED
        and event.status in _TAKEN
        and event.plan not in alive
    ]
    stuck_ids = {id(event) for event in stuck}
    return [event for event in events if id(event) not in stuck_ids], stuck


def sentence(event: Event) -> str:
    """What a log says of an event that was left behind."""
    move = f'The move of {event.instance} {quarantine.route(event)}'
    if event.outcome is Outcome.PLANNED:
        return (
            f'{move} waits in action plan {event.plan}, which is '
            f'{event.status}, but it has not started for '
            f'{durations.exact(_grace(event))}: Kronos no longer counts it'
            + ('' if _is_cancelled(event) else _CANCEL_IT)
        )
    return (
        f'{move} is {event.status} for {event.origin.value}, but the server '
        'is not moving: Kronos no longer counts it'
    )


def _grace(event: Event) -> float:
    return CANCELLING_SECONDS if _is_cancelled(event) else GRACE_SECONDS


def _is_cancelled(event: Event) -> bool:
    """Whether it waits in a plan that is being cancelled."""
    return event.outcome is Outcome.PLANNED and event.status == 'CANCELLING'
