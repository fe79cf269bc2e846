# SPDX-License-Identifier: Apache-2.0
"""A public benchmark: the machines of the ROADEF/EURO challenge 2012."""

import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from bench import case, roadef, table

MOVES = 50
BY = ('plain', 'greedy', 'best')
COLUMNS = {
    'name': ('instance', 's'),
    'hosts': ('machines', ',d'),
    'instances': ('processes', ',d'),
    'before': ('before', '.4f'),
    **{
        key: column
        for by in BY
        for key, column in {
            by: (by, '.4f'),
            f'{by}_moves': ('moves', 'd'),
            f'{by}_seconds': ('CPU s', '.3f'),
        }.items()
    },
}
LEGEND = (
    f'combined imbalance after at most {MOVES} migrations, the first three '
    'resources being the policies'
)


def rows(path: str) -> list[dict[str, Any]]:
    """Each model with each search.

    :raises roadef.RoadefError: there is none, or one cannot be read
    """
    found = []
    for model in roadef.models(path):
        roadef.read(model)  # so that a fault is told in a sentence
        name = pathlib.Path(model).stem.removeprefix(roadef.PREFIX)
        row: dict[str, Any] = {'name': name}
        for by in BY:
            print(f'  {name} {by} ...', file=sys.stderr)
            one = case.run(model, 'spread', by, MOVES)
            for key in ('hosts', 'instances', 'before'):
                row[key] = one[key]
            row[by] = one['after']
            row[f'{by}_moves'] = one['moves']
            row[f'{by}_seconds'] = one['seconds']
        found.append(row)
    return found


def text(found: Sequence[dict[str, Any]]) -> str:
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'
