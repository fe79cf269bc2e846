# SPDX-License-Identifier: Apache-2.0
"""The part of maintenance in reports: states of hosts, and what is ahead."""

from dataclasses import asdict
from typing import Any, ClassVar

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult
from kronos.extensions.maintenance import maintenance, outcome
from kronos.extensions.maintenance.outcome import RunOutcome
from kronos.reports.parts import ReportPart, picked

MINUTE = 60.0


class MaintenanceReport(ReportPart):
    """What becomes of the hosts of a run, and what is in its way."""

    sections: ClassVar = ('maintenance.html',)

    def settings(self, settings: Settings) -> dict[str, Any]:
        spec = maintenance.of(settings)
        return {
            'maintenance': None
            if spec is None
            else asdict(spec) | {'hosts': [*spec.hosts]}
        }

    def scope(self, scope: AggregateResult) -> dict[str, Any]:
        row = outcome.of(scope)
        return {'maintenance': _document(row) if row.states else None}

    def lines(
        self, scope: AggregateResult, uuids: wording.ShortUuids
    ) -> list[str]:
        row = outcome.of(scope)
        if not row.states:
            return []
        return [*_ahead(row), *_in_the_way(row)]


def _document(row: RunOutcome) -> dict[str, Any]:
    ahead = row.forecast
    return {
        'run': row.run,
        'unknown': row.unknown,
        'hosts': [
            {
                'host': name,
                'state': state.state.value,
                'since': state.since,
                'expected_seconds': ahead.ends.get(name),
            }
            for name, state in row.states.items()
        ],
        'closing': [*row.waves.closing],
        'waits': row.waves.waits,
        **picked(row, 'handing_over reopening moved moved_twice'),
        'forecast': picked(ahead, 'least_moves moves twice seconds stuck'),
        'look': asdict(row.look),
    }


def _ahead(row: RunOutcome) -> list[str]:
    """How far the run has come, and what is to be expected of it."""
    ahead = row.forecast
    states = [
        f'{name}: {state.state}'
        + (
            f', done in about {durations.rounded(ahead.ends[name])}'
            if ahead.ends.get(name, 0.0) >= MINUTE
            else ''
        )
        for name, state in row.states.items()
    ]
    lines = [
        f'Run {row.run}: {wording.counted(ahead.moves, "move")} to come, '
        f'{ahead.least_moves} at least, {ahead.twice} of servers that move '
        f'again; the end in about {durations.rounded(ahead.seconds)}'
    ]
    if ahead.stuck:
        lines.append(f'No room to empty {wording.some(ahead.stuck)}')
    if row.waves.waits:
        lines.append(f'No further host is closed: {row.waves.waits}')
    return lines + states


def _in_the_way(row: RunOutcome) -> list[str]:
    """What is in the way of the run, with its remedies."""
    look = row.look
    lines = [
        f'{each.host} cannot be emptied: {each.name or each.instance}: '
        f'[{each.code}] {each.reason}'
        + (f'. {each.remedy}' if each.remedy else '')
        for each in look.staying
    ]
    lines += [
        f'{host}: {wording.counted(len(servers), "server")} stopped'
        for host, servers in look.stopped.items()
    ]
    lines += [
        f'{host}: {wording.some(servers)} may come back: confirm or revert '
        'the resize'
        for host, servers in look.may_return.items()
    ]
    texts = [*look.groups, look.pace, *look.hints]
    return lines + [text[:1].upper() + text[1:] for text in texts if text]
