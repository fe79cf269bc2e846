# SPDX-License-Identifier: Apache-2.0
"""A public benchmark: slots for large servers on ByteDance's clusters."""

import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

from bench import table
from bench.fragments import judge, planning, snapshots
from kronos.extensions.room.planning import highs

MOVES = (10, 25, 50, 100)
COLUMNS = {
    'name': ('cluster', 's'),
    'sets': ('sets', ',d'),
    'allowed': ('at most', 'd'),
    'before': ('slots', ',d'),
    'gain': ('more', 'd'),
    'bound': ('bound', 'd'),
    'share': ('share', '.0%'),
    'moves': ('moves', 'd'),
    'rate': ('FR', '.4f'),
    'seconds': ('CPU s', '.2f'),
}
LEGEND = (
    'slots are servers of 16 vCPUs on one NUMA node; every move was carried '
    'out by a judge of its own; no plan gains more slots than the bound'
)


def rows(path: str) -> list[dict[str, Any]]:
    """Each cluster with each number of migrations.

    :raises snapshots.FragmentsError: scipy is not installed, or a cluster
        cannot be read
    """
    if highs.solver() is None:
        raise snapshots.FragmentsError(
            'scipy is not installed (the extra "optimal"): it proves the plans'
        )
    figures = []
    for file in snapshots.paths(path):
        snapshot = snapshots.read(file)
        for with_sets in sorted({False, bool(snapshot.apart)}):
            for moves in MOVES:
                name = pathlib.Path(file).name
                print(f'  {name} {moves} ...', file=sys.stderr)
                figures.append(row(snapshot, with_sets, moves))
    return figures


def row(
    snapshot: snapshots.Snapshot, with_sets: bool, moves: int
) -> dict[str, Any]:
    """A plan, carried out.

    :raises judge.IllegalMoveError: a move of it could not be made
    """
    began = time.process_time()
    counts = planning.cluster(snapshot, with_sets)
    plan = planning.plan(counts, moves)
    seconds = time.process_time() - began
    rules = snapshot if with_sets else snapshots.without_sets(snapshot)
    verdict = judge.carry_out(rules, planning.steps(counts, plan.moves))
    bound = plan.most - verdict.before
    gain = verdict.after - verdict.before
    return {
        'name': snapshot.name,
        'sets': len(rules.apart),
        'allowed': moves,
        'before': verdict.before,
        'gain': gain,
        'bound': bound,
        'share': gain / bound if bound else None,
        'moves': len(plan.moves),
        'rate': verdict.rate,
        'seconds': seconds,
    }


def text(figures: Sequence[dict[str, Any]]) -> str:
    return f'{table.text(COLUMNS, figures)}\n{LEGEND}'
