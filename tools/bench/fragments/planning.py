# SPDX-License-Identifier: Apache-2.0
"""The plan of Kronos for a cluster of ByteDance."""

from collections import defaultdict

import numpy as np

from bench.fragments import judge
from bench.fragments.snapshots import NODES, Server, Snapshot
from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.method import RoomPlan

PATTERNS = ((0,), (1,), (0, 1))


def cluster(snapshot: Snapshot, with_sets: bool) -> Cluster:
    """The cluster as counts; its memory never binds, so CPUs alone count.

    :param with_sets: whether servers of a set stay apart
    """
    hosts = [
        name for name, host in snapshot.machines.items() if host.is_active
    ]
    position = {name: number for number, name in enumerate(hosts)}
    free = np.array([snapshot.machines[name].cpus for name in hosts])
    ways = _ways(snapshot)
    number = {
        (way.memory_mb, way.demand): index for index, way in enumerate(ways)
    }
    servers: dict[tuple[int, int], list[str]] = defaultdict(list)
    groups: dict[str, set[str]] = defaultdict(set)
    occupied: dict[int, set[str]] = defaultdict(set)
    for index, (_, members) in enumerate(snapshot.apart if with_sets else []):
        for member in members:
            groups[member].add(str(index))
    apart = {}
    for name, server in snapshot.servers.items():
        host = position.get(server.host)
        if host is None:
            continue
        demand = _demand(server, server.nodes)
        free[host] -= demand
        if server.is_movable:
            way = number[_memory(server), demand]
            servers[host, way].append(name)
            apart[name] = frozenset(groups[name])
        else:
            occupied[host] |= groups[name]
    return Cluster(
        tuple(hosts),
        free,
        tuple(ways),
        tuple(_slot(node) for node in NODES),
        {place: tuple(names) for place, names in servers.items()},
        len(NODES),
        apart,
        {host: frozenset(names) for host, names in occupied.items()},
    )


def steps(counts: Cluster, plan: RoomPlan) -> list[judge.Step]:
    """The moves in the judge's words."""
    return [
        (
            move.server,
            move.destination,
            tuple(
                node
                for node, cpus in enumerate(counts.ways[move.way].demand)
                if cpus
            ),
        )
        for move in plan.moves
    ]


def _ways(snapshot: Snapshot) -> list[Way]:
    kinds = sorted(
        {
            (len(server.nodes), server.cpus, server.memory_mb)
            for server in snapshot.servers.values()
        }
    )
    ways = []
    for kind, (width, cpus, memory_mb) in enumerate(kinds):
        for nodes in PATTERNS:
            if len(nodes) == width:
                server = Server('', nodes, cpus, memory_mb)
                demand = _demand(server, nodes)
                ways.append(Way(kind, demand, _memory(server)))
    return ways


def _demand(server: Server, nodes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(server.cpus if node in nodes else 0 for node in NODES)


def _memory(server: Server) -> int:
    return len(server.nodes) * server.memory_mb


def _slot(node: int) -> tuple[int, ...]:
    return tuple(judge.SLOT_CPUS if node == here else 0 for here in NODES)
