# SPDX-License-Identifier: Apache-2.0
"""Small scopes in which moving one by one is apt to stall.

A solver says which of them can be brought within all thresholds, and by how
few migrations; in which order these may be made it does not ask.
"""

import importlib.util
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from bench import case, processes, table
from kronos.engine.planning import propose
from kronos.engine.settings import VetoReference
from kronos.engine.types import StopReason
from tests.builders import stalls
from tests.unit.engine.oracles import fewest

EACH = 15
"""Scopes of each kind."""
MOVES = 20
SECONDS = 20.0
"""That the solver may take for a scope."""
SEARCHES = ('greedy', 'best')
COLUMNS = {
    'kind': ('kind', 's'),
    'reference': ('veto_reference', 's'),
    'scopes': ('scopes', 'd'),
    'within': ('can be', 'd'),
    'proven': ('proven', 'd'),
    'greedy': ('greedy', 'd'),
    'best': ('best', 'd'),
    'share': ('of them', '.0%'),
    'ratio': ('migrations', '.3f'),
    'bound_ratio': ('at most', '.3f'),
    'seconds': ('CPU s', '.2f'),
}
MISSED = {
    'kind': ('best misses', 's'),
    'seed': ('number', 'd'),
    'reference': ('veto_reference', 's'),
    'at_least': ('needs', 'd'),
    'fewest': ('to', 'd'),
    'best_moves': ('best plans', 'd'),
    'best_stopped': ('and ends', 's'),
}
LEGEND = (
    'can be: brought within all thresholds by at most '
    f'{MOVES} migrations, as a solver found in {SECONDS:.0f} s; proven: of '
    'those, where it had the time to show that fewer do not suffice; greedy, '
    'best: brought there by these; migrations: of best, in ratio to the '
    'fewest that the solver found, on average; at most: in ratio to what it '
    'has shown to be needed; CPU s: the most that best took'
)


class StallsError(Exception):
    """The solver is not there."""


def rows(each: int = EACH) -> list[dict[str, Any]]:
    """Every scope with both references of the veto.

    :param each: scopes of each kind
    :raises StallsError: scipy is not installed
    """
    if importlib.util.find_spec('scipy') is None:
        raise StallsError('scipy is not installed: it tells what can be')
    found: list[dict[str, Any]] = []
    for kind in stalls.KINDS:
        for seed in range(each):
            print(f'  {kind} {seed} ...', file=sys.stderr)
            found += processes.run('bench.stalls', kind=kind, seed=seed)
    return found


def measured(kind: str, seed: int) -> list[dict[str, Any]]:
    """One scope, a row for each reference."""
    stall = stalls.draw(kind, seed)
    least = fewest.fewest(stall, MOVES, SECONDS)
    return [
        {
            'kind': kind,
            'seed': seed,
            'hosts': len(stall.hosts),
            'instances': len(stall.vms),
            'reference': reference.value,
            'fewest': least.migrations,
            'at_least': least.at_least,
            'is_proven': least.is_proven,
            **_planned(stall, reference),
        }
        for reference in VetoReference
    ]


def _planned(stall: stalls.Stall, reference: VetoReference) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for by in SEARCHES:
        settings = case.spreading(by, MOVES)
        settings.veto_reference = reference
        began = time.process_time()
        report = propose.propose([stall.snapshot], stall.policies, settings)
        row[f'{by}_seconds'] = time.process_time() - began
        [scope] = report.scopes
        row[f'{by}_stopped'] = scope.stopped.value
        row[f'{by}_moves'] = len(scope.steps)
    return row


def is_within(row: dict[str, Any], by: str) -> bool:
    """Whether a search brought a scope within all thresholds."""
    return bool(row[f'{by}_stopped'] == StopReason.BALANCED.value)


def summary(found: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """By reference: each kind, then all."""
    for reference in VetoReference:
        its = [row for row in found if row['reference'] == reference.value]
        for kind in stalls.KINDS:
            if some := [row for row in its if row['kind'] == kind]:
                yield _summed(kind, reference.value, some)
        if its:
            yield _summed('all', reference.value, its)


def _summed(
    kind: str, reference: str, its: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    can_be = [row for row in its if row['fewest'] is not None]
    best = [row for row in can_be if is_within(row, 'best')]
    return {
        'kind': kind,
        'reference': reference,
        'scopes': len(its),
        'within': len(can_be),
        'proven': sum(row['is_proven'] for row in can_be),
        'greedy': sum(is_within(row, 'greedy') for row in can_be),
        'best': len(best),
        'share': len(best) / len(can_be) if can_be else None,
        'ratio': _ratio(best, 'fewest'),
        'bound_ratio': _ratio(best, 'at_least'),
        'seconds': max(row['best_seconds'] for row in its),
    }


def _ratio(its: Sequence[dict[str, Any]], to: str) -> float | None:
    ratios = [row['best_moves'] / row[to] for row in its if row[to]]
    return statistics.mean(ratios) if ratios else None


def text(found: Sequence[dict[str, Any]]) -> str:
    missed = [
        row
        for row in found
        if row['fewest'] is not None and not is_within(row, 'best')
    ]
    parts = [table.text(COLUMNS, list(summary(found)))]
    parts += ['', table.text(MISSED, missed)] if missed else []
    return '\n'.join([*parts, LEGEND])


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
