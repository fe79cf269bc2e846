# SPDX-License-Identifier: Apache-2.0
"""One plan of one cluster, measured in a process of its own."""

import contextlib
import functools
import statistics
import time
from collections.abc import Iterator
from typing import Any

from bench import processes
from bench.placed import Placed
from kronos.engine.planning import propose
from kronos.engine.scheduling import graph, makespan
from kronos.engine.settings import SearchName, Settings, SwapMoves, TieBreak
from kronos.engine.types import AggregateResult, MigrationStep
from kronos.policies.models import Mode, Policy
from kronos.recordings.formats import cluster
from tests.unit.engine.oracles.spread_literal import Literal

CONCURRENT = 5
"""Migrations at a time."""
MIN_GAIN = 0.0005
"""What ``[kronos]`` says, as the searches are what it may say."""
CEILINGS = {'cpu': 0.85, 'ram': 0.9, 'net': 0.85}
CEILING = 0.85
REPEATS, LONG = 3, 1.0
"""A plan is made so often; one that takes so many seconds once."""
ONE_IN = 25
"""Hosts of which one is drained."""


def run(
    path: str, mode: str, by: str, moves: int, repeats: int = REPEATS
) -> dict[str, Any]:
    """Measure in a process of its own; the arguments of :func:`measured`."""
    found: dict[str, Any] = processes.run(
        'bench.case', path=path, mode=mode, by=by, moves=moves, repeats=repeats
    )
    return found


def measured(
    path: str, mode: str, by: str, moves: int, repeats: int = REPEATS
) -> dict[str, Any]:
    """What one way to plan takes and gives; None where it does not say so.

    :param path: of a cluster/1 file
    :param mode: ``spread``, ``pack``, ``drain`` or ``repair``, after which
        spread follows
    :param by: a search, or another way that the mode knows
    :param moves: the budget of spread and of repair
    """
    began = time.process_time()
    found = cluster.read(path)
    reading = time.process_time() - began
    policies, settings = _asked(found, mode, by, moves)
    begins = Placed(found.snapshot, policies)
    row: dict[str, Any] = {
        'hosts': len(found.snapshot.hosts),
        'instances': len(found.snapshot.instances),
        'mode': mode,
        'by': by,
        'reading_seconds': reading,
    }
    if by == 'literal':
        row |= _by_the_oracle(found, policies, settings)
        return row
    took: list[dict[str, float]] = []
    while len(took) < repeats:
        took.append({})
        plan = propose.plan(
            [found.snapshot],
            policies,
            settings,
            CONCURRENT,
            functools.partial(_timed, took[-1]),
        )
        if took[-1]['propose'] > LONG:
            break
    peak = processes.peak_mib()
    [scope] = plan.report.scopes
    expected = [seconds(step) for step in scope.steps]
    before = graph.rules(scope.steps, [found.snapshot])
    return row | {
        'searched_by': scope.search,
        'stopped': scope.stopped.value,
        'moves': len(scope.steps),
        'before': scope.combined_before,
        'after': scope.combined_after,
        'bound': bound(scope),
        'gib': sum(step.memory_mb for step in scope.steps) / 1024,
        'plan_seconds': _makespan(plan.parents, expected),
        'least_seconds': makespan.lower_bound(
            scope.steps, expected, CONCURRENT, before
        ),
        'seconds': statistics.median(one['propose'] for one in took),
        'schedule_seconds': statistics.median(one['schedule'] for one in took),
        'peak_mib': peak,
        'hosts_in_use_before': scope.hosts_in_use_before,
        'hosts_in_use_after': scope.hosts_in_use_after,
        'drained': sum(one.leaving for one in scope.drains),
        'to_drain': sum(one.instances for one in scope.drains),
        'broken_before': begins.broken_groups,
        'broken_after': begins.move(
            (step.instance, step.destination) for step in scope.steps
        ).broken_groups,
    }


def bound(scope: AggregateResult) -> float | None:
    """What no plan of as many migrations can get below.

    None as long as a plan does not say so: its column is left out then.
    """
    return None


def seconds(step: MigrationStep) -> float:
    """How long a migration is taken to last, on a network of 10 Gb/s."""
    return 6 + 1.17 * step.memory_mb / 1024


def _makespan(parents: list[list[int]], expected: list[float]) -> float:
    begun = makespan.starts(parents, expected, CONCURRENT)
    pairs = zip(begun, expected, strict=True)
    return max((start + took for start, took in pairs), default=0.0)


@contextlib.contextmanager
def _timed(took: dict[str, float], part: str) -> Iterator[None]:
    """By the time of the processor: others may want it, too."""
    began = time.process_time()
    yield
    took[part] = time.process_time() - began


def _asked(
    found: cluster.Cluster, mode: str, by: str, moves: int
) -> tuple[list[Policy], Settings]:
    if mode == 'pack':
        # The capacity readings are the scores.
        for readings in found.snapshot.readings.values():
            readings.capacity = readings.imbalance
        settings = Settings(
            unlimited=True, pack_partial_drains=by == 'partial'
        )
        return packing(found.policies), settings
    if mode == 'drain':
        return found.policies, _drain(found)
    settings = spreading(by, moves)
    settings.enforce_hard_affinity = mode == 'repair'
    settings.enforce_soft_affinity = mode == 'repair'
    return found.policies, settings


def spreading(by: str, moves: int) -> Settings:
    """The settings of a search, or of the plain rule."""
    if by in ('plain', 'literal'):
        return Settings(
            max_migrations=moves,
            plateau_moves=False,
            swap_moves=SwapMoves.NONE,
            tie_break=TieBreak.FIRST,
            repeat_moves=True,
        )
    return Settings(
        max_migrations=moves, search=SearchName(by), min_gain=MIN_GAIN
    )


def packing(
    policies: list[Policy], ceiling: float | None = None
) -> list[Policy]:
    """The same policies in mode pack.

    :param ceiling: of each; None: those of :data:`CEILINGS`
    """
    return [
        one.model_copy(
            update={
                'mode': Mode.PACK,
                'capacity_query': one.imbalance_query,
                'capacity_threshold': ceiling
                or CEILINGS.get(one.name, CEILING),
            }
        )
        for one in policies
    ]


def _drain(found: cluster.Cluster) -> Settings:
    """One host in so many is to be empty, without a budget."""
    services = found.snapshot.services or {}
    able = [host for host in sorted(services) if services[host].is_available]
    return Settings(
        evacuate=True,
        drain_hosts=able[::ONE_IN],
        drain_may_exceed_threshold=True,
        rebalance=False,
        unlimited=True,
    )


def _by_the_oracle(
    found: cluster.Cluster, policies: list[Policy], settings: Settings
) -> dict[str, Any]:
    """The rule as it is written down, every move tried in every round."""
    begins = Placed(found.snapshot, policies)
    before = begins.combined
    literal = Literal(found.snapshot, policies, settings)
    took: dict[str, float] = {}
    with _timed(took, 'propose'):
        plan = literal.plan()
    begins.move((uuid, host) for uuid, _, host in plan.moves)
    return {
        'stopped': plan.stopped,
        'moves': len(plan.moves),
        'before': before,
        'after': begins.combined,
        'gib': begins.moved_mb / 1024,
        'seconds': took['propose'],
        'peak_mib': processes.peak_mib(),
    }


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
