# SPDX-License-Identifier: Apache-2.0
"""The making of a cloud, and its changes from day to day."""

import random
from collections.abc import Iterator

from generator import loads, placing, population
from generator.cloud import Cloud
from generator.wanted import Wanted

CHURN = 0.03
"""Ratio of the instances that are deleted, and as many booted, in a day."""
CHANGED = 0.15
"""Ratio of the tenants and of the instances that do something else."""


def make(wanted: Wanted) -> Cloud:
    """The cloud that was asked for; the same for the same.

    :raises WantedError: there is no such cloud
    """
    return next(days(wanted))


def days(wanted: Wanted) -> Iterator[Cloud]:
    """The same one day after day, without end, as if nobody planned.

    :raises WantedError: there is no such cloud
    """
    wanted.check()
    # Nothing here is a secret.
    rng = random.Random(wanted.seed)
    result = population.populate(wanted, rng)
    placing.place_all(result, rng)
    placing.break_groups(result, rng)
    loads.make_opposites(result, rng)
    _close(result, rng)
    while True:
        loads.load(result)
        yield result
        _live(result, rng)


def _close(found: Cloud, rng: random.Random) -> None:
    """Disable some hosts, and let others be down."""
    used = [host for host in found.hosts if not host.is_new]
    wanted = found.wanted
    closed = rng.sample(used, wanted.disabled + wanted.down)
    for index, host in enumerate(closed):
        if index < wanted.disabled:
            host.is_enabled = False
        else:
            host.is_up = False


def _live(found: Cloud, rng: random.Random) -> None:
    """Let a day pass."""
    for tenant in found.tenants:
        if rng.random() < CHANGED:
            tenant.busy = rng.betavariate(1.2, 2.0)
    for server in found.servers:
        if rng.random() < CHANGED:
            server.own['cpu'] = rng.betavariate(1.2, 2.0)
            server.own['net'] = rng.lognormvariate(0.0, 0.85)
    loose = [one for one in found.servers if one.group is None]
    gone = rng.sample(loose, min(len(loose), round(CHURN * len(loose))))
    for server in gone:
        server.put(None)
    found.servers = [one for one in found.servers if one.host is not None]
    # New hosts take instances from their first day on.
    able = [host for host in found.hosts if host.is_up and host.is_enabled]
    placer = placing.Placer(able, rng)
    for _ in gone:
        server = population.server(found, rng)
        placer.place(server)
        found.servers.append(server)
