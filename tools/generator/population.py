# SPDX-License-Identifier: Apache-2.0
"""The hosts, tenants, instances and server groups of a cloud.

Shapes follow what is published of public clouds: mostly small instances, a
low mean of CPU use with a heavy tail, some tenants much larger and much
busier than others. The parameters are chosen, not fitted.
"""

import itertools
import math
import random
import uuid

from generator import cloud
from generator.cloud import Cloud, Group, Host, Server, Tenant
from generator.wanted import CLASSES, Wanted

VCPUS = (1, 2, 4, 8, 16, 32)
VCPU_ODDS = (34, 32, 20, 9, 4, 1)
GIB_PER_VCPU = (2, 4, 8)
MEAN_VCPUS = 3.46
MEAN_MIB = MEAN_VCPUS * 14 / 3 * 1024
FILL = 0.72
"""About so much of the memory of the hosts is allocated."""
MOST_OF_A_HOST = 0.4
"""No instance is larger, of the smallest hosts."""
CORES = (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256)
TENANT_SIZE = 25
GROUP_POLICIES = (
    'anti-affinity',
    'soft-anti-affinity',
    'soft-affinity',
    'affinity',
)
GROUP_ODDS = (70, 15, 10, 5)
GROUP_SIZES = (2, 6)
BIASED = 0.1
NAMES = ('web', 'api', 'db', 'cache', 'batch', 'build', 'queue', 'mail')


def populate(wanted: Wanted, rng: random.Random) -> Cloud:
    """A cloud whose servers are on no host yet."""
    per_host = wanted.instances / wanted.in_use
    cores = _cores(max(1.0, per_host))
    found = Cloud(wanted, cores)
    found.hosts = [_host(found, number, rng) for number in range(wanted.hosts)]
    # Each aggregate keeps a host for its instances.
    for host in rng.sample(found.hosts[wanted.aggregates :], wanted.empty):
        host.is_new = True
    number = max(1, round(wanted.instances / TENANT_SIZE))
    found.tenants = [_tenant(at, rng) for at in range(number)]
    # Zipf: the second has half as many as the first.
    shares = (1 / rank for rank in range(1, number + 1))
    found.odds = list(itertools.accumulate(shares))
    for _ in range(wanted.instances):
        found.servers.append(server(found, rng))
    for one in rng.sample(
        found.servers, round(wanted.frozen * wanted.instances)
    ):
        one.frozen = rng.choice(('locked', 'pinned'))
    _group(found, rng)
    return found


def _cores(per_host: float) -> int:
    """Of a host that is neither bored nor full with so many instances."""
    needed = per_host * MEAN_MIB / FILL / cloud.MIB_PER_CORE
    return min(CORES, key=lambda cores: abs(math.log(cores / needed)))


def _host(found: Cloud, number: int, rng: random.Random) -> Host:
    classes = CLASSES[: found.wanted.classes]
    [size] = rng.choices(classes, (2, 1, 1)[: len(classes)])
    pull = 1.0
    if rng.random() < BIASED:
        pull = rng.choice((0.4, 2.0))
    width = max(2, len(str(found.wanted.hosts)))
    return Host(
        f'cmp{number + 1:0{width}}',
        number % found.wanted.aggregates,
        max(2, round(size * found.base_cores)),
        pull,
    )


def _tenant(number: int, rng: random.Random) -> Tenant:
    name = NAMES[number % len(NAMES)]
    if number >= len(NAMES):
        name += str(number // len(NAMES) + 1)
    return Tenant(
        name,
        f'{rng.getrandbits(128):032x}',
        rng.betavariate(1.2, 2.0),
        rng.lognormvariate(0.0, 0.85),
    )


def identifier(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def server(found: Cloud, rng: random.Random) -> Server:
    """Another server; a tenant has the more the earlier it came."""
    [tenant] = rng.choices(found.tenants, cum_weights=found.odds)
    vcpus, memory_mb = _flavor(found, rng)
    found.made += 1
    return Server(
        identifier(rng),
        f'{tenant.name}-{found.made}',
        tenant,
        rng.randrange(found.wanted.aggregates),
        vcpus,
        memory_mb,
        {
            'cpu': rng.betavariate(1.2, 2.0),
            'ram': rng.uniform(0.6, 1.0),
            'net': rng.lognormvariate(0.0, 0.85),
        },
    )


def _flavor(found: Cloud, rng: random.Random) -> tuple[int, int]:
    """Vcpus and MiB of one that fits into every host."""
    smallest = min(host.memory_mb for host in found.hosts)
    most = max(MOST_OF_A_HOST * smallest, 2048)
    while True:
        [vcpus] = rng.choices(VCPUS, VCPU_ODDS)
        memory_mb = vcpus * rng.choice(GIB_PER_VCPU) * 1024
        if memory_mb <= most:
            return vcpus, memory_mb


def _group(found: Cloud, rng: random.Random) -> None:
    """Put as many of the servers into groups as are wanted, or nearly.

    The members of one are of one tenant and one aggregate.
    """
    together: dict[tuple[str, int], list[Server]] = {}
    for one in found.servers:
        key = (one.tenant.project, one.aggregate)
        together.setdefault(key, []).append(one)
    left = round(found.wanted.grouped * len(found.servers))
    pools = [pool for pool in together.values() if len(pool) > 1]
    while left >= GROUP_SIZES[0] and pools:
        pool = rng.choices(pools, [len(one) for one in pools])[0]
        rng.shuffle(pool)
        most = min(GROUP_SIZES[1], left, len(pool), _hosts_in(found, pool))
        if most >= GROUP_SIZES[0]:
            left -= _grouped(found, pool, rng.randint(2, most), rng)
        if len(pool) < GROUP_SIZES[0] or most < GROUP_SIZES[0]:
            pools.remove(pool)


def _hosts_in(found: Cloud, pool: list[Server]) -> int:
    return sum(
        host.aggregate == pool[0].aggregate and not host.is_new
        for host in found.hosts
    )


def _grouped(
    found: Cloud, pool: list[Server], size: int, rng: random.Random
) -> int:
    [policy] = rng.choices(GROUP_POLICIES, GROUP_ODDS)
    group = Group(
        identifier(rng),
        f'{pool[0].tenant.name}-group-{len(found.groups) + 1}',
        policy,
    )
    for _ in range(size):
        member = pool.pop()
        member.group = group
        group.members.append(member)
    found.groups.append(group)
    return size
