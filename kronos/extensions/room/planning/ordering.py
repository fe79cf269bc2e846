# SPDX-License-Identifier: Apache-2.0
"""The order of moves: servers and steps for chosen columns, each step legal.

Columns say how many servers of a kind leave and enter each host. Here the
servers are picked and every move is made at a moment at which its destination
has room, so that the room there is at the end is never assumed before.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kronos.engine.arrays import IntArray
from kronos.extensions.room.planning.cluster import Cluster
from kronos.extensions.room.planning.columns import Column

Place = tuple[int, int]
"""A host and a way."""


@dataclass(frozen=True)
class Move:
    """A live migration."""

    server: str
    source: str
    destination: str
    way: int
    """How it stands on its destination."""


class MoveRules(Protocol):
    """What else is said to each move, and what takes note of it."""

    def allows(self, server: str, destination: int) -> bool: ...

    def make(self, server: str, destination: int) -> None: ...

    def take_back(self) -> None:
        """Undo all moves that were made."""


@dataclass
class Ordered:
    """The moves in order, and what no order could be found for."""

    moves: list[Move] = field(default_factory=list)
    stuck: set[int] = field(default_factory=set)
    """Hosts with servers that neither leave nor enter."""
    waiting: set[Place] = field(default_factory=set)
    """Where servers do not enter."""
    free: IntArray = field(default_factory=lambda: np.zeros(0, np.intp))
    """[hosts, resources], after the moves."""


def ordered(
    cluster: Cluster,
    chosen: Iterable[tuple[int, Column]],
    spare: int = 0,
    rules: MoveRules | None = None,
) -> Ordered:
    """Order the moves of some columns.

    :param chosen: hosts with their columns
    :param spare: migrations that may be made besides, as detours
    :param rules: by which moves are legal beyond the counts
    """
    return _Order(cluster, chosen, rules).run(spare)


def any_move(cluster: Cluster) -> bool:
    """Whether any server could go anywhere at all."""
    demands = cluster.demands
    counts = cluster.counts()
    for way in range(len(cluster.ways)):
        fits = (cluster.free >= demands[way])[:, demands[way] > 0].all(axis=1)
        kind = cluster.ways[way].kind
        same = [
            index
            for index, other in enumerate(cluster.ways)
            if other.kind == kind
        ]
        sources = counts[:, same].sum(axis=1) > 0
        if sources.any() and fits.any():
            hosts = np.flatnonzero(sources | fits)
            if len(hosts) > 1 or not (sources & fits).any():
                return True
    return False


class _Order:
    """The cluster while its moves are ordered."""

    def __init__(
        self,
        cluster: Cluster,
        chosen: Iterable[tuple[int, Column]],
        rules: MoveRules | None,
    ) -> None:
        self._cluster, self._rules = cluster, rules
        self._demands = cluster.demands
        self._sizes = self._demands.sum(axis=1).tolist()
        self._free = cluster.free.copy()
        self._servers = {
            place: list(servers) for place, servers in cluster.servers.items()
        }
        self._host_of = {
            server: host
            for (host, _), servers in cluster.servers.items()
            for server in servers
        }
        self._members: dict[str, set[str]] = defaultdict(set)
        for server, groups in cluster.apart.items():
            for group in groups:
                self._members[group].add(server)
        self._outs: list[Counter[Place]] = []
        self._ins: list[Counter[Place]] = []
        self._plan(chosen)
        self._result = Ordered()

    def run(self, spare: int) -> Ordered:
        while True:
            waits = self._waits()
            step = self._best(waits)
            if step is None and spare > 0:
                step = self._detour(waits)
                spare -= 1
            if step is None:
                break
            self._make(*step)
        for kind, ins in enumerate(self._ins):
            if self._outs[kind].total():
                self._result.stuck.update(host for host, _ in ins)
                self._result.stuck.update(host for host, _ in self._outs[kind])
                self._result.waiting.update(ins)
        self._result.free = self._free
        return self._result

    def _plan(self, chosen: Iterable[tuple[int, Column]]) -> None:
        kinds = range(self._cluster.kinds)
        self._outs = [Counter() for _ in kinds]
        self._ins = [Counter() for _ in kinds]
        for host, column in chosen:
            for index, way in enumerate(self._cluster.ways):
                # What leaves and enters in the same way stays.
                net = column.ins[index] - column.outs[index]
                if net > 0:
                    self._ins[way.kind][host, index] += net
                elif net < 0:
                    self._outs[way.kind][host, index] -= net

    def _fits(self, place: Place) -> bool:
        host, way = place
        demand = self._demands[way]
        return bool(((self._free[host] >= demand) | (demand == 0)).all())

    def _waits(self) -> dict[int, IntArray]:
        """The resources that servers wait for, by host."""
        waits: dict[int, IntArray] = {}
        for ins in self._ins:
            for place in ins:
                if not self._fits(place):
                    host, way = place
                    waits[host] = waits.get(host, 0) + self._demands[way]
        return waits

    def _best(
        self, waits: dict[int, IntArray]
    ) -> tuple[str, Place, Place] | None:
        """The move whose source others wait for, the largest first."""
        best: tuple[tuple[int, int], str, Place, Place] | None = None
        for kind in self._largest_first():
            fitting = [p for p in sorted(self._ins[kind]) if self._fits(p)]
            for source in sorted(self._outs[kind]):
                score = self._score(source, waits), self._sizes[source[1]]
                if best is not None and score <= best[0]:
                    continue
                for destination in fitting:
                    server = self._pick(source, destination[0])
                    if server is not None:
                        best = score, server, source, destination
                        break
        return None if best is None else best[1:]

    def _largest_first(self) -> Sequence[int]:
        sizes = [0] * len(self._ins)
        for way, size in zip(self._cluster.ways, self._sizes, strict=True):
            sizes[way.kind] = max(sizes[way.kind], size)
        return sorted(range(len(sizes)), key=lambda kind: -sizes[kind])

    def _score(self, source: Place, waits: dict[int, IntArray]) -> int:
        host, way = source
        if host not in waits:
            return 0
        return int(((waits[host] > 0) & (self._demands[way] > 0)).sum())

    def _pick(self, source: Place, destination: int) -> str | None:
        """A server that may go there: ungrouped ones first."""
        if source[0] == destination:
            return None
        servers = self._servers.get(source, [])
        for is_grouped in (False, True):
            for server in servers:
                groups = self._cluster.apart.get(server, frozenset())
                if (
                    bool(groups) is is_grouped
                    and self._is_alone(server, groups, destination)
                    and (
                        self._rules is None
                        or self._rules.allows(server, destination)
                    )
                ):
                    return server
        return None

    def _is_alone(
        self, server: str, groups: frozenset[str], host: int
    ) -> bool:
        """Whether no other member of its groups is on a host."""
        if groups & self._cluster.occupied.get(host, frozenset()):
            return False
        return not any(
            self._host_of.get(member) == host
            for group in groups
            for member in self._members[group] - {server}
        )

    def _detour(
        self, waits: dict[int, IntArray]
    ) -> tuple[str, Place, Place] | None:
        """Send a server that others wait for elsewhere, and on from there."""
        for kind in reversed(self._largest_first()):
            ways = [
                index
                for index, way in enumerate(self._cluster.ways)
                if way.kind == kind
            ]
            for source in sorted(self._outs[kind]):
                if not self._score(source, waits):
                    continue
                for host in range(len(self._cluster.hosts)):
                    for way in ways:
                        if host in waits or not self._fits((host, way)):
                            continue
                        server = self._pick(source, host)
                        if server is not None:
                            self._ins[kind][host, way] += 1
                            self._outs[kind][host, way] += 1
                            return server, source, (host, way)
        return None

    def _make(self, server: str, source: Place, destination: Place) -> None:
        kind = self._cluster.ways[source[1]].kind
        _take(self._outs[kind], source)
        _take(self._ins[kind], destination)
        self._servers[source].remove(server)
        self._servers.setdefault(destination, []).insert(0, server)
        self._free[source[0]] += self._demands[source[1]]
        self._free[destination[0]] -= self._demands[destination[1]]
        self._host_of[server] = destination[0]
        if self._rules is not None:
            self._rules.make(server, destination[0])
        hosts = self._cluster.hosts
        self._result.moves.append(
            Move(
                server,
                hosts[source[0]],
                hosts[destination[0]],
                destination[1],
            )
        )


def _take(counter: Counter[Place], place: Place) -> None:
    counter[place] -= 1
    if not counter[place]:
        del counter[place]
