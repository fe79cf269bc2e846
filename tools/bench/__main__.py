# SPDX-License-Identifier: Apache-2.0
"""How long do a plan, a weighing and events take, and against what?

Ratios of one run on one core compare across machines; the times and the
peak memory say what this machine does. Run it as ``python tools/bench``.
"""

import argparse
import functools
import os
import pathlib
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP), str(TOP / 'tools'), str(TOP / 'tools' / 'bench')]

import grouping  # noqa: E402
import makespan  # noqa: E402
import monitoring  # noqa: E402
import offline  # noqa: E402
import recording  # noqa: E402
import weighing  # noqa: E402
from generator import cluster_format, making  # noqa: E402
from generator.wanted import Wanted  # noqa: E402

from kronos.common import timing  # noqa: E402
from kronos.engine.planning import propose  # noqa: E402
from kronos.engine.settings import Settings, SwapMoves, TieBreak  # noqa: E402
from kronos.engine.types import AggregateResult, Snapshot  # noqa: E402
from kronos.policies.models import Mode, Policy  # noqa: E402
from kronos.recordings.formats import cluster  # noqa: E402
from tests.unit.engine.oracles.spread_literal import Literal  # noqa: E402

TARGET_SECONDS = 1.0
TARGET_MIB = 1024
MIGRATIONS = 50
REPEATS = 5
DRAINED = 40
CONCURRENT = 5
CEILINGS = {'cpu': 0.85, 'ram': 0.9, 'net': 0.85}


def main() -> int:
    parsed = _arguments()
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as folder:
        large = parsed.file or _file(folder, 1000)
        plan, replay = _plan(large)
        # Before the rest is measured: the peak never falls.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        small, _ = _plan(_file(folder, 100))
        whole, partial = _pack(large, False), _pack(large, True)
        drain, laid_out = _drain(large)
        literal, pruned = _against_the_literal_rule(_file(folder, 10))
        repair = grouping.report(large)
        makespan.report(lambda hosts: _file(folder, hosts))
    weighing.report()
    is_fast = recording.report()
    is_prompt = offline.report()
    is_whole = monitoring.report()
    print(f'peak memory             {peak:8.0f} MiB ({start:.0f} at start)')
    print(f'large / 100 hosts       {plan / small:8.1f} x the time')
    print(f'reading + plan / plan   {replay / plan:8.1f} x')
    print(f'pack, unlimited / plan  {whole / plan:8.1f} x')
    print(f'pack, partial / whole   {partial / whole:8.1f} x')
    print(f'drain, unlimited / plan {drain / plan:8.1f} x')
    print(f'drain / its schedule    {drain / laid_out:8.1f} x')
    print(f'repair of 1000 / plan   {repair / plan:8.1f} x')
    print(f'literal / pruned search {literal / pruned:8.1f} x (10 hosts)')
    is_planned = plan <= TARGET_SECONDS and peak <= TARGET_MIB
    met = is_planned and is_fast and is_prompt and is_whole
    print(
        f'target: {MIGRATIONS} migrations in {TARGET_SECONDS:g} s and '
        f'{TARGET_MIB} MiB, a recording in {recording.TARGET_SECONDS:g} s, '
        f'its page and an answer in {offline.TARGET_SECONDS:g} s, '
        f'{monitoring.RATE:,} events/s without loss in '
        f'{monitoring.TARGET_MIB} MiB: {"met" if met else "missed"}'
    )
    return 1 if parsed.check and not met else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='tools/bench')
    parser.add_argument(
        'file',
        nargs='?',
        help='a cluster/1 file instead of 1,000 generated hosts',
    )
    parser.add_argument(
        '--check', action='store_true', help='exit 1 if the target is missed'
    )
    return parser.parse_args()


