# SPDX-License-Identifier: Apache-2.0
"""How much longer does a plan take than it must?

A plan's graph is carried out by so many workers as moves are allowed at a
time. The lower bound is that of the same durations: all work shared by the
workers, the busiest host, the longest chain that must keep its order.

Beside the graph stands what the turns of the appliers make of the plan's
rules alone: once if the turn goes to whom the timetable has first, once if
it goes to anyone, as it does among workers that ask when they please.
"""

import heapq
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Sequence

from kronos.engine.planning import propose
from kronos.engine.scheduling import makespan
from kronos.engine.scheduling.graph import rules, schedule
from kronos.engine.settings import INTO_HOST, OUT_OF_HOST, Settings
from kronos.engine.types import (
    Headroom,
    Host,
    Instance,
    MigrationPhase,
    MigrationStep,
    Snapshot,
)
from kronos.policies.models import Mode
from kronos.recordings.formats import cluster

CEILINGS = {'cpu': 0.85, 'ram': 0.9, 'net': 0.85}
WORKERS = (2, 8, 32)
TRIALS = 20
SPREAD = 0.4
"""Of the logarithm of a move's duration, around what it is taken to last."""
GOOD = 1.1

Plan = tuple[list[MigrationStep], Snapshot]


def report(file: Callable[[int], str]) -> None:
    """Print the ratios of all plans.

    :param file: gives a cluster/1 file of so many hosts
    """
    large, medium = file(1000), file(100)
    plans: dict[str, Plan] = {
        'spread, 100 hosts': _spread(medium, 50),
        'spread, 1,000 hosts': _spread(large, 200),
        'pack, 100 hosts': _pack(medium, 100),
        'drain 3 of 100 hosts': _drain(medium, 3),
        'drain 3 of 6 hosts': _six(),
    }
    print(
        'makespan / lower bound, one worker per move allowed at a time; '
        f'then with durations +-{SPREAD:.0%}, mean and worst of {TRIALS}; '
        'then the mean if the workers alone keep the number; then the means '
        'of turns by the rules alone, in the order of the timetable and in any'
    )
    for name, plan in plans.items():
        for workers in WORKERS:
            print(_line(name, plan, workers))


def _line(name: str, plan: Plan, workers: int) -> str:
    steps, snapshot = plan
    before = rules(steps, [snapshot])
    graph = schedule(steps, [snapshot], workers)
    free = schedule(steps, [snapshot], len(steps))
    expected = [6 + 1.17 * step.memory_mb / 1024 for step in steps]

    def ratio(parents: list[list[int]], seconds: list[float]) -> float:
        begun = makespan.starts(parents, seconds, workers)
        pairs = zip(begun, seconds, strict=True)
        least = makespan.lower_bound(steps, seconds, workers, before)
        return max(start + took for start, took in pairs) / least

    rng = random.Random(1)
    varied = [
        [
            took * math.exp(rng.gauss(-(SPREAD**2) / 2, SPREAD))
            for took in expected
        ]
        for _ in range(TRIALS)
    ]
    begun = makespan.starts(graph, expected)
    order = sorted(range(len(steps)), key=lambda step: (begun[step], step))
    shuffled = [rng.sample(order, len(order)) for _ in varied]

    def turns(orders: list[list[int]]) -> float:
        return statistics.mean(
            by_turns(steps, before, seconds, one, workers)
            / makespan.lower_bound(steps, seconds, workers, before)
            for seconds, one in zip(varied, orders, strict=True)
        )

    even = ratio(graph, expected)
    found = [ratio(graph, seconds) for seconds in varied]
    freely = statistics.mean(ratio(free, seconds) for seconds in varied)
    least = makespan.lower_bound(steps, expected, workers, before)
    return (
        f'{name:20} {len(steps):4} moves, {workers:2} at a time: {least:6.0f} '
        f's {even:5.2f}{" " if even <= GOOD else "!"}  '
        f'{statistics.mean(found):5.2f} {max(found):5.2f}  {freely:5.2f}  '
        f'{turns([order] * TRIALS):5.2f} {turns(shuffled):5.2f}'
    )


def by_turns(
    steps: Sequence[makespan.Trip],
    before: list[set[int]],
    seconds: list[float],
    order: list[int],
    workers: int,
) -> float:
    """How long it takes if only the rules and the limits hold steps up.

    A worker takes the next step whose rules allow it, and keeps it until the
    hosts can have it.

    :param order: who comes first of those that can begin
    """
    missing = [len(earlier) for earlier in before]
    left, held = list(order), list[int]()
    running: list[tuple[float, int]] = []
    out, into = Counter[str](), Counter[str]()
    now = 0.0
    while left or held or running:
        able = [step for step in left if not missing[step]]
        taken = able[: workers - len(running) - len(held)]
        left = [step for step in left if step not in taken]
        held += taken
        for step in sorted(held, key=order.index):
            trip = steps[step]
            if out[trip.source] < OUT_OF_HOST and (
                into[trip.destination] < INTO_HOST
            ):
                held.remove(step)
                out[trip.source] += 1
                into[trip.destination] += 1
                heapq.heappush(running, (now + seconds[step], step))
        now, ended = heapq.heappop(running)
        out[steps[ended].source] -= 1
        into[steps[ended].destination] -= 1
        for step, earlier in enumerate(before):
            missing[step] -= ended in earlier
    return now


def _plan(path: str, settings: Settings, mode: Mode = Mode.SPREAD) -> Plan:
    found = cluster.read(path)
    policies = found.policies
    if mode is Mode.PACK:
        policies = [
            one.model_copy(
                update={
                    'mode': mode,
                    'capacity_query': one.imbalance_query,
                    'capacity_threshold': CEILINGS.get(one.name, 0.85),
                }
            )
            for one in policies
        ]
        for readings in found.snapshot.readings.values():
            readings.capacity = readings.imbalance
    plan = propose.plan([found.snapshot], policies, settings, WORKERS[0])
    return plan.report.steps, found.snapshot


def _spread(path: str, moves: int) -> Plan:
    return _plan(path, Settings(max_migrations=moves))


def _pack(path: str, moves: int) -> Plan:
    return _plan(path, Settings(max_migrations=moves), Mode.PACK)


def _drain(path: str, hosts: int) -> Plan:
    services = cluster.read(path).snapshot.services or {}
    able = [host for host in sorted(services) if services[host].is_available]
    settings = Settings(
        evacuate=True,
        drain_hosts=able[:hosts],
        drain_may_exceed_threshold=True,
        rebalance=False,
        unlimited=True,
    )
    return _plan(path, settings)


def _six() -> Plan:
    """Sixty moves from three uneven hosts to three others, as in the lab."""
    rng = random.Random(1)
    sources = {'h1': 24, 'h2': 20, 'h3': 16}
    names = [host for host, number in sources.items() for _ in range(number)]
    instances = {
        f'v{n}': Instance(
            f'v{n}', host, memory_mb=rng.choice([2, 4, 8, 16]) * 1024
        )
        for n, host in enumerate(names)
    }
    steps = [
        MigrationStep(
            'alpha',
            MigrationPhase.EVACUATE,
            one.uuid,
            one.uuid,
            one.host,
            f'h{4 + n % 3}',
            one.memory_mb,
            {},
            {},
            0.0,
            0.0,
        )
        for n, one in enumerate(instances.values())
    ]
    hosts = {
        name: Host(name, headroom={'MEMORY_MB': Headroom(2**20, 0)})
        for name in (f'h{n}' for n in range(1, 7))
    }
    return steps, Snapshot('alpha', hosts, instances, {})
