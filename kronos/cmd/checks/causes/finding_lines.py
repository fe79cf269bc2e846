# SPDX-License-Identifier: Apache-2.0
"""The lines of findings: each cause, its remedy, and what follows from it."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kronos.engine import wording

WIDTH = 79
EFFECTS = 3
"""Of a cause, so many are shown that follow from it."""


def text(causes: Sequence[Mapping[str, Any]], width: int | None) -> str:
    """The causes, each with its remedy and what follows from it.

    :param causes: the findings of the document
    :param width: of the terminal, in columns; None: no matter
    """
    lines, counts = ['Findings'], []
    for cause in causes:
        lines += _wrapped(
            f'{cause["level"].upper()} {cause["code"]}: ', cause['text'], width
        )
        if cause['mend']:
            lines += _wrapped('  What to do: ', cause['mend'], width)
        lines += _follows(cause['follows'], width)
    for level in ('error', 'warning'):
        number = sum(cause['level'] == level for cause in causes)
        counts.append(wording.counted(number, level))
    lines.append(', '.join(counts))
    return '\n'.join(lines)


def _follows(
    effects: Sequence[Mapping[str, Any]], width: int | None
) -> Iterator[str]:
    """What follows from a cause: some of it, and how much more."""
    for effect in effects[:EFFECTS]:
        yield from _wrapped(
            f'  - {effect["level"]} {effect["code"]}: ', effect['text'], width
        )
    more = len(effects) - EFFECTS
    if more > 0:
        yield from _wrapped(
            '  - ', f'and {more} more of the same cause', width
        )


def _wrapped(head: str, text: str, width: int | None) -> Iterator[str]:
    yield from textwrap.wrap(
        f'{head}{text}',
        min(WIDTH, width or WIDTH),
        initial_indent='  ',
        subsequent_indent='    ',
        break_long_words=False,
        break_on_hyphens=False,
    )
