# SPDX-License-Identifier: Apache-2.0
"""The summary of the plans of many recordings.

Each recording is planned by itself, as if no earlier plan had been carried
out: what was recorded is what happened then.
"""

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kronos.cmd import what_if
from kronos.cmd.tables import UNKNOWN, Row, aligned
from kronos.common import durations, plain_text
from kronos.engine import wording
from kronos.engine.types import AggregateResult
from kronos.policies.models import Mode
from kronos.recordings.replay import Replay

DAY = 86400.0
HOUR = 3600.0


@dataclass
class RecordedMove:
    """A step as the document has it, key by key; so are the summary's."""

    instance: str
    source: str
    destination: str


@dataclass
class RecordingSummary:
    """One recording, in short."""

    path: str
    recorded_at: float
    """Unix seconds; 0 if unknown."""
    moves: list[RecordedMove]
    stopped: dict[str, str]
    """By scope, as the next."""
    emptied: dict[str, int]
    """So many fewer hosts are in use after the plan, if any."""
    combined_before: dict[str, float]
    """By scope, as the next."""
    combined_after: dict[str, float]
    over: dict[tuple[str, str], bool]
    """By scope and policy in use: whether it was over its threshold."""
    policies_used: dict[str, int]
    """By scope, as the next."""
    policies_skipped: dict[str, dict[str, str]]
    """By policy the reason."""
    cause: str
    """That of all these, where hosts are called otherwise; else ''."""

    @property
    def is_judged(self) -> bool:
        """Whether a policy could be used in any scope."""
        return any(self.policies_used.values())


@dataclass
class TimeOver:
    """How long one policy was over its threshold in one scope."""

    scope: str
    policy: str
    recordings: int = 0
    """In so many it was used, and in so many of them over."""
    over: int = 0
    seconds: float = 0.0
    """From each of these to the next recording, and while over."""
    seconds_over: float = 0.0


@dataclass
class Totals:
    recordings: int
    moves: int
    days: float
    """From the first recording to the last."""
    moves_a_day: float | None
    """None where they span less than an hour."""
    hosts_emptied: int
    """The same of each plan, in all."""
    back_and_forth: int
    """Moves to a host that the instance was moved away from earlier."""
    over: list[TimeOver] = field(default_factory=list)


