# SPDX-License-Identifier: Apache-2.0
"""The history of a server: what Kronos did with it, and plans to do."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from oslo_utils import uuidutils

from kronos.clients.schema import seconds_of
from kronos.clients.watcher import WatcherClient
from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.osc import audits, moves, plans
from kronos.osc.audits import Audit
from kronos.osc.moves import MoveAction
from kronos.snapshots import watcher_actions, watcher_api

DAY = 86400.0
AUDITS = 5
"""So many are told of where none is known to have planned the server."""
_GOING_ON = (watcher_actions.RECOMMENDED, *watcher_actions.STARTED)
"""States of plans whose actions may still be."""
_ELSEWHERE = (
    "This is Watcher's history of the server. To see why it was not moved, "
    f'or not to another host, run {ShellCommand.EXPLAIN} with a report, a '
    f'recording, or a new recording from {ShellCommand.RECORD}.'
)


@dataclass
class PlannedMove:
    """A move, with the state of its plan; '' where that was deleted."""

    move: MoveAction
    plan_state: str


@dataclass
class ServerHistory:
    """What Watcher has of a server."""

    server: str
    """Uuid."""
    name: str
    """As its last plan knew it; '' if no plan does."""
    answer: str
    moves: list[PlannedMove]
    """The last first."""
    audits: list[Audit]
    """That planned it, or else the last ones."""
    note: str = _ELSEWHERE


def find(
    watcher: WatcherClient,
    server: str,
    days: int,
    clock: Callable[[], float] = time.time,
) -> ServerHistory:
    """The history of a server.

    :param server: its uuid, or its name at the time of a plan
    :param days: what was written before is left out
    :param clock: Unix seconds
    :raises KronosException: the name is of none or of several
    :raises ClientError: Watcher is away, or refuses
    """
    since = clock() - days * DAY
    of_plans = _plans(watcher, since)
    all_moves = _moves(watcher, of_plans, since)
    of_server = [
        move for move in all_moves if server in (move.server, move.name)
    ]
    uuids = sorted({move.server for move in of_server})
    span = f'the last {wording.counted(days, "day")}'
    if len(uuids) > 1:
        raise exceptions.KronosException(
            f'{len(uuids)} servers have the name "{server}": '
            f'{wording.some(uuids)}; use the uuid of one of them'
        )
    if not uuids and not uuidutils.is_uuid_like(server):
        names = dict.fromkeys(move.name for move in all_moves if move.name)
        alike = near_names.near(server, names, near_names.NEAR)
        hint = near_names.question(alike) or 'use its uuid, or more --days'
        raise exceptions.KronosException(
            f'Kronos has neither moved a server "{server}" nor planned to '
            f'move it in {span}; {hint}'
        )
    planned_moves = [
        PlannedMove(move, of_plans.get(move.plan, ('', ''))[0])
        for move in of_server
    ]
    planned = [move.audit for move in of_server if move.audit]
    return ServerHistory(
        uuids[0] if uuids else server,
        of_server[0].name if of_server else '',
        _answer(planned_moves, span),
        planned_moves,
        _audits(watcher, planned or [last for _, last in of_plans.values()]),
    )


def _plans(watcher: WatcherClient, since: float) -> dict[str, tuple[str, str]]:
    """State and audit of the plans made since then, by uuid."""
    by_uuid = {}
    for row in watcher.plans(plans.PAGE):
        if seconds_of(row['created_at']) < since:
            break
        if plans.is_of_kronos(row) or not row.get('strategy_name'):
            by_uuid[row['uuid']] = row['state'], row.get('audit_uuid') or ''
    return by_uuid


def _moves(
    watcher: WatcherClient,
    of_plans: dict[str, tuple[str, str]],
    since: float,
) -> list[MoveAction]:
    """Those of servers, the last first; each told as it was read last."""
    rows = {}
    for plan, (state, _) in of_plans.items():
        if state in _GOING_ON:
            rows.update({row['uuid']: row for row in watcher.actions_of(plan)})
    for row in watcher.actions():
        action = watcher_api.action_row(row)
        if action.touched < since:
            break
        rows[row['uuid']] = row
    movements = (
        moves.of(watcher_api.action_row(row))
        for row in rows.values()
        if watcher_actions.is_ours(row['action_type'])
    )
    of_servers = [move for move in movements if move.server]
    return sorted(of_servers, key=lambda move: (move.touched, move.sequence))[
        ::-1
    ]


def _audits(watcher: WatcherClient, uuids: Iterable[str]) -> list[Audit]:
    """The first of them; one that says nothing is left out."""
    all_audits = audits.Audits(watcher)
    first = list(dict.fromkeys(filter(None, uuids)))[:AUDITS]
    return [audit for audit in map(all_audits.get, first) if audit.message]


def _answer(planned: list[PlannedMove], span: str) -> str:
    """The last that was done, and what is still to be, as a sentence."""
    parts = [_planned(row) for row in planned if not row.move.is_over]
    over = [row.move for row in planned if row.move.is_over]
    if over:
        parts.append(_past(over[0]))
    done = sum(move.state == watcher_actions.FINISHED for move in over)
    if not [part for part in parts if part]:
        return (
            'Kronos has neither moved this server nor planned to move it in '
            f'{span}.'
        )
    counted = f'{done} of {len(over)} succeeded' if over else 'none has ended'
    parts.append(
        f'in {span}: {wording.counted(len(planned), "action")}, {counted}'
    )
    return '; '.join(filter(None, parts))


def _planned(planned: PlannedMove) -> str:
    """An action that is not over; '' if it will not be."""
    move = planned.move
    if move.state == watcher_actions.ONGOING:
        return f'{move.what} is running'
    if planned.plan_state == watcher_actions.RECOMMENDED:
        return (
            f'{move.what} is planned, and waits for: '
            + ShellCommand.PLAN_START.of(plan=move.plan)
        )
    if planned.plan_state in watcher_actions.STARTED:
        return f'{move.what} waits in a plan that is {planned.plan_state}'
    return ''


def _past(move: MoveAction) -> str:
    reason = f': {move.reason}' if move.reason else ''
    return f'{move.what} was {move.state} at {move.touched_at}{reason}'
