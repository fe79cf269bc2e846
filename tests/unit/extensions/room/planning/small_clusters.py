# SPDX-License-Identifier: Apache-2.0
"""Small clusters, their best plans by counting, and a judge of moves.

Nothing here is shared with the code that it tests: the program by counts has
no columns, and the judge keeps its own accounts.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.ordering import Move

CPUS = 32
SLOT = 16
SIZES = ((1, 2, 4, 8), (2, 4, 4, 8, 12), (3, 5, 6, 10))
"""Of servers, in three mixtures of flavors."""


def cluster(
    free: Sequence[Sequence[int]],
    servers: Mapping[tuple[int, int], Sequence[str]],
    sizes: Sequence[int],
    **others: Any,
) -> Cluster:
    """Hosts of one node, with a kind of server for each size."""
    return Cluster(
        tuple(f'cmp{number}' for number in range(len(free))),
        np.array(free, dtype=np.intp),
        tuple(
            Way(kind, (size,), 1024 * size) for kind, size in enumerate(sizes)
        ),
        ((SLOT,),),
        {place: tuple(names) for place, names in servers.items()},
        **others,
    )


def generated(seed: int, nodes: int = 1) -> Cluster:
    """6 to 10 hosts, filled without looking at slots."""
    draw = random.Random(seed)
    hosts = draw.randint(6, 10)
    sizes = sorted(set(SIZES[seed % len(SIZES)]))
    ways = [
        Way(kind, _on(node, size, nodes), 1024 * size)
        for kind, size in enumerate(sizes)
        for node in range(nodes)
    ]
    if nodes > 1:
        ways.append(Way(len(sizes), (8,) * nodes, 65536))
    free = np.full((hosts, nodes), CPUS, dtype=np.intp)
    servers: dict[tuple[int, int], list[str]] = defaultdict(list)
    for number in range(40 * hosts * nodes):
        host, way = draw.randrange(hosts), draw.randrange(len(ways))
        demand = np.array(ways[way].demand)
        if (free[host] - demand).sum() >= 5 * nodes and (
            free[host] >= demand
        ).all():
            free[host] -= demand
            servers[host, way].append(f'vm{number}')
    return Cluster(
        tuple(f'cmp{number}' for number in range(hosts)),
        free,
        tuple(ways),
        tuple(_on(node, SLOT, nodes) for node in range(nodes)),
        {place: tuple(names) for place, names in servers.items()},
        nodes,
    )


def _on(node: int, size: int, nodes: int) -> tuple[int, ...]:
    return tuple(size if each == node else 0 for each in range(nodes))


def most_by_counts(small: Cluster, moves: int) -> int:
    """The most slots at the end of a plan, by a program without columns.

    A variable is how many servers stand on a host in a way, how many left it,
    or how many slots a node has.
    """
    from scipy import optimize

    hosts, ways = len(small.hosts), len(small.ways)
    counts = np.array(
        [
            len(small.servers.get((host, way), ()))
            for host in range(hosts)
            for way in range(ways)
        ]
    )
    pairs, slots = hosts * ways, hosts * small.nodes
    rows, low, high = [], [], []

    def row(factors: Mapping[int, int], least: float, most: float) -> None:
        line = np.zeros(2 * pairs + slots)
        for variable, factor in factors.items():
            line[variable] = factor
        rows.append(line)
        low.append(least)
        high.append(most)

    for kind in {way.kind for way in small.ways}:
        same = [
            host * ways + way
            for host in range(hosts)
            for way in range(ways)
            if small.ways[way].kind == kind
        ]
        number = counts[same].sum()
        row({variable: 1 for variable in same}, number, number)
    for pair in range(pairs):
        row({pair: 1, pairs + pair: 1}, counts[pair], np.inf)
    row({pairs + pair: 1 for pair in range(pairs)}, 0, moves)
    for host in range(hosts):
        for node in range(small.nodes):
            demand = {
                host * ways + way: small.ways[way].demand[node]
                for way in range(ways)
            }
            capacity = small.free[host, node] + sum(
                counts[pair] * amount for pair, amount in demand.items()
            )
            slot = 2 * pairs + host * small.nodes + node
            row({**demand, slot: SLOT}, 0, capacity)
    costs = np.zeros(2 * pairs + slots)
    costs[2 * pairs :] = -1
    solution = optimize.milp(
        costs,
        integrality=np.ones(len(costs)),
        constraints=optimize.LinearConstraint(np.stack(rows), low, high),
    )
    return round(-solution.fun)


def carry_out(small: Cluster, moves: Sequence[Move]) -> int:
    """The slots after the moves.

    :raises AssertionError: a move could not be made
    """
    free = small.free.tolist()
    where = {
        server: place
        for place, servers in small.servers.items()
        for server in servers
    }
    for move in moves:
        host, way = where[move.server]
        target = small.hosts.index(move.destination)
        assert small.hosts[host] == move.source != move.destination, move
        assert small.ways[way].kind == small.ways[move.way].kind, move
        for node, amount in enumerate(small.ways[move.way].demand):
            free[target][node] -= amount
            assert not amount or free[target][node] >= 0, move
        for node, amount in enumerate(small.ways[way].demand):
            free[host][node] += amount
        for server, (other, _) in where.items():
            if other == target and server != move.server:
                assert not _groups(small, server) & _groups(
                    small, move.server
                ), move
        where[move.server] = target, move.way
    return sum(max(0, amount) // SLOT for host in free for amount in host)


def _groups(small: Cluster, server: str) -> frozenset[str]:
    return small.apart.get(server, frozenset())
