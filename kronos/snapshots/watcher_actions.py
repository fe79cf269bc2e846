# SPDX-License-Identifier: Apache-2.0
"""The actions of Watcher: what each tells of a move, whoever read its row.

The state of an action says how it went. The state of its plan is only used
to tell whether an action that is not over is still going to be: Watcher
rewrites the plans of a strategy that changed.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from oslo_log import log as logging

from kronos.engine.eligibility import quarantine
from kronos.engine.types import (
    Event,
    Origin,
    Outcome,
)

LOG = logging.getLogger(__name__)

ACTION_TYPE = 'kronos_live_migrate'
OURS = 'kronos_%'
MOVES = 'kronos_%migrate'
"""Names of actions as SQL has patterns, those of extensions too: all that are
Kronos' own, and those that take a server from host to host and do no more."""
FINISHED = 'SUCCEEDED'
FAILED = 'FAILED'
DELETED = 'DELETED'
PENDING = 'PENDING'
ONGOING = 'ONGOING'
RECOMMENDED = 'RECOMMENDED'
CANCELLING = 'CANCELLING'
"""States of actions and plans, as Watcher's database and API have them."""
STARTED = (PENDING, ONGOING, CANCELLING)
"""Of a plan that runs or will."""
_WAITING = (RECOMMENDED, PENDING, ONGOING, CANCELLING)
"""Of a plan whose pending actions are still going to be; of one that is being
cancelled they may be about to end as FAILED."""

_KRONOS_ERROR = re.compile(r'KRONOS:(\w+):(?: \[(\w+)\])?')
_PREFIX = 'KRONOS: '
"""How a word about what is under way begins."""
FAILURE = 'Action failed in '
"""How Watcher begins the message of an action that failed."""
_BARE_ERROR = re.compile(rf'^{FAILURE}\w+: (\w+)$')
"""The class of an error that Kronos did not foresee."""
UNKNOWN = 'unknown'
"""The error type of a failure that names none."""
NEEDED = ('resource_id', 'source_node', 'destination_node', 'aggregate')
"""Input parameters without which nothing can be told of an action."""


@dataclass
class PlanRow:
    """An action plan; times are Unix seconds."""

    uuid: str
    state: str
    touched: float
    """When Watcher last wrote it."""


@dataclass
class ActionRow:
    """An action; times are Unix seconds."""

    uuid: str
    action_type: str
    state: str
    parameters: Any
    message: str
    created: float
    touched: float
    """When Watcher last wrote it."""


_PHASE = re.compile(r'[a-z_]{1,40}')
"""One of the trunk's or of an extension's; another text tells nothing."""


def is_ours(action_type: str) -> bool:
    """Whether an action is one of Kronos' own."""
    return action_type.startswith('kronos_')


def is_move(action_type: str) -> bool:
    """Whether it takes a server from host to host, and does no more."""
    return is_ours(action_type) and action_type.endswith('migrate')


def is_whole_move(row: ActionRow) -> bool:
    """Whether it is a move of Kronos that names its server and its ends."""
    return is_move(row.action_type) and not _missing(row.parameters)


Events = dict[str, Event | None]
"""By the uuid of the action."""


def to_do(plan: PlanRow, rows: Iterable[ActionRow]) -> Events:
    """What the actions of one plan tell that are not over."""
    rows = list(rows)
    # What is done of a plan tells that somebody is at it.
    heard = max([plan.touched, *(row.touched for row in rows)])
    return _events(rows, lambda row: _going(row, plan, heard))


def ended(rows: Iterable[ActionRow]) -> Events:
    """What actions tell that are over, or were deleted."""
    return _events(rows, _over)


def _events(
    rows: Iterable[ActionRow], event_of: Callable[[ActionRow], Event | None]
) -> Events:
    # Watcher ignores a filter for the type.
    ours = [row for row in rows if is_move(row.action_type)]
    result: Events = {}
    for row in ours:
        missing = _missing(row.parameters)
        if missing:
            LOG.warning(
                'Kronos ignores action %s in the history of moves: its input '
                'parameters do not contain %s',
                row.uuid,
                ', '.join(missing),
            )
        else:
            result[row.uuid] = event_of(row)
    return result


def _missing(value: Any) -> list[str]:
    """Names of the input parameters that are needed and are no text."""
    inputs = value if isinstance(value, dict) else {}
    return [name for name in NEEDED if not isinstance(inputs.get(name), str)]


def _over(row: ActionRow) -> Event | None:
    """An action that is over; None if nothing can be told of it.

    A move to another cell that waits to be confirmed by hand has arrived, as
    it has for Nova; that it is not over, :mod:`.unfinished_moves` finds.

    Deleting a plan wipes out the states and the times of its actions; their
    messages stay, so failures can still be told.
    """
    if row.state == FINISHED:
        return _event(row, Outcome.MOVED)
    if row.state == DELETED:
        if not row.message.startswith(FAILURE):
            return None
        event = _event(row, Outcome.FAILED)
        event.status = quarantine.DELETED
    else:
        event = _event(row, Outcome.FAILED)
    event.error_type, event.fault = error_of(row.message)
    return event


def _going(row: ActionRow, plan: PlanRow, heard: float) -> Event | None:
    """An action of a plan that runs; None if it will not be carried out.

    :param heard: Unix seconds: when anything of its plan changed
    """
    if row.state == ONGOING:
        return _event(row, Outcome.UNDER_WAY)
    if row.state != PENDING or plan.state not in _WAITING:
        return None
    event = _event(row, Outcome.PLANNED)
    event.at, event.status, event.plan = heard, plan.state, plan.uuid
    return event


def error_of(message: str) -> tuple[str, str]:
    """The class of the error and the fault that an action's message tells.

    The message of an older version tells no fault.
    """
    match = _KRONOS_ERROR.search(message)
    if match:
        return match[1], match[2] or ''
    match = _BARE_ERROR.search(message)
    return (match[1] if match else UNKNOWN), ''


def words_of(message: str) -> str:
    """What the message of an action says beside the codes, and who told."""
    match = _KRONOS_ERROR.search(message)
    rest = message[match.end() :] if match else message
    return rest.removeprefix(_PREFIX).strip()


def _event(row: ActionRow, outcome: Outcome) -> Event:
    inputs = row.parameters
    phase = inputs.get('phase')
    return Event(
        instance=inputs['resource_id'],
        source=inputs['source_node'],
        destination=inputs['destination_node'],
        outcome=outcome,
        at=row.touched,
        origin=Origin.WATCHER,
        scope=inputs['aggregate'],
        status=row.state,
        plan=inputs.get('action_plan_uuid', ''),
        began=row.created,
        phase=phase
        if isinstance(phase, str) and _PHASE.fullmatch(phase)
        else '',
    )
