# SPDX-License-Identifier: Apache-2.0
"""The NUMA cells of hosts, as an operator configures them by aggregate.

``AGGREGATE: nodes=2, cpus=44, memory_mb=184388``, with ``packing=true`` where
Nova takes the fullest node first.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kronos.common import plain_text

MOST = {'nodes': 16, 'cpus': 4096, 'memory_mb': 2**30}
"""The largest value of each field that is a number."""
FLAGS = {'true': True, 'false': False}
SHOWN_CHARACTERS = 80
"""Of a value that is wrong."""
RULE = (
    'it must be AGGREGATE: nodes=NUMBER, cpus=NUMBER, memory_mb=NUMBER, and '
    'packing=true if Nova packs'
)


@dataclass(frozen=True)
class NumaCells:
    """The NUMA nodes of each host of an aggregate."""

    nodes: int
    cpus: int
    """Of a node."""
    memory_mb: int
    """Of a node."""
    packing: bool = False
    """Whether Nova takes the fullest node first."""


def fault(lines: Iterable[str]) -> str:
    """What is wrong with the lines of the option; '' if nothing."""
    try:
        by_aggregate(lines)
    except ValueError as error:
        return str(error)
    return ''


def parsed(line: str) -> tuple[str, NumaCells]:
    """The name of an aggregate, and the cells of its hosts.

    :raises ValueError: names the line and the rule
    """
    name, _, text = line.rpartition(':')
    parts = [part.strip().partition('=') for part in text.split(',')]
    fields = {key.strip(): value.strip() for key, _, value in parts}
    packing = fields.pop('packing', 'false').lower()
    if (
        not name.strip()
        or len(fields) + ('packing' in text) != len(parts)
        or fields.keys() != MOST.keys()
        or packing not in FLAGS
    ):
        raise ValueError(f'{_shown(line)}: {RULE}')
    numbers = {key: _number(line, key, fields[key]) for key in MOST}
    return name.strip(), NumaCells(**numbers, packing=FLAGS[packing])


def _number(line: str, key: str, text: str) -> int:
    number = int(text) if re.fullmatch('[0-9]{1,12}', text) else 0
    if not 1 <= number <= MOST[key]:
        raise ValueError(
            f'{_shown(line)}: {key} must be a whole number from 1 to '
            f'{MOST[key]}'
        )
    return number


def by_aggregate(lines: Iterable[str]) -> dict[str, NumaCells]:
    """The cells by name of an aggregate.

    :raises ValueError: a line is wrong, or an aggregate has two
    """
    cells: dict[str, NumaCells] = {}
    for line in lines:
        name, of_line = parsed(line)
        if name in cells:
            raise ValueError(f'aggregate {_shown(name)} has two lines')
        cells[name] = of_line
    return cells


def _shown(text: str) -> str:
    """A value as a message shows it: it may be hostile."""
    line = plain_text.line(text[:SHOWN_CHARACTERS])
    return repr(line + ('...' if len(text) > SHOWN_CHARACTERS else ''))
