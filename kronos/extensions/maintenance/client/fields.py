# SPDX-License-Identifier: Apache-2.0
"""The fields that the commands print: for people, and for programs.

Keys are only added. Times are UTC, and what is not known is null.
"""

from typing import Any

from kronos.common import durations
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.extensions.maintenance.client.host_rows import HostRow
from kronos.extensions.maintenance.client.run_history import HostHistory
from kronos.extensions.maintenance.client.run_status import RunStatus
from kronos.extensions.maintenance.client.runs import Run
from kronos.osc import columns, moves
from kronos.osc.moves import MoveAction
from kronos.osc.plans import Plan

SECONDS_TO_END = 'seconds_to_end'
"""The indicator of the goal, from the plan on; 0: not known."""
UNKNOWN = 'unknown'
TIMES = ('closed_at', 'handed_over_at', 'opened_at')
SPANS = ('emptying_seconds', 'handed_over_seconds')

Fields = dict[str, Any]


def of_run(run: Run) -> Fields:
    """An audit that was just created."""
    return {
        'run': run.name,
        'state': run.audit.state,
        'audit': run.audit.uuid,
        'audit_name': run.audit.name,
        'k': run.spec.at_once,
        'hosts': columns.NamesColumn(list(run.spec.hosts)),
        'follow': ShellCommand.RUN_STATUS.of(run=run.name),
    }


def of_status(status: RunStatus, host: str | None = None) -> Fields:
    """:param host: None: all hosts of the run"""
    audit = status.run.audit
    rows = [row for row in status.hosts if host in (None, row.host)]
    return {
        'run': status.run.name,
        'state': status.state.value,
        'k': status.run.spec.at_once,
        'closed': status.closed,
        'eta': eta(status.history.plan),
        'audit': audit.uuid,
        'audit_state': audit.state,
        'audit_message': audit.message,
        'hosts': columns.LinesColumn(
            [_host(row) for row in rows], [_line(row) for row in rows]
        ),
    }


def eta(plan: Plan | None) -> str | None:
    """When a run is expected to end, by its newest plan."""
    if plan is None:
        return None
    seconds = plan.indicators.get(SECONDS_TO_END)
    return _moment(plan.created + seconds) if seconds else None


def _host(row: HostRow) -> Fields:
    return {
        'host': row.host,
        'state': row.state and row.state.value,
        'since': _moment(row.since),
        'running': row.running,
        'stopped': row.stopped,
        'moves': row.moves,
        'eta': None,
        'reason_code': row.reason_code,
        'reason': row.reason,
    }


def _line(row: HostRow) -> str:
    parts = [f'{row.host}: {row.state or UNKNOWN}']
    if row.since is not None:
        parts.append(f'since {moves.moment(row.since)}')
    if row.running is not None:
        parts.append(f'({row.running} running, {row.stopped} stopped)')
    text = ' '.join(parts)
    code = f' [{row.reason_code}]' if row.reason_code else ''
    return f'{text}{code}: {row.reason}' if row.reason else text + code


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else moves.moment(seconds) or None


def of_report(status: RunStatus) -> Fields:
    """What a run has done so far."""
    history = status.history
    times = history.times
    rows = [(row.host, history.of_host(row.host), row) for row in status.hosts]
    servers = _servers(history.moved)
    return {
        'run': status.run.name,
        'state': status.state.value,
        'began_at': _moment(status.run.began),
        'audits': columns.NamesColumn(
            [audit.uuid for audit in status.run.audits]
        ),
        'moves': len(history.moved),
        'servers_moved': len(times),
        'servers_moved_twice': sum(number > 1 for number in times.values()),
        'moves_failed': history.failed,
        'hosts_late': columns.NamesColumn(
            [
                name
                for name, past, row in rows
                if row.state == 'late' or _is_late(past, status.run)
            ]
        ),
        'hosts': columns.LinesColumn(
            [_past(name, past) for name, past, _ in rows],
            [_past_line(name, past) for name, past, _ in rows],
        ),
        'servers': columns.LinesColumn(
            servers,
            [
                f'{row["name"] or row["server"]}: {" -> ".join(row["hosts"])}'
                for row in servers
            ],
        ),
    }


def _is_late(past: HostHistory, run: Run) -> bool:
    """Whether it was handed over for too long, and is open again."""
    span = _span(past.handed_over, past.reopened)
    return span is not None and span > run.spec.host_timeout


def _span(since: float | None, until: float | None) -> float | None:
    if since is None or until is None:
        return None
    return max(0.0, until - since)


def _past(name: str, past: HostHistory) -> Fields:
    moments = (past.closed, past.handed_over, past.reopened)
    spans = (
        _span(past.closed, past.handed_over),
        _span(past.handed_over, past.reopened),
    )
    return {
        'host': name,
        **dict(zip(TIMES, map(_moment, moments), strict=True)),
        **dict(zip(SPANS, spans, strict=True)),
        'moves': past.moves,
    }


def _past_line(name: str, past: HostHistory) -> str:
    if past.closed is None:
        return f'{name}: not closed by the run'
    parts = [f'closed at {moves.moment(past.closed)}']
    emptying = _span(past.closed, past.handed_over)
    if emptying is not None:
        moved = wording.counted(past.moves, 'move')
        parts.append(f'empty after {durations.rounded(emptying)} ({moved})')
    work = _span(past.handed_over, past.reopened)
    if work is not None:
        parts.append(f'opened after {durations.rounded(work)} more')
    return f'{name}: {", ".join(parts)}'


def _servers(moved: list[MoveAction]) -> list[Fields]:
    """Each server that was moved, most often first, with its hosts."""
    rows: dict[str, Fields] = {}
    for move in moved:
        row = rows.setdefault(
            move.server,
            {
                'server': move.server,
                'name': move.name,
                'moves': 0,
                'hosts': [move.source],
            },
        )
        row['moves'] += 1
        row['hosts'].append(move.destination)
    return sorted(rows.values(), key=lambda row: -row['moves'])
