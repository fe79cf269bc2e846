# SPDX-License-Identifier: Apache-2.0
"""Small clusters of two resources, with their best plans by placements.

Nothing is shared with what it tests. Here the program is about the servers of
each kind that a host has at the end; a move is a server that a host has fewer.
"""

import random
from collections.abc import Sequence

import numpy as np

from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.counts import SlotTarget
from kronos.extensions.room.planning.ordering import Move

SIZES = (
    ((1, 4), (2, 8), (4, 8), (8, 16)),
    ((2, 4), (4, 16), (6, 12), (12, 24)),
    ((1, 2), (3, 12), (5, 10), (10, 40)),
)
"""CPUs and GiB of servers, in three mixtures of flavors."""
LARGE, MIDDLE = (16, 64), (8, 32)
HOST = (32, 128)


def generated(seed: int, most: int = 10) -> Cluster:
    """6 hosts or more, filled by chance until little is free."""
    draw = random.Random(seed)
    hosts, sizes = draw.randint(6, most), SIZES[seed % len(SIZES)]
    share = draw.choice((0.65, 0.75, 0.85))
    free = np.tile(np.array(HOST, dtype=np.intp), (hosts, 1))
    servers: dict[tuple[int, int], list[str]] = {}
    for number in range(60 * hosts):
        if free[:, 0].sum() <= (1 - share) * hosts * HOST[0]:
            break
        host, kind = draw.randrange(hosts), draw.randrange(len(sizes))
        if (free[host] >= sizes[kind]).all():
            free[host] -= sizes[kind]
            servers.setdefault((host, kind), []).append(f'vm{number}')
    return Cluster(
        tuple(f'cmp{number}' for number in range(hosts)),
        free,
        tuple(
            Way(kind, size, 1024 * size[1]) for kind, size in enumerate(sizes)
        ),
        (LARGE,),
        {place: tuple(names) for place, names in servers.items()},
    )


def fewest(cluster: Cluster, targets: Sequence[SlotTarget]) -> int | None:
    """The moves that room for all of them requires; None: impossible."""
    from scipy import optimize

    hosts, kinds = len(cluster.hosts), len(cluster.ways)
    flavors, counts = len(targets), cluster.counts()
    width = 2 * kinds + flavors
    """Of a host: servers at the end, servers that left, slots."""
    rows, least, most = [], [], []

    def require(entries: dict[int, float], low: float, high: float) -> None:
        row = np.zeros(hosts * width)
        for place, factor in entries.items():
            row[place] = factor
        rows.append(row)
        least.append(low)
        most.append(high)

    for host in range(hosts):
        base = host * width
        for kind in range(kinds):
            stay, left = base + kind, base + kinds + kind
            require({stay: 1, left: 1}, float(counts[host, kind]), np.inf)
        total = cluster.free[host] + counts[host] @ cluster.demands
        for resource, amount in enumerate(total.tolist()):
            entries = {
                base + kind: float(way.demand[resource])
                for kind, way in enumerate(cluster.ways)
            }
            for flavor, each in enumerate(targets):
                entries[base + 2 * kinds + flavor] = each.demand[resource]
            require(entries, -np.inf, float(amount))
    for kind in range(kinds):
        number = float(counts[:, kind].sum())
        places = {host * width + kind: 1.0 for host in range(hosts)}
        require(places, number, number)
    for flavor, each in enumerate(targets):
        places = {
            host * width + 2 * kinds + flavor: 1.0 for host in range(hosts)
        }
        require(places, float(each.number), np.inf)
    costs = np.zeros(hosts * width)
    for host in range(hosts):
        costs[host * width + kinds : host * width + 2 * kinds] = 1.0
    solution = optimize.milp(
        costs,
        constraints=optimize.LinearConstraint(np.array(rows), least, most),
        integrality=np.ones(len(costs)),
        bounds=optimize.Bounds(0, np.inf),
    )
    return None if solution.x is None else round(solution.fun)


def carried_out(cluster: Cluster, moves: Sequence[Move]) -> Cluster:
    """The cluster after some moves, each of which must have room.

    :raises AssertionError: it has none, or the server is elsewhere
    """
    free = {
        name: list(map(int, row))
        for name, row in zip(cluster.hosts, cluster.free, strict=True)
    }
    place = {
        name: (cluster.hosts[host], kind)
        for (host, kind), names in cluster.servers.items()
        for name in names
    }
    for move in moves:
        source, kind = place[move.server]
        assert source == move.source != move.destination
        for resource, amount in enumerate(cluster.ways[kind].demand):
            assert free[move.destination][resource] >= amount, move
            free[move.destination][resource] -= amount
            free[source][resource] += amount
        place[move.server] = move.destination, kind
    return Cluster(
        cluster.hosts,
        np.array([free[name] for name in cluster.hosts], dtype=np.intp),
        cluster.ways,
        cluster.slots,
        {},
    )
