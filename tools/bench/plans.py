# SPDX-License-Identifier: Apache-2.0
"""The table of plans: sizes, modes and searches, each in a process."""

import importlib.util
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from bench import case, clusters, table
from kronos.recordings.formats import cluster

MODES = {
    'spread': ('greedy', 'best', 'optimal', 'plain', 'literal'),
    'pack': ('greedy', 'best', 'partial'),
    'drain': ('greedy', 'best'),
    'repair': ('greedy', 'best', 'optimal'),
}
"""What can be asked for of each, beside the searches that are wanted."""
SEARCHES = ('greedy', 'best', 'optimal')
MOST_PAIRS = 1000
"""Instances times hosts, for which ``optimal`` is asked."""
MOVES, FEW_MOVES = 50, 10
REFERENCE = 1000
"""Hosts of the row that times are compared with, or the next smaller one."""
COLUMNS = {
    'hosts': ('hosts', ',d'),
    'instances': ('instances', ',d'),
    'mode': ('mode', 's'),
    'by': ('by', 's'),
    'moves': ('moves', ',d'),
    'before': ('before', '.4f'),
    'after': ('after', '.4f'),
    'bound': ('bound', '.4f'),
    'gib': ('GiB', ',.0f'),
    'plan_seconds': ('lasts s', ',.0f'),
    'makespan_ratio': ('/ bound', '.2f'),
    'seconds': ('CPU s', '.3f'),
    'ratio': ('ratio', '.3f'),
    'peak_mib': ('MiB', '.0f'),
    'result': ('result', 's'),
}
LEGEND = (
    'before and after: combined imbalance; bound: what no plan of as many '
    f'migrations gets below; lasts: {case.CONCURRENT} migrations at a time, '
    '/ bound: against the least that it can last; ratio: of CPU seconds, to '
    'the row marked *; MiB: peak of the process, with what it read'
)


def rows(
    folder: pathlib.Path,
    sizes: Sequence[int],
    modes: Sequence[str],
    searches: Sequence[str],
    file: str = '',
    moves: int = 0,
    repeats: int = case.REPEATS,
) -> list[dict[str, Any]]:
    """Measure all that is asked for, one after the other.

    :param folder: where made-up clusters may lie
    :param file: of format cluster/1, to be planned after the sizes
    :param moves: the budget of spread; 0: what its size is usually given
    :raises ArchiveError: the file is not of that format
    """
    if file:
        cluster.read(file)  # so that a fault is told in a sentence
    found = []
    for asked in _asked(folder, sizes, modes, searches, file, moves):
        print(f'  {asked["mode"]} {asked["by"]} ...', file=sys.stderr)
        found.append(case.run(**asked, repeats=repeats))
    compare(found)
    return found


def _asked(
    folder: pathlib.Path,
    sizes: Sequence[int],
    modes: Sequence[str],
    searches: Sequence[str],
    file: str,
    budget: int,
) -> Iterator[dict[str, Any]]:
    for hosts in sizes:
        broken = max(2, hosts // 20)
        small = hosts <= clusters.SMALL
        moves = budget or (FEW_MOVES if small else MOVES)
        for mode in modes:
            is_repair = mode == 'repair'
            path = clusters.file(
                folder, hosts=hosts, broken=broken if is_repair else 0
            )
            for by in MODES[mode]:
                if _is_meant(by, searches, hosts):
                    yield {
                        'path': path,
                        'mode': mode,
                        'by': by,
                        'moves': moves + broken if is_repair else moves,
                    }
    for mode in modes if file else ():
        for by in MODES[mode]:
            if _is_meant(by, searches, REFERENCE):
                yield {
                    'path': file,
                    'mode': mode,
                    'by': by,
                    'moves': budget or MOVES,
                }


def _is_meant(by: str, searches: Sequence[str], hosts: int) -> bool:
    if by == 'literal':
        return hosts <= clusters.SMALL
    if by == 'optimal' and (
        clusters.wanted(hosts).instances * hosts > MOST_PAIRS
        or importlib.util.find_spec('scipy') is None
    ):
        return False
    return by not in SEARCHES or by in searches


def compare(found: Sequence[dict[str, Any]]) -> None:
    """Add what is said of several figures or of several rows."""
    plain = [
        row
        for row in found
        if (row['mode'], row['by']) == ('spread', 'greedy')
    ]
    small = [row for row in plain if row['hosts'] <= REFERENCE]
    reference = max(
        small or plain or found, key=lambda row: row['hosts'], default=None
    )
    for row in found:
        row['is_reference'] = row is reference
        row['ratio'] = row['seconds'] / reference['seconds']
        row['result'] = _result(row)
        if row.get('least_seconds'):
            row['makespan_ratio'] = row['plan_seconds'] / row['least_seconds']


def _result(row: dict[str, Any]) -> str:
    """What matters in its mode, beside the imbalance."""
    said = ['*'] if row['is_reference'] else []
    if row['mode'] == 'pack':
        before, after = row['hosts_in_use_before'], row['hosts_in_use_after']
        most = row['emptied_at_most']
        said.append(
            f'{before - after} of {before} hosts emptied, at most {most}'
        )
    if row['mode'] == 'drain':
        said.append(f'{row["drained"]} of {row["to_drain"]} leave')
    if row['mode'] == 'repair':
        said.append(
            f'{row["broken_before"]} broken, then {row["broken_after"]}'
        )
    if (
        row.get('searched_by')
        and row['by'] in SEARCHES
        and (row['searched_by'] != row['by'])
    ):
        said.append(f'planned by {row["searched_by"]}')
    return ', '.join(said)


def text(found: Sequence[dict[str, Any]]) -> str:
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'
