# SPDX-License-Identifier: Apache-2.0
"""The disruption budget: how many moves a project, group or server may have.

It is the value of options, so it is written as a text: ``N`` moves at a time,
``N/SECONDS`` in any such time, or ``N,M/SECONDS`` for both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kronos.common import plain_text

MOST_MOVES = 1_000_000
MOST_SECONDS = 31 * 86400
"""So far back a budget may look: Nova lists all migrations since."""
SHOWN_CHARACTERS = 40
"""Of a value that is wrong."""
_SYNTAX = re.compile(
    r'(?:(?P<at_once>[0-9]{1,9})\s*(?:,|$))?\s*'
    r'(?:(?P<moves>[0-9]{1,9})\s*/\s*(?P<seconds>[0-9]{1,9}))?'
)
_RULE = (
    'it must be N moves at a time, N/SECONDS, or both as N,M/SECONDS, such '
    'as 2,5/3600'
)
_PHASE = re.compile(r'[a-z_]{1,40}')
_PROJECT = re.compile(r'[^\s:,/{}]{1,64}')
_NEXT = re.compile(r',(?=[^:,]*:)')


@dataclass(frozen=True)
class Budget:
    """How many moves are allowed at a time, and in how many seconds."""

    at_once: int | None = None
    """None: any number."""
    moves: int | None = None
    """In any ``seconds`` that follow one another; None: any number."""
    seconds: int = 0

    def __str__(self) -> str:
        window = f'{self.moves}/{self.seconds}'
        both = (
            '' if self.at_once is None else f'{self.at_once}',
            '' if self.moves is None else window,
        )
        return ','.join(filter(None, both))


def parsed(text: str) -> Budget | None:
    """The budget in a text; None: it is empty, and there is none.

    :raises ValueError: names the value and the rule
    """
    value = text.strip()
    if not value:
        return None
    match = _SYNTAX.fullmatch(value)
    parts = match and {
        name: int(number)
        for name, number in match.groupdict().items()
        if number is not None
    }
    if not parts or value.endswith(','):
        raise ValueError(f'{_shown(text)} is not a budget: {_RULE}')
    budget = Budget(**parts)
    for number, most, what in (
        (budget.at_once, MOST_MOVES, 'moves'),
        (budget.moves, MOST_MOVES, 'moves'),
        (parts.get('seconds'), MOST_SECONDS, 'seconds'),
    ):
        if number is not None and not 1 <= number <= most:
            raise ValueError(
                f'{_shown(text)} is not a budget: its {what} must be at '
                f'least 1 and at most {most}'
            )
    return budget


def checked(text: str) -> str:
    """A budget as it was written.

    :raises ValueError: as :func:`parsed`
    """
    parsed(text)
    return text.strip()


def by_project(value: str | Mapping[str, str]) -> dict[str, str]:
    """Budgets by project id, from ``ID:BUDGET`` with commas in between.

    A budget may have a comma itself.

    :raises ValueError: names the project or the part, and the rule
    """
    if isinstance(value, str):
        pairs = [
            part.partition(':')[::2]
            for part in _NEXT.split(value)
            if part.strip()
        ]
    else:
        pairs = list(value.items())
    budgets: dict[str, str] = {}
    for key, text in pairs:
        project = key.strip()
        is_project = project.isprintable() and _PROJECT.fullmatch(project)
        if not is_project or not text.strip():
            raise ValueError(
                f'{_shown(f"{key}:{text}")} is not a project with its '
                'budget: it must be ID:BUDGET'
            )
        if project in budgets:
            raise ValueError(f'project {_shown(project)} has two budgets')
        try:
            budgets[project] = checked(text)
        except ValueError as error:
            raise ValueError(f'project {project}: {error}') from None
    return budgets


def phases(names: list[str]) -> list[str]:
    """Names of phases.

    :raises ValueError: one cannot be the name of a phase
    """
    for name in names:
        if not _PHASE.fullmatch(name):
            raise ValueError(
                f'{_shown(name)} is not a phase: it must be a word such as '
                'evacuate'
            )
    return names


def _shown(text: str) -> str:
    """A value as a message shows it: it may be hostile."""
    line = plain_text.line(text[:SHOWN_CHARACTERS])
    return repr(line + ('...' if len(text) > SHOWN_CHARACTERS else ''))
