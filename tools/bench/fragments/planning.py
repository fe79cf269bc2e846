# SPDX-License-Identifier: Apache-2.0
"""The plan of Kronos for a cluster of ByteDance."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.fragments import judge
from bench.fragments.snapshots import NODES, Server, Snapshot
from kronos.extensions.room.certificates import Certificate
from kronos.extensions.room.planning import ordering
from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.counts import SlotTarget
from kronos.extensions.room.planning.market import plans, proofs
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.ordering import Move
from kronos.extensions.room.planning.scope_case import ScopeCase

PATTERNS = ((0,), (1,), (0, 1))


@dataclass(frozen=True)
class FragmentsPlan:
    """Live migrations in order, and the bound of all such plans."""

    moves: list[Move]
    most: int
    """Slots that no plan of as many migrations exceeds."""
    certificate: Certificate | None


def case(counts: Cluster) -> ScopeCase:
    """The cluster with slots on each of the nodes."""
    return ScopeCase(
        counts,
        tuple(SlotTarget(slot) for slot in counts.slots),
        tuple(f'node {node}' for node in NODES),
        tuple(f'CPUs of node {node}' for node in NODES),
    )


def plan(counts: Cluster, moves: int) -> FragmentsPlan:
    """The most slots by at most so many migrations."""
    scope = case(counts)
    if not ordering.any_move(counts):
        certificate = proofs.stuck(scope)
        return FragmentsPlan([], certificate.number, certificate)
    market = plans.MarketPlan(scope, Aim.MOST, moves)
    result = market.carried_out(None, moves)
    return FragmentsPlan(
        result.moves if result else [],
        min(market.priced.whole, counts.by_sum()),
        proofs.of(scope, market.priced, moves),
    )


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


def steps(counts: Cluster, moves: Sequence[Move]) -> list[judge.Step]:
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
        for move in moves
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
