# SPDX-License-Identifier: Apache-2.0
"""The time that the repair of one large server group takes."""

import dataclasses
import time

from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import Headroom, ServerGroup, Snapshot
from kronos.recordings.formats import cluster

MEMBERS = (200, 1000)
FULL = Headroom(1, 1)


def report(path: str) -> float:
    """Seconds of the larger group, each in a cloud without any room.

    That is the worst case: every host is judged, and none will do.

    :param path: of a large cloud
    """
    result = cluster.read(path)
    seconds = []
    for number in MEMBERS:
        snapshot = _grouped(result.snapshot, number)
        settings = Settings(enforce_soft_affinity=True, rebalance=False)
        start = time.perf_counter()
        plan = propose.plan([snapshot], result.policies, settings, 1)
        seconds.append(time.perf_counter() - start)
        print(
            f'repair of a group of {number}: {len(plan.report.steps)} '
            f'migrations, {seconds[-1]:.3f} s'
        )
    print(f'1000 / 200 members      {seconds[1] / seconds[0]:8.1f} x the time')
    return seconds[1]


def _grouped(snapshot: Snapshot, number: int) -> Snapshot:
    some = sorted(snapshot.instances)[:number]
    full = dict.fromkeys(('VCPU', 'MEMORY_MB', 'DISK_GB'), FULL)
    return dataclasses.replace(
        snapshot,
        groups=[ServerGroup('g', 'soft-affinity', some)],
        hosts={
            name: dataclasses.replace(host, headroom=dict(full))
            for name, host in snapshot.hosts.items()
        },
    )
