# SPDX-License-Identifier: Apache-2.0
"""The duration of a plan against the shortest possible one.

The appliers' turns carry a plan out, in the order of its timetable: of the
moves that a worker has, the first one begins that the limits allow. The lower
bound is that of the same durations: all work shared by what may run at a
time, the busiest host, the longest chain that must keep its order.

Watcher's workers take what is ready in any order. So it stands there once as
if there were a worker for each move, and once with four for each that may run
at a time, which take moves in random order.
"""

import math
import random
import statistics
from collections.abc import Callable

from kronos.engine.planning import propose
from kronos.engine.scheduling import makespan
from kronos.engine.scheduling.graph import rules, schedule
from kronos.engine.settings import Settings
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
AT_A_TIME = (2, 8, 32)
TRIALS = 20
SPREAD = 0.4
"""Of the logarithm of a move's duration, around what it is taken to last."""
GOOD = 1.15
"""Of the mean."""
FEW = 4
"""Workers for each move that may run at a time, where they are few."""

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
        'makespan / lower bound with as many moves at a time; then with '
        f'durations +-{SPREAD:.0%}, mean and worst of {TRIALS}, and the mean '
        f'where {FEW} times as many workers take moves in any order'
    )
    for name, plan in plans.items():
        for at_a_time in AT_A_TIME:
            print(_line(name, plan, at_a_time))


def _line(name: str, plan: Plan, at_a_time: int) -> str:
    steps, snapshot = plan
    before = rules(steps, [snapshot])
    order = schedule(steps, [snapshot], at_a_time).order
    place = {step: n for n, step in enumerate(order)}
    expected = [6 + 1.17 * step.memory_mb / 1024 for step in steps]

    def ratio(
        seconds: list[float],
        workers: int | None = None,
        picked: list[int] | None = None,
    ) -> float:
        took = [seconds[step] for step in order]
        begun = makespan.starts(
            [steps[step] for step in order],
            [[place[one] for one in before[step]] for step in order],
            took,
            at_a_time,
            workers,
            picked,
        )
        least = makespan.lower_bound(steps, seconds, at_a_time, before)
        return max(map(sum, zip(begun, took, strict=True))) / least

    rng = random.Random(1)
    varied = [
        [
            took * math.exp(rng.gauss(-(SPREAD**2) / 2, SPREAD))
            for took in expected
        ]
        for _ in range(TRIALS)
    ]
    found = [ratio(seconds) for seconds in varied]
    mean = statistics.mean(found)
    few = statistics.mean(
        ratio(seconds, FEW * at_a_time, rng.sample(order, len(order)))
        for seconds in varied
    )
    least = makespan.lower_bound(steps, expected, at_a_time, before)
    return (
        f'{name:20} {len(steps):4} moves, {at_a_time:2} at a time: '
        f'{least:6.0f} s {ratio(expected):5.2f}  {mean:5.2f}'
        f'{" " if mean <= GOOD else "!"}{max(found):5.2f}  {few:5.2f}'
    )


def _plan(path: str, settings: Settings, mode: Mode = Mode.SPREAD) -> Plan:
    result = cluster.read(path)
    policies = result.policies
    if mode is Mode.PACK:
        policies = [
            policy.model_copy(
                update={
                    'mode': mode,
                    'capacity_query': policy.imbalance_query,
                    'capacity_threshold': CEILINGS.get(policy.name, 0.85),
                }
            )
            for policy in policies
        ]
        for readings in result.snapshot.readings.values():
            readings.capacity = readings.imbalance
    plan = propose.plan([result.snapshot], policies, settings, AT_A_TIME[0])
    return plan.report.steps, result.snapshot


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
            instance.uuid,
            instance.uuid,
            instance.host,
            f'h{4 + n % 3}',
            instance.memory_mb,
            {},
            {},
            0.0,
            0.0,
        )
        for n, instance in enumerate(instances.values())
    ]
    hosts = {
        name: Host(name, headroom={'MEMORY_MB': Headroom(2**20, 0)})
        for name in (f'h{n}' for n in range(1, 7))
    }
    return steps, Snapshot('alpha', hosts, instances, {})