def _file(folder: str, hosts: int) -> str:
    path = pathlib.Path(folder) / f'{hosts}.json'
    if not path.exists():
        cluster_format.write(str(path), making.make(Wanted(hosts)))
    return str(path)


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _plan(path: str) -> tuple[float, float]:
    """Seconds of scoring to plan, and of those with reading the file."""
    reading = _timed(lambda: cluster.read(path))
    found = cluster.read(path)
    settings = Settings(max_migrations=MIGRATIONS)
    times = []
    for _ in range(REPEATS):
        scope, took = _planned(found.snapshot, found.policies, settings)
        times.append(took['propose'])
    seconds = statistics.median(times)
    print(
        f'{len(found.snapshot.hosts)} hosts, '
        f'{len(found.snapshot.instances)} instances, '
        f'{len(found.policies)} policies: {len(scope.steps)} migrations, '
        f'combined {scope.combined_before:.3f} -> {scope.combined_after:.3f}, '
        f'{seconds:.3f} s ({min(times):.3f} to {max(times):.3f})'
    )
    return seconds, reading + seconds


def _planned(
    snapshot: Snapshot, policies: Sequence[Policy], settings: Settings
) -> tuple[AggregateResult, dict[str, float]]:
    """The plan of one scope, and the seconds that each part took."""
    took: dict[str, float] = {}
    found = propose.plan(
        [snapshot],
        policies,
        settings,
        CONCURRENT,
        functools.partial(timing.timed, took),
    )
    return found.report.scopes[0], took


def _pack(path: str, partial: bool) -> float:
    """Seconds of scoring to plan in mode pack, without a budget.

    The capacity readings are the scores.
    """
    found = cluster.read(path)
    policies = [
        one.model_copy(
            update={
                'mode': Mode.PACK,
                'capacity_query': one.imbalance_query,
                'capacity_threshold': CEILINGS.get(one.name, 0.85),
            }
        )
        for one in found.policies
    ]
    for readings in found.snapshot.readings.values():
        readings.capacity = readings.imbalance
    settings = Settings(unlimited=True, pack_partial_drains=partial)
    scope, took = _planned(found.snapshot, policies, settings)
    seconds = took['propose']
    gib = sum(step.memory_mb for step in scope.steps) / 1024
    print(
        f'pack, {"partial" if partial else "whole"} drains: '
        f'{scope.hosts_in_use_before - scope.hosts_in_use_after} of '
        f'{scope.hosts_in_use_before} hosts emptied, {len(scope.steps)} '
        f'migrations, {gib:.0f} GiB, {seconds:.3f} s'
    )
    return seconds


def _drain(path: str) -> tuple[float, float]:
    """Seconds of scoring to plan for some hosts that are to be empty.

    Without a budget; and the seconds that it takes to lay the plan out.
    """
    found = cluster.read(path)
    services = found.snapshot.services or {}
    able = [host for host in sorted(services) if services[host].is_available]
    hosts = able[:: max(1, len(able) // DRAINED)][:DRAINED]
    settings = Settings(
        evacuate=True,
        drain_hosts=hosts,
        drain_may_exceed_threshold=True,
        rebalance=False,
        unlimited=True,
    )
    scope, took = _planned(found.snapshot, found.policies, settings)
    seconds, laid_out = took['propose'], took['schedule']
    print(
        f'drain of {len(hosts)} hosts: {len(scope.steps)} migrations, '
        f'{seconds:.3f} s; schedule, {CONCURRENT} at a time: {laid_out:.3f} s'
    )
    return seconds, laid_out


def _against_the_literal_rule(path: str) -> tuple[float, float]:
    """Seconds of either for the same plan."""
    found = cluster.read(path)
    settings = Settings(
        max_migrations=5,
        exhaust=True,
        plateau_moves=False,
        swap_moves=SwapMoves.NONE,
        tie_break=TieBreak.FIRST,
    )
    literal = Literal(found.snapshot, found.policies, settings)
    return (
        _timed(literal.plan),
        _planned(found.snapshot, found.policies, settings)[1]['propose'],
    )


if __name__ == '__main__':
    sys.exit(main())
