# SPDX-License-Identifier: Apache-2.0
"""One plan of one cluster, measured in a process of its own."""

import contextlib
import functools
import statistics
import time
from collections.abc import Iterator
from typing import Any

from bench import processes, roadef
from bench.placed import Placed
from kronos.engine.planning import propose
from kronos.engine.scheduling import graph, makespan
from kronos.engine.settings import SearchName, Settings, SwapMoves, TieBreak
from kronos.engine.types import AggregateResult, MigrationStep, Snapshot
from kronos.policies.models import Mode, Policy
from kronos.recordings.formats import cluster
from kronos.snapshots import settings_from_conf
from tests.unit.engine.oracles.spread_literal import Literal

CONCURRENT = 5
"""Migrations at a time."""
USUAL = settings_from_conf.default_settings()
"""What ``[kronos]`` says by default; of it counts what every move must buy."""
CEILINGS = {'cpu': 0.85, 'ram': 0.9, 'net': 0.85}
CEILING = 0.85
REPEATS, LONG = 3, 1.0
"""A plan is made so often; one that takes so many seconds once."""
ONE_IN = 25
"""Hosts of which one is drained."""


def run(
    path: str,
    mode: str,
    by: str,
    moves: int,
    repeats: int = REPEATS,
    **more: Any,
) -> dict[str, Any]:
    """Measure in a process of its own; the arguments of :func:`measured`."""
    wanted = {'path': path, 'mode': mode, 'by': by, 'moves': moves}
    result: dict[str, Any] = processes.run(
        'bench.case', **wanted, repeats=repeats, **more
    )
    return result


def measured(
    path: str,
    mode: str,
    by: str,
    moves: int,
    repeats: int = REPEATS,
    cost_weight: float | None = None,
) -> dict[str, Any]:
    """What one way to plan takes and gives; None where it does not say so.

    :param path: of a cluster/1 file, or of a model of the challenge
    :param mode: ``spread``, ``pack``, ``drain`` or ``repair``, after which
        spread follows
    :param by: a search, or another way that the mode knows
    :param moves: the budget of spread and of repair
    :param cost_weight: the price of memory; None: the usual one
    """
    began = time.process_time()
    is_roadef = roadef.is_model(path)
    result = (roadef if is_roadef else cluster).read(path)
    row: dict[str, Any] = {
        'hosts': len(result.snapshot.hosts),
        'instances': len(result.snapshot.instances),
        'mode': mode,
        'by': by,
        'reading_seconds': time.process_time() - began,
    }
    policies, settings = _asked(result, mode, by, moves)
    settings.check_disk = is_roadef
    if is_roadef:
        settings.cost_weight = 0.0  # its resources have no unit
    if cost_weight is not None:
        settings.cost_weight = cost_weight
    if by == 'literal':
        return row | _by_the_oracle(result.snapshot, policies, settings)
    return row | _by_kronos(result.snapshot, policies, settings, repeats)


def _by_kronos(
    snapshot: Snapshot,
    policies: list[Policy],
    settings: Settings,
    repeats: int,
) -> dict[str, Any]:
    took: list[dict[str, float]] = []
    while len(took) < repeats and not (took and took[-1]['propose'] > LONG):
        took.append({})
        plan = propose.plan(
            [snapshot],
            policies,
            settings,
            CONCURRENT,
            functools.partial(_timed, took[-1]),
        )
    peak = processes.peak_mib()
    with _timed(took[-1], 'certify'):
        propose.certify(plan.report)
    [scope] = plan.report.scopes
    return {
        'seconds': statistics.median(one['propose'] for one in took),
        'schedule_seconds': statistics.median(one['schedule'] for one in took),
        'certify_seconds': took[-1]['certify'],
        'peak_mib': peak,
        **_outcome(scope, policies, snapshot),
        **_duration(scope, plan, snapshot),
    }


