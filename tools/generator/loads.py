# SPDX-License-Identifier: Apache-2.0
"""The usage of each instance of a made-up cloud.

Half of an instance's CPU use is its tenant's, which makes peaks come
together; the other half is its own. A host cannot give more than it has: what
its instances want beyond :data:`FULL` they do not get.
"""

import random

from generator import cloud
from generator.cloud import Cloud, Host, Server

FULL = 0.95
HOT, COOL = 0.85, 0.25
"""Ratios of a host's capacity that the two of a pair of opposites use."""
NET = 0.01
"""Of an instance, as a ratio of a usual host of 20 instances."""
MOST_NET = 0.3
STEPS = {True: 0.01, False: 0.02}
"""Variant ``flavor``: of hosts with many instances, and with few."""
MANY = 15


def load(found: Cloud) -> None:
    """Work out the usage of all instances."""
    usual = _usual(found)
    per_host = found.wanted.instances / found.wanted.in_use
    for server in found.servers:
        if found.wanted.variant == 'flavor':
            step = STEPS[per_host >= MANY]
            server.usage = _by_flavor(server, usual, step)
        else:
            server.usage = _measured(server, usual, per_host)
        for kind, factor in server.factors.items():
            server.usage[kind] *= factor
        server.usage['ram'] = min(server.usage['ram'], server.memory_mb)
    _throttle(found)


def _usual(found: Cloud) -> dict[str, float]:
    return Host('', 0, found.base_cores, 1.0).capacity


def _measured(
    server: Server, usual: dict[str, float], per_host: float
) -> dict[str, float]:
    busy = 0.5 * server.tenant.busy + 0.5 * server.own['cpu']
    net = NET * 20 / max(1.0, per_host)
    net *= server.own['net'] * server.tenant.traffic
    return {
        'cpu': server.vcpus * busy,
        'ram': server.memory_mb * server.own['ram'],
        'net': usual['net'] * min(MOST_NET, net),
    }


def _by_flavor(
    server: Server, usual: dict[str, float], step: float
) -> dict[str, float]:
    """In whole steps of a usual host."""
    wanted = {
        'cpu': 0.5 * server.vcpus,
        'ram': 0.8 * server.memory_mb,
        'net': step * usual['net'] * server.vcpus**0.5,
    }
    return {
        kind: step * max(1, round(value / usual[kind] / step)) * usual[kind]
        for kind, value in wanted.items()
    }


def make_opposites(found: Cloud, rng: random.Random) -> None:
    """Heat up pairs of hosts, in opposite ways."""
    load(found)
    used = sorted(
        (host for host in found.hosts if not host.is_new),
        key=lambda host: (-host.used_mb / host.memory_mb, host.name),
    )
    # Only a host whose memory is allocated can have much of it in use.
    some = used[: 2 * found.wanted.hot]
    rng.shuffle(some)
    scores = found.scores()
    for index, host in enumerate(some):
        hot, cool = ('cpu', 'ram') if index % 2 else ('ram', 'cpu')
        for kind, target in ((hot, HOT), (cool, COOL)):
            base = cloud.BASE[kind]
            now = scores[kind][host.name] - base
            for server in _on(found, host) if now > 0.0 else ():
                server.factors[kind] = (target - base) / now


def _on(found: Cloud, host: Host) -> list[Server]:
    return [server for server in found.servers if server.host is host]


def _throttle(found: Cloud) -> None:
    scores = found.scores()
    over = {
        (host.name, kind): host
        for host in found.hosts
        for kind in cloud.KINDS
        if scores[kind][host.name] > FULL
    }
    if not over:
        return
    on: dict[str, list[Server]] = {}
    for server in found.servers:
        if server.host is not None:
            on.setdefault(server.host.name, []).append(server)
    usual = _usual(found)
    for (name, kind), host in over.items():
        if found.wanted.variant == 'flavor':
            step = STEPS[found.wanted.instances >= MANY * found.wanted.in_use]
            _take_steps(host, kind, on[name], step * usual[kind])
        else:
            base = cloud.BASE[kind]
            factor = (FULL - base) / (scores[kind][name] - base)
            for server in on[name]:
                server.usage[kind] *= factor


def _take_steps(
    host: Host, kind: str, servers: list[Server], step: float
) -> None:
    """Take a step from the largest until the host is not too full."""
    capacity = host.capacity[kind] * (FULL - cloud.BASE[kind])
    wanted = sum(server.usage[kind] for server in servers)
    while wanted > capacity + step / 1000:
        largest = max(servers, key=lambda one: (one.usage[kind], one.uuid))
        if largest.usage[kind] < 1.5 * step:
            return
        largest.usage[kind] -= step
        wanted -= step
