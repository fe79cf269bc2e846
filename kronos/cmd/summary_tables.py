# SPDX-License-Identifier: Apache-2.0
"""The tables of a summary of many recordings."""

from collections.abc import Sequence

from kronos.cmd import terminal
from kronos.cmd.judged import UNKNOWN
from kronos.cmd.replay_summary import HOUR, Entry, Series, Summary, moment
from kronos.cmd.tables import Row, aligned


def table(columns: Sequence[Series], width: int | None = None) -> str:
    """One line each recording, then the summary; a column each series.

    :param width: of the terminal, in columns; None: no matter
    """
    lines = aligned(rows(columns), width)
    if len(columns) > 1:
        lines += [f'({n}) {one.name}' for n, one in enumerate(columns, 1)]
    lines += ['', *_summary(columns, width)]
    return '\n'.join(map(terminal.line, lines))


def rows(columns: Sequence[Series]) -> list[Row]:
    """The recordings, the names of the columns first."""
    head = ['recorded at', 'recording']
    for number, _ in enumerate(columns, start=1):
        mark = f' ({number})' if len(columns) > 1 else ''
        head += [f'moves{mark}', f'combined{mark}', f'over{mark}']
    found: list[Row] = [head]
    for entries in zip(*(one.entries for one in columns), strict=True):
        row = [_stamp(entries[0].recorded_at), entries[0].path]
        for entry in entries:
            row += _cells(entry)
        found.append(row)
    return found


def _cells(entry: Entry) -> list[str]:
    """Moves, the worst scope's combined imbalance, policies over."""
    before = {
        name: width
        for name, width in entry.combined_before.items()
        if entry.judged[name].is_judged
    }
    combined = UNKNOWN
    if before:
        worst = max(before, key=lambda one: before[one])
        combined = f'{before[worst]:.4f} -> {entry.combined_after[worst]:.4f}'
    over = UNKNOWN
    if entry.over:
        over = f'{sum(entry.over.values())} of {len(entry.over)}'
    return [str(len(entry.moves)), combined, over]


def _summary(columns: Sequence[Series], width: int | None) -> list[str]:
    found = [one.summary() for one in columns]
    found_rows: list[Row] = [
        ['recordings', *(str(one.recordings) for one in found)],
        ['days', *(f'{one.days:.2f}' for one in found)],
        ['moves', *(str(one.moves) for one in found)],
        ['moves a day', *(_rate(one.moves_a_day) for one in found)],
        [
            'back-and-forth moves',
            *(str(one.back_and_forth) for one in found),
        ],
    ]
    if any(one.hosts_emptied for one in found):
        counts = [str(one.hosts_emptied) for one in found]
        found_rows.append(['hosts emptied', *counts])
    keys = sorted({(o.scope, o.policy) for one in found for o in one.over})
    found_rows += [
        [
            f'over threshold: {key[0]}, {key[1]}',
            *(_time_over(one, key) for one in found),
        ]
        for key in keys
    ]
    return aligned(found_rows, width)


def _rate(moves_a_day: float | None) -> str:
    return UNKNOWN if moves_a_day is None else f'{moves_a_day:.2f}'


def _time_over(summary: Summary, key: tuple[str, str]) -> str:
    for one in summary.over:
        if (one.scope, one.policy) == key:
            return (
                f'{one.seconds_over / HOUR:.1f} h of {one.seconds / HOUR:.1f} '
                f'h, in {one.over} of {one.recordings} recordings'
            )
    return 'not used'


def _stamp(seconds: float) -> str:
    if not seconds:
        return 'unknown'
    return moment(seconds).strftime('%Y-%m-%d %H:%M:%S')
