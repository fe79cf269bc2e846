# SPDX-License-Identifier: Apache-2.0
"""The cost of memory in balance: the best search at several prices of it.

``cost_weight`` alone differs from row to row; all else is as ``[kronos]`` has
it by default.
"""

import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from bench import case, clusters, plans, table
from kronos.recordings.formats import cluster

WEIGHTS = (
    *(0.0, 0.001, 0.002, 0.004, 0.006, 0.008, 0.009, 0.01),
    *(0.011, 0.012, 0.013, 0.014, 0.015, 0.016, 0.02),
)
SAME = 1e-9
COLUMNS = {
    'hosts': ('hosts', ',d'),
    'instances': ('instances', ',d'),
    'by': ('by', 's'),
    'cost_weight': ('cost_weight', '.3f'),
    'moves': ('moves', ',d'),
    'before': ('before', '.4f'),
    'after': ('after', '.4f'),
    'gib': ('GiB', ',.0f'),
    'gib_ratio': ('of plain', '.0%'),
    'seconds': ('CPU s', '.3f'),
    'result': ('result', 's'),
}
LEGEND = (
    'before and after: combined imbalance; result: * of those as low as plain '
    'or lower the one that copies least'
)


def rows(
    folder: pathlib.Path, file: str = '', moves: int = 0
) -> list[dict[str, Any]]:
    """The plain rule, and the best search at each price.

    :param folder: where the made-up cluster may lie
    :param file: of format cluster/1, to be planned instead of that
    :raises ArchiveError: the file is not of that format
    """
    if file:
        cluster.read(file)  # so that a fault is told in a sentence
    path = file or clusters.file(folder, hosts=plans.REFERENCE)
    asked = [('plain', None), *(('best', weight) for weight in WEIGHTS)]
    found = []
    for by, weight in asked:
        print(f'  {by} {weight or ""} ...', file=sys.stderr)
        row = case.run(
            path, 'spread', by, moves or plans.MOVES, 1, cost_weight=weight
        )
        found.append(row | {'cost_weight': weight})
    compare(found)
    return found


def compare(found: Sequence[dict[str, Any]]) -> None:
    """Add what is said in comparison with the plain rule, the first row."""
    plain, *others = found
    as_low = [row for row in others if row['after'] <= plain['after'] + SAME]
    least = min(as_low, key=lambda row: row['gib'], default=None)
    for row in found:
        row['result'] = '*' if row is least else ''
        if plain['gib']:
            row['gib_ratio'] = row['gib'] / plain['gib']


def text(found: Sequence[dict[str, Any]]) -> str:
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'
