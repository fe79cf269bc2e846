# SPDX-License-Identifier: Apache-2.0
"""The part of maintenance in reports: states of hosts, and what is ahead."""

from collections.abc import Iterator, Mapping
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
NEXT = ('closing', 'handing over', 'reopening')
"""What a plan does with a host of the run."""


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

    def host_lines(self, answer: Mapping[str, Any]) -> list[str]:
        """What the run does with the host, and what keeps it from that."""
        row = answer.get('maintenance')
        return [] if row is None else [*_of_host(row)]


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
        **picked(row, 'handing_over reopening missing moved moved_twice'),
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
    if row.missing:
        lines.append(f'In no scope of the audit: {wording.some(row.missing)}')
    return lines + states


def _of_host(row: Mapping[str, Any]) -> Iterator[str]:
    line = f'Run {row["run"]}: {row["state"]}'
    steps = [word for word in NEXT if row[word.replace(' ', '_')]]
    if steps:
        line += f'; the plan: {", ".join(steps)}'
    if row['expected_seconds'] is not None:
        end = durations.rounded(row['expected_seconds'])
        line += f'; done and open in about {end}'
    yield line
    for each in row['staying']:
        yield _staying(each)
    if row['waits'] and not (steps or row['staying']):
        yield f'No further host is closed: {row["waits"]}'


def _staying(each: Mapping[str, Any]) -> str:
    """Why a server keeps its host from being emptied, and the remedy."""
    remedy = f'. {each["remedy"]}' if each['remedy'] else ''
    return (
        f'{each["host"]} cannot be emptied: {each["name"] or each["instance"]}'
        f': [{each["code"]}] {each["reason"]}{remedy}'
    )


def _in_the_way(row: RunOutcome) -> list[str]:
    """What is in the way of the run, with its remedies."""
    look = row.look
    lines = [_staying(asdict(each)) for each in look.staying]
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