class PlanSeries:
    """The plans of many recordings by the same options.

    :param name: of the policies, for people
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[RecordingSummary] = []

    @property
    def is_judged(self) -> bool:
        """Whether a policy could be used in any recording."""
        return any(entry.is_judged for entry in self.entries)

    def doubts(self) -> list[str]:
        """Which policies could not be used, and where; causes first."""
        causes: dict[str, list[str]] = {}
        where: dict[str, list[str]] = {}
        for entry in self.entries:
            if entry.cause:
                causes.setdefault(entry.cause, []).append(entry.path)
                continue
            for skipped in entry.policies_skipped.values():
                for reason in skipped.values():
                    text = f'not judged: {reason}'
                    where.setdefault(text, []).append(entry.path)
        doubts = []
        for text, paths in (*causes.items(), *where.items()):
            names = wording.some(list(dict.fromkeys(paths)), 3)
            doubts.append(f'{self.name}: {text} ({names})')
        if not self.is_judged:
            doubts.append(
                f'{self.name}: no policy could be used in any recording, so '
                'the imbalance is not known'
            )
        return doubts

    def add(self, plan: Replay) -> None:
        scopes = plan.report.scopes
        self.entries.append(
            RecordingSummary(
                plan.recording.source,
                plan.recording.recorded_at,
                [
                    RecordedMove(step.instance, step.source, step.destination)
                    for step in plan.report.steps
                ],
                {scope.name: scope.stopped.value for scope in scopes},
                {scope.name: _emptied(scope) for scope in scopes},
                {scope.name: scope.combined_before for scope in scopes},
                {scope.name: scope.combined_after for scope in scopes},
                {key: over for scope in scopes for key, over in _over(scope)},
                {scope.name: scope.policies_used for scope in scopes},
                {scope.name: scope.policies_skipped for scope in scopes},
                what_if.cause(plan),
            )
        )

    def sort(self) -> None:
        """By time."""
        self.entries.sort(key=lambda entry: (entry.recorded_at, entry.path))

    def summary(self) -> Totals:
        moves = sum(len(entry.moves) for entry in self.entries)
        first, last = self.entries[0], self.entries[-1]
        days = (last.recorded_at - first.recorded_at) / DAY
        return Totals(
            len(self.entries),
            moves,
            days,
            moves / days if days * DAY >= HOUR else None,
            sum(sum(entry.emptied.values()) for entry in self.entries),
            self._back_and_forth(),
            self._times_over(),
        )

    def _back_and_forth(self) -> int:
        past_hosts: dict[str, set[str]] = {}
        count = 0
        for entry in self.entries:
            count += sum(
                move.destination in past_hosts.get(move.instance, ())
                for move in entry.moves
            )
            for move in entry.moves:
                past_hosts.setdefault(move.instance, set()).add(move.source)
        return count

    def _times_over(self) -> list[TimeOver]:
        by_policy: dict[tuple[str, str], TimeOver] = {}
        ends = [entry.recorded_at for entry in self.entries[1:]]
        ends.append(self.entries[-1].recorded_at)
        for entry, end in zip(self.entries, ends, strict=True):
            for key, is_over in entry.over.items():
                total = by_policy.setdefault(key, TimeOver(*key))
                total.recordings += 1
                total.seconds += end - entry.recorded_at
                if is_over:
                    total.over += 1
                    total.seconds_over += end - entry.recorded_at
        return [by_policy[key] for key in sorted(by_policy)]


def _emptied(scope: AggregateResult) -> int:
    return max(0, scope.hosts_in_use_before - scope.hosts_in_use_after)


def _over(scope: AggregateResult) -> list[tuple[tuple[str, str], bool]]:
    """None in mode pack, where no threshold counts."""
    return [
        ((scope.name, policy.name), policy.imbalance_before > policy.threshold)
        for policy in scope.policies
        if policy.scores and policy.mode is Mode.SPREAD
    ]


def document(columns: Sequence[PlanSeries]) -> dict[str, Any]:
    """The same for programs: a list of one or two replays."""
    return {
        'format_version': 1,
        'replays': [
            {
                'recordings': [_entry(entry) for entry in column.entries],
                'summary': asdict(column.summary()),
            }
            for column in columns
        ],
    }


def _entry(entry: RecordingSummary) -> dict[str, Any]:
    return {
        'path': entry.path,
        'recorded_at': moment(entry.recorded_at).isoformat(),
        'steps': [asdict(move) for move in entry.moves],
        'scopes': [
            {
                'name': name,
                'stopped': entry.stopped[name],
                'hosts_emptied': entry.emptied[name],
                'combined_before': entry.combined_before[name],
                'combined_after': entry.combined_after[name],
                'policies_used': entry.policies_used[name],
                'policies_skipped': entry.policies_skipped[name],
                'over_threshold': sorted(
                    policy
                    for (scope, policy), over in entry.over.items()
                    if scope == name and over
                ),
            }
            for name in entry.stopped
        ],
    }


def moment(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def table(columns: Sequence[PlanSeries], width: int | None = None) -> str:
    """One line each recording, then the summary; a column each series.

    :param width: of the terminal, in columns; None: no matter
    """
    lines = aligned(rows(columns), width)
    if len(columns) > 1:
        lines += [
            f'({n}) {column.name}' for n, column in enumerate(columns, 1)
        ]
    lines += ['', *_summary_lines(columns, width)]
    return '\n'.join(map(plain_text.line, lines))


def rows(columns: Sequence[PlanSeries]) -> list[Row]:
    """The recordings, the names of the columns first."""
    head = ['recorded at', 'recording']
    for number, _ in enumerate(columns, start=1):
        mark = f' ({number})' if len(columns) > 1 else ''
        head += [f'moves{mark}', f'combined{mark}', f'over{mark}']
    result: list[Row] = [head]
    for entries in zip(*(column.entries for column in columns), strict=True):
        row = [_stamp(entries[0].recorded_at), entries[0].path]
        for entry in entries:
            row += _cells(entry)
        result.append(row)
    return result


def _cells(entry: RecordingSummary) -> list[str]:
    """Moves, the worst scope's combined imbalance, policies over."""
    before = {
        name: width
        for name, width in entry.combined_before.items()
        if entry.policies_used[name]
    }
    combined = UNKNOWN
    if before:
        worst = max(before, key=lambda scope: before[scope])
        combined = f'{before[worst]:.4f} -> {entry.combined_after[worst]:.4f}'
    over = UNKNOWN
    if entry.over:
        over = f'{sum(entry.over.values())} of {len(entry.over)}'
    return [str(len(entry.moves)), combined, over]


def _summary_lines(
    columns: Sequence[PlanSeries], width: int | None
) -> list[str]:
    summaries = [column.summary() for column in columns]
    found_rows: list[Row] = [
        ['recordings', *(str(summary.recordings) for summary in summaries)],
        ['days', *(f'{summary.days:.2f}' for summary in summaries)],
        ['moves', *(str(summary.moves) for summary in summaries)],
        [
            'moves a day, none of them made',
            *(_rate(summary.moves_a_day) for summary in summaries),
        ],
        [
            'back-and-forth moves',
            *(str(summary.back_and_forth) for summary in summaries),
        ],
    ]
    if any(summary.hosts_emptied for summary in summaries):
        counts = [str(summary.hosts_emptied) for summary in summaries]
        found_rows.append(['hosts emptied', *counts])
    keys = sorted(
        {(o.scope, o.policy) for summary in summaries for o in summary.over}
    )
    found_rows += [
        [
            f'over threshold: {key[0]}, {key[1]}',
            *(_time_over(summary, key) for summary in summaries),
        ]
        for key in keys
    ]
    return aligned(found_rows, width)


def _rate(moves_a_day: float | None) -> str:
    return UNKNOWN if moves_a_day is None else f'{moves_a_day:.2f}'


def _time_over(summary: Totals, key: tuple[str, str]) -> str:
    for row in summary.over:
        if (row.scope, row.policy) == key:
            return (
                f'{durations.rounded(row.seconds_over)} of '
                f'{durations.rounded(row.seconds)}, in {row.over} of '
                f'{row.recordings} recordings'
            )
    return 'not used'


def _stamp(seconds: float) -> str:
    if not seconds:
        return 'unknown'
    return moment(seconds).strftime('%Y-%m-%d %H:%M:%S')
