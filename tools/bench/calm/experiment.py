# SPDX-License-Identifier: Apache-2.0
"""The table of ``--planetlab``: Kronos beside the published rules."""

import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from generator import load_format

from bench import processes, table
from bench.calm import consolidating, planetlab, published
from bench.calm.planetlab import DataCenter, Floats, PlanetlabError, Planner
from kronos.engine.settings import PlanMode
from kronos.simulate.accounting import Figures

REFERENCE = {
    'DVFS': (764.96, 0),
    'THR-MMT-0.8': (198.08, 27728),
    'LR-MMT-1.2': (167.83, 27649),
}
"""kWh and migrations of CloudSim 3.0.3, which was run on the day below, with
its files in the order in which DVFS takes just as much."""
REFERENCE_DAY = '20110303'
TOLERANCE = 0.03
EXACT = 0.005
SUBSETS, PARTS, BALANCED_HOSTS = 3, 5, 20
"""Of spread: of the servers every fifth, on fewer hosts, from the first, the
second and the third on."""
COLUMNS = {
    'day': ('day', 's'),
    'by': ('by', 's'),
    'kwh': ('kWh', ',.2f'),
    'moves': ('moves', ',.0f'),
    'most_moves': ('most', ',.0f'),
    'returns': ('back', ',.0f'),
    'slatah': ('SLATAH', '.2%'),
    'pdm': ('PDM', '.4%'),
    'hot_hours': ('>.9 h', ',.1f'),
    'full_hours': ('>1 h', ',.1f'),
    'not_given': ('not given', '.3%'),
    'hosts_in_use': ('hosts', '.0f'),
    'spread': ('imbalance', '.3f'),
    'plan_seconds': ('plan s', '.3f'),
    'longest_plan': ('longest', '.2f'),
    'result': ('CloudSim', 's'),
}
LEGEND = (
    'most: moves of one server; back: to a host left within a day; h: hours '
    'of hosts whose servers ask for more than .9 or all of them; not given: '
    'of the CPU asked for; plan s: of the processor. The rows of spread are '
    f'means of {SUBSETS} subsets of the servers on {BALANCED_HOSTS} hosts, '
    'for a whole day'
)


def _kronos(center: DataCenter) -> Planner:
    policy = load_format.sample(PlanMode.PACK)
    return consolidating.Kronos(center, policy)


RULES: dict[str, Callable[[DataCenter], Planner | None]] = {
    'DVFS': lambda _: None,
    'THR-MMT-0.8': lambda _: published.Consolidation(published.Threshold(0.8)),
    'LR-MMT-1.2': lambda _: published.Consolidation(published.Line(1.2)),
    'kronos_pack': _kronos,
}


def _spread(center: DataCenter) -> Planner:
    policy = load_format.sample()
    return consolidating.Kronos(center, policy, PlanMode.SPREAD)


BALANCING: dict[str, Callable[[DataCenter], Planner | None]] = {
    'nothing, balanced': lambda _: None,
    'kronos_spread': _spread,
}


def rows(path: str) -> list[dict[str, Any]]:
    """Each day with each rule, in processes of their own.

    :raises PlanetlabError: there is no day, or one cannot be read
    """
    rows = []
    for day in days(path):
        planetlab.read(day)  # so that a fault is told in a sentence
        for by in (*RULES, *BALANCING):
            print(f'  {day.name} {by} ...', file=sys.stderr)
            rows.append(
                processes.run('bench.calm.experiment', path=str(day), by=by)
            )
    return rows


def days(path: str) -> list[pathlib.Path]:
    """The folders of days: this one, or those in it."""
    folder = pathlib.Path(path)
    if not folder.is_dir():
        raise PlanetlabError(f'{path}: there is no such folder')
    inner = sorted(one for one in folder.iterdir() if one.is_dir())
    return inner or [folder]


def measured(path: str, by: str) -> dict[str, Any]:
    """What a rule makes of a day."""
    load = planetlab.read(pathlib.Path(path), by_name=by in BALANCING)
    row: dict[str, Any] = {'day': pathlib.Path(path).name, 'by': by}
    if by in RULES:
        center = DataCenter(load)
        center.place(saves_power=by != 'DVFS')
        row |= _run(center, RULES[by](center))
        row['result'] = _compared(row)
        return row
    parts = [_balanced(load, first, by) for first in range(SUBSETS)]
    return row | {
        key: sum(part[key] for part in parts) / len(parts) for key in parts[0]
    }


def _balanced(load: Floats, first: int, by: str) -> dict[str, float]:
    center = planetlab.Balanced(load[first::PARTS], BALANCED_HOSTS)
    return _run(center, BALANCING[by](center))


def _run(center: DataCenter, planner: Planner | None) -> dict[str, float]:
    began = time.process_time()
    figures: Figures = center.run(planner)
    row = {
        key: getattr(figures, key) for key in COLUMNS if hasattr(figures, key)
    }
    row['seconds'] = time.process_time() - began
    if isinstance(planner, consolidating.Kronos):
        counts = planner.auditor.counts
        row['plan_seconds'] = counts.seconds / max(1, counts.plans)
        row['longest_plan'] = counts.longest
    return row


def _compared(row: dict[str, Any]) -> str:
    """With CloudSim, where it was run."""
    if row['day'] != REFERENCE_DAY or row['by'] not in REFERENCE:
        return ''
    kwh, moves = REFERENCE[row['by']]
    text = f'{kwh:.2f} kWh ({row["kwh"] / kwh - 1:+.1%})'
    if moves:
        text += f', {moves:,} moves ({row["moves"] / moves - 1:+.1%})'
    return text


def is_met(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether the rules do what they do in CloudSim."""
    for row in rows:
        if row['day'] != REFERENCE_DAY or row['by'] not in REFERENCE:
            continue
        kwh, moves = REFERENCE[row['by']]
        if not moves:
            met = abs(row['kwh'] - kwh) <= EXACT
        else:
            met = (
                abs(row['kwh'] / kwh - 1) <= TOLERANCE
                and abs(row['moves'] / moves - 1) <= TOLERANCE
            )
        if not met:
            return False
    return True


def text(rows: Sequence[dict[str, Any]]) -> str:
    return f'{table.text(COLUMNS, rows)}\n{LEGEND}'


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
