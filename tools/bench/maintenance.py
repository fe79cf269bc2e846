# SPDX-License-Identifier: Apache-2.0
"""The time that a maintenance run takes to plan, with what it tells ahead.

All hosts of a cluster are to be maintained. The first plan is measured, in
seconds of the processor; it has the forecast to the end of the run, and the
look at what is in its way.
"""

import gc
import statistics
from typing import Any

from bench import processes, table, weighing
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.maintenance import Maintenance
from tests.builders import maintained

SIZES = ((100, 5, 0.7, 1.0), (100, 5, 0.85, 1.0), (300, 10, 0.7, 5.0))
"""Hosts, hosts at once, the share that is allocated, most seconds."""
TIMES = 3
COLUMNS = {
    'hosts': ('hosts', ',d'),
    'servers': ('servers', ',d'),
    'at_once': ('at once', ',d'),
    'allocated': ('allocated', '.2f'),
    'moves': ('moves', ',d'),
    'ratio': ('per server', '.3f'),
    'hours': ('hours', '.1f'),
    'seconds': ('seconds', '.2f'),
    'result': ('', 's'),
}
LEGEND = 'moves, hours: as the plan forecasts them for the whole run'


def rows() -> list[dict[str, Any]]:
    """A row for each size."""
    return [
        processes.run(
            'bench.maintenance',
            hosts=hosts,
            at_once=at_once,
            allocated=allocated,
            most=most,
        )
        for hosts, at_once, allocated, most in SIZES
    ]


def text(found: list[dict[str, Any]]) -> str:
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'


def is_met(found: list[dict[str, Any]]) -> bool:
    """Whether each plan is made in time."""
    return all(row['seconds'] <= row['most'] for row in found)


def measured(
    hosts: int, at_once: int, allocated: float, most: float, times: int = TIMES
) -> dict[str, Any]:
    """What the first plan of a run takes.

    :param allocated: share of the memory of each host
    :param most: seconds that it may take
    """
    cloud = maintained.cloud(hosts, allocated, 1)
    run = maintained.Run(
        cloud, Maintenance('bench', tuple(sorted(cloud.hosts)), at_once)
    )
    seconds = []
    for _ in range(times):
        gc.collect()
        seconds.append(weighing.timed(run.plan))
    ahead = outcome.of(run.plan()).forecast
    took = statistics.median(seconds)
    return {
        'hosts': hosts,
        'servers': len(cloud.instances),
        'at_once': at_once,
        'allocated': allocated,
        'moves': ahead.moves,
        'ratio': ahead.moves / len(cloud.instances),
        'hours': ahead.seconds / 3600,
        'seconds': took,
        'most': most,
        'result': '' if took <= most else 'too long',
    }


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
