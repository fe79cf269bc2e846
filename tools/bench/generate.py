# SPDX-License-Identifier: Apache-2.0
"""What does an uneven cluster of any size look like? Seeded, cluster/1.

Shapes follow what is published of public clouds: mostly small instances, a
low mean of CPU use with a heavy tail, some tenants much busier than others.
The parameters are chosen, not fitted.
"""

import random
from typing import Any

VCPUS = (1, 2, 4, 8, 16, 32)
VCPU_ODDS = (34, 32, 20, 9, 4, 1)
GIB_PER_VCPU = (2, 4, 8)
HOST_VCPUS = 128
HOST_MEMORY_MB = 512 * 1024
WEIGHTS = {'cpu': 0.5, 'ram': 0.3, 'net': 0.2}


def generate(hosts: int, instances: int, seed: int = 1) -> dict[str, Any]:
    """A document of format cluster/1 with three policies.

    :param hosts: about one in a hundred of them is not available
    :param instances: as many as fit; 20 a host do
    """
    rng = random.Random(seed)
    rows = [_host(rng, f'h{n:05}') for n in range(hosts)]
    bias = {row['name']: rng.gauss(1.0, 0.3) for row in rows}
    found = []
    for n in range(instances):
        one = _instance(rng, f'v{n:06}')
        place = _place(rng, rows, bias, one)
        if place is None:
            break
        one['host'] = place['name']
        for name, share in one['shares'].items():
            place['scores'][name] += share
        place['free_mb'] -= one['memory_mb']
        place['free_vcpus'] -= one['vcpus']
        found.append(one)
    _fit(rows, found)
    return {
        'format': 'cluster/1',
        'description': f'{hosts} hosts, seed {seed}',
        'policies': [
            {
                'name': name,
                'mode': 'spread',
                'weight': weight,
                'threshold': 0.15,
            }
            for name, weight in WEIGHTS.items()
        ],
        'hosts': rows,
        'instances': found,
        'groups': _groups(rng, found),
    }


def _host(rng: random.Random, name: str) -> dict[str, Any]:
    return {
        'name': name,
        'scores': dict.fromkeys(WEIGHTS, 0.0),
        'available': rng.random() > 0.01,
        'memory_mb': HOST_MEMORY_MB,
        'vcpus': HOST_VCPUS,
        'free_mb': HOST_MEMORY_MB,
        'free_vcpus': HOST_VCPUS,
    }


def _instance(rng: random.Random, name: str) -> dict[str, Any]:
    (vcpus,) = rng.choices(VCPUS, VCPU_ODDS)
    memory_mb = vcpus * rng.choice(GIB_PER_VCPU) * 1024
    return {
        'name': name,
        'host': '',
        'shares': {
            'cpu': vcpus / HOST_VCPUS * rng.betavariate(1.2, 2.0) * 2.0,
            'ram': memory_mb / HOST_MEMORY_MB * rng.uniform(0.6, 1.0),
            'net': min(0.3, 0.01 * rng.lognormvariate(0.0, 1.2)),
        },
        'memory_mb': memory_mb,
        'vcpus': vcpus,
        'movable': rng.random() > 0.02,
    }


def _place(
    rng: random.Random,
    rows: list[dict[str, Any]],
    bias: dict[str, float],
    one: dict[str, Any],
) -> dict[str, Any] | None:
    """Of some hosts with room the one with the most, as biased."""
    for _ in range(10):
        some = [
            row
            for row in rng.sample(rows, min(8, len(rows)))
            if row['free_mb'] >= one['memory_mb']
            and row['free_vcpus'] >= one['vcpus']
        ]
        if some:
            return max(
                some, key=lambda row: row['free_mb'] * bias[row['name']]
            )
    return None


def _fit(rows: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    """Scale shares so that the fullest host is at .95; drop scratch data."""
    for policy in WEIGHTS:
        top = max(row['scores'][policy] for row in rows)
        factor = min(1.0, 0.95 / top) if top else 1.0
        for part in (row['scores'] for row in rows):
            part[policy] *= factor
        for part in (one['shares'] for one in found):
            part[policy] *= factor
    for row in rows:
        del row['free_mb'], row['free_vcpus']


def _groups(
    rng: random.Random, found: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One instance in eight is in a group, most of them kept apart."""
    grouped = rng.sample(found, len(found) // 8)
    groups = []
    while grouped:
        size = min(len(grouped), rng.randint(2, 6))
        members = [grouped.pop()['name'] for _ in range(size)]
        policy = rng.choice(
            ['anti-affinity'] * 4 + ['soft-anti-affinity', 'soft-affinity']
        )
        groups.append(
            {'name': f'g{len(groups)}', 'policy': policy, 'members': members}
        )
    return groups