def _outcome(
    scope: AggregateResult, policies: list[Policy], snapshot: Snapshot
) -> dict[str, Any]:
    """What is reached, and for what."""
    placed = Placed(snapshot, policies)
    broken = placed.broken_groups
    placed.move((step.instance, step.destination) for step in scope.steps)
    return {
        'searched_by': scope.search,
        'stopped': scope.stopped.value,
        'moves': len(scope.steps),
        'before': scope.combined_before,
        'after': scope.combined_after,
        'bound': bound(scope),
        'emptied_at_most': scope.packing and scope.packing.at_most,
        'gib': placed.moved_mb / 1024,
        'hosts_in_use_before': scope.hosts_in_use_before,
        'hosts_in_use_after': scope.hosts_in_use_after,
        'drained': sum(drain.leaving for drain in scope.drains),
        'to_drain': sum(one.instances for one in scope.drains),
        'broken_before': broken,
        'broken_after': placed.broken_groups,
    }


def _duration(
    scope: AggregateResult, plan: propose.ScheduledPlan, snapshot: Snapshot
) -> dict[str, Any]:
    """How long the plan lasts, and at least must."""
    steps = [scope.steps[step] for step in plan.order]
    place = {step: index for index, step in enumerate(plan.order)}
    expected = [seconds(step) for step in steps]
    begun = makespan.starts(
        steps,
        [[place[one] for one in plan.parents[step]] for step in plan.order],
        expected,
        CONCURRENT,
    )
    pairs = zip(begun, expected, strict=True)
    return {
        'plan_seconds': max((at + took for at, took in pairs), default=0.0),
        'least_seconds': makespan.lower_bound(
            scope.steps,
            [seconds(step) for step in scope.steps],
            CONCURRENT,
            graph.rules(scope.steps, [snapshot]),
        ),
    }


def bound(scope: AggregateResult) -> float | None:
    """What no plan of as many migrations gets below; None where none spreads.

    After a repair it is that of what follows.
    """
    return scope.certificate and scope.certificate.bound


def seconds(step: MigrationStep) -> float:
    """How long a migration is taken to last, on a network of 10 Gb/s."""
    return 6 + 1.17 * step.memory_mb / 1024


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
            unlimited=True,
            search=searched(by),
            pack_partial_drains=by == 'partial',
            cost_weight=USUAL.cost_weight,
        )
        return packing(found.policies), settings
    if mode == 'drain':
        return found.policies, _drain(found, by)
    settings = spreading(by, moves)
    settings.enforce_hard_affinity = mode == 'repair'
    settings.enforce_soft_affinity = mode == 'repair'
    return found.policies, settings


def searched(by: str) -> SearchName:
    """The search of a packing or a drain."""
    return SearchName.GREEDY if by == 'greedy' else SearchName.BEST


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
        max_migrations=moves,
        search=SearchName(by),
        min_gain=USUAL.min_gain,
        cost_weight=USUAL.cost_weight,
    )


def packing(
    policies: list[Policy], ceiling: float | None = None
) -> list[Policy]:
    """The same policies in mode pack.

    :param ceiling: of each; None: those of :data:`CEILINGS`
    """
    return [
        policy.model_copy(
            update={
                'mode': Mode.PACK,
                'capacity_query': policy.imbalance_query,
                'capacity_threshold': ceiling
                or CEILINGS.get(policy.name, CEILING),
            }
        )
        for policy in policies
    ]


def _drain(found: cluster.Cluster, by: str) -> Settings:
    """One host in so many is to be empty, without a budget."""
    services = found.snapshot.services or {}
    able = [host for host in sorted(services) if services[host].is_available]
    return Settings(
        evacuate=True,
        search=searched(by),
        drain_hosts=able[::ONE_IN],
        drain_may_exceed_threshold=True,
        rebalance=False,
        unlimited=True,
        cost_weight=USUAL.cost_weight,
    )


def _by_the_oracle(
    snapshot: Snapshot, policies: list[Policy], settings: Settings
) -> dict[str, Any]:
    """The rule as it is written down, every move tried in every round."""
    literal = Literal(snapshot, policies, settings)
    placed = Placed(snapshot, policies)
    before = placed.combined
    took: dict[str, float] = {}
    with _timed(took, 'propose'):
        plan = literal.plan()
    placed.move((uuid, host) for uuid, _, host in plan.moves)
    return {
        'seconds': took['propose'],
        'peak_mib': processes.peak_mib(),
        'stopped': plan.stopped,
        'moves': len(plan.moves),
        'before': before,
        'after': placed.combined,
        'gib': placed.moved_mb / 1024,
    }


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
