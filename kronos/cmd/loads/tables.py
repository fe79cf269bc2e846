# SPDX-License-Identifier: Apache-2.0
"""The tables of kronos-simulate."""

from collections.abc import Mapping, Sequence
from typing import Any

from kronos.cmd.tables import UNKNOWN, Row, aligned
from kronos.common import plain_text
from kronos.engine import wording
from kronos.simulate.columns import Result
from kronos.simulate.outcome import results
from kronos.simulate.outcome.results import FigureRow


def table(
    document: Mapping[str, Any],
    outcome: Sequence[Result],
    width: int | None = None,
) -> str:
    """The sentence that decides, then a column for each run.

    :param width: of the terminal, in columns; None: no matter
    """
    load = document['load']
    head: Row = ['', *(f'({n})' for n, _ in enumerate(outcome, start=1))]
    lines = [
        document['sentence'],
        '',
        f'{load["days"]:.1f} days of '
        f'{wording.counted(load["hosts"], "host")} and '
        f'{wording.counted(load["servers"], "server")}.',
        '',
        *_legend(outcome),
        '',
        *aligned([head, *map(_line, results.worth_reading(outcome))], width),
    ]
    if load['limits']:
        lines.append('')
    lines += [f'Limit: {text}' for text in load['limits']]
    return '\n'.join(map(plain_text.line, lines))


def _legend(outcome: Sequence[Result]) -> list[str]:
    """What each column is, and how its audits ended."""
    return [
        f'({number}) {result.name}{_meaning(result)}{_ends(result)}'
        for number, result in enumerate(outcome, start=1)
    ]


def _meaning(result: Result) -> str:
    meaning = results.MEANINGS.get(result.name, '')
    return f': {meaning}' if meaning else ''


def _ends(result: Result) -> str:
    """How its audits ended, the most frequent end first."""
    ends = [
        f'{number} {end.replace("_", " ")}'
        for end, number in result.ends.most_common()
    ]
    return f'; audits: {", ".join(ends)}' if ends else ''


def _line(row: FigureRow) -> Row:
    return [row.label, *(_shown(value, row.digits) for value in row.values)]


def _shown(value: float | int | None, digits: int) -> str:
    return UNKNOWN if value is None else f'{value:.{digits}f}'


def advice_table(document: Mapping[str, Any], width: int | None = None) -> str:
    """What is advised, then what was tried."""
    advice = document['advice']
    lines = [
        *advice['sentences'],
        '',
        *aligned(advice_rows(advice), width),
        '',
        '* is recommended; balanced: share of plans that ended with all '
        'policies at their thresholds, or packed.',
    ]
    lines += [f'Limit: {text}' for text in document['load']['limits']]
    return '\n'.join(map(plain_text.line, lines))


def advice_rows(advice: Mapping[str, Any]) -> list[Row]:
    """A row for each trial, the names of the columns first."""
    policies = list(advice['trials'][0]['imbalance'])
    return [
        [
            '',
            'question',
            'value',
            'moves a day',
            *(f'imbalance {name}' for name in policies),
            'hosts in use',
            'hot hours',
            'not given',
            'balanced',
            'forecast error',
        ],
        *(
            [
                '*' if trial['is_best'] else '',
                trial['question'],
                trial['value'],
                f'{trial["moves_per_day"]:.1f}',
                *(f'{trial["imbalance"][name]:.3f}' for name in policies),
                f'{trial["hosts_in_use"]:.1f}',
                f'{trial["hot_host_hours"]:.1f}',
                f'{trial["cpu_not_given"]:.2%}',
                f'{trial["balanced"]:.0%}',
                _shown(trial['forecast_error'], 3),
            ]
            for trial in advice['trials']
        ),
    ]


def rows(outcome: Sequence[Result]) -> list[Row]:
    """A row for each column, the names of the figures first."""
    figures = results.rows(outcome)
    return [
        ['column', *(figure.key for figure in figures)],
        *(
            [
                result.name,
                *(_shown(figure.values[place], 6) for figure in figures),
            ]
            for place, result in enumerate(outcome)
        ),
    ]
