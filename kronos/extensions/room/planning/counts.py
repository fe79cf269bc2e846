# SPDX-License-Identifier: Apache-2.0
"""The program by counts: servers that leave and enter each host, by way.

It needs no columns, has any number of resources and several flavors at once,
and is exact. Its size is that of hosts times ways, so it is for scopes of up
to a few hundred hosts. HiGHS solves it by scipy, with a limit of nodes only.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.extensions.room.planning import highs
from kronos.extensions.room.planning.cluster import Cluster
from kronos.extensions.room.planning.columns import Amounts, Column

NODES = 20_000
"""Branches for the proof."""
TIE_NODES = 500
"""Branches for the least memory of as many migrations."""
TOLERANCE = 1e-6


@dataclass(frozen=True)
class SlotTarget:
    """Servers that are to be created."""

    demand: Amounts
    """Of one of them, by resource."""
    number: int = 0
    """Room is wanted for so many; 0: for the most."""


@dataclass(frozen=True)
class Counted:
    """The best final placement, whatever the order of moves."""

    columns: Mapping[int, Column]
    """By host, of those that change."""
    slots: Amounts
    """By wanted flavor, all of them at once."""
    moves: int
    bound: float
    """Of migrations at least, or of slots at most."""


class NoPlacement(Enum):
    """Why there is no final placement."""

    IMPOSSIBLE = 'impossible'
    """No number of moves gives the room."""
    NOT_KNOWN = 'not_known'
    """The branches were used up before there was one."""


@dataclass
class _Program:
    """Variables in blocks, and rows over them."""

    width: int = 0
    upper: list[FloatArray] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    """Row, variable, factor."""
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)

    def add(self, upper: FloatArray) -> IntArray:
        """New variables from 0, as positions of the same shape."""
        flat = upper.reshape(-1).astype(float)
        self.upper.append(flat)
        start = self.width
        self.width += len(flat)
        positions: IntArray = np.arange(start, self.width, dtype=np.intp)
        return positions.reshape(upper.shape)

    def require(
        self,
        factors: Collection[tuple[int, float]],
        most: float = np.inf,
        least: float = -np.inf,
    ) -> None:
        row = len(self.most)
        self.entries += [(row, place, value) for place, value in factors]
        self.least.append(least)
        self.most.append(most)

    def solve(self, costs: FloatArray, nodes: int) -> Any:
        from scipy import sparse

        rows, places, values = zip(*self.entries, strict=True)
        matrix = sparse.csr_matrix(
            (values, (rows, places)), shape=(len(self.most), self.width)
        )
        return highs.whole(
            costs,
            matrix,
            (np.array(self.least), np.array(self.most)),
            np.concatenate(self.upper),
            {'node_limit': nodes, 'mip_rel_gap': 0.0},
        )


class Counts:
    """The programs of a cluster for some wanted flavors.

    :param refused: hosts with ways that no server may enter
    :param prices: of a move, by way; None: 1
    """

    def __init__(
        self,
        cluster: Cluster,
        targets: Sequence[SlotTarget],
        refused: Collection[tuple[int, int]] = (),
        prices: FloatArray | None = None,
    ) -> None:
        self._cluster, self._targets = cluster, targets
        self._program = _Program()
        counts = cluster.counts()
        each = max(1, int(counts.sum()))
        enters = np.full(counts.shape, float(each))
        for place in refused:
            enters[place] = 0.0
        self._outs = self._program.add(counts.astype(float))
        self._ins = self._program.add(enters)
        self._slots = self._program.add(self._most_slots(counts))
        self._balance()
        for host in range(len(cluster.hosts)):
            self._capacity(host)
        costs = np.zeros(self._program.width)
        costs[self._outs] = 1.0 if prices is None else prices
        self._moves = costs
        memory = np.array([way.memory_mb for way in cluster.ways], float)
        self._memory = np.zeros(self._program.width)
        self._memory[self._outs] = memory

    def fewest_moves(self) -> Counted | NoPlacement:
        """Room for all that is wanted."""
        for place, target in enumerate(self._targets):
            row = [(int(v), 1.0) for v in self._slots[:, place]]
            self._program.require(row, least=target.number)
        solution = self._solve(self._moves, NODES)
        if highs.is_infeasible(solution):
            return NoPlacement.IMPOSSIBLE
        if solution.x is None:
            return NoPlacement.NOT_KNOWN
        bound = math.ceil(solution.mip_dual_bound - TOLERANCE)
        return self._tied(solution.x, bound)

    def most_slots(self, moves: float) -> Counted | None:
        """The most slots, then the fewest moves.

        Of flavors with a number so many count at most.

        :param moves: at most
        :returns: None: the branches were used up before there was one
        """
        if moves < np.inf:
            self._at_most(self._moves, moves)
        costs = np.zeros(self._program.width)
        for place, target in enumerate(self._targets):
            costs[self._slots[:, place]] = -1.0
            if target.number:
                row = [(int(v), 1.0) for v in self._slots[:, place]]
                self._program.require(row, most=target.number)
        solution = self._solve(costs, NODES)
        if solution.x is None:
            return None
        bound = math.floor(-solution.mip_dual_bound + TOLERANCE)
        slots = float(np.rint(solution.x[self._slots]).sum())
        self._at_most(costs, -slots)
        fewer = self._solve(self._moves, NODES)
        best = solution.x if fewer.x is None else fewer.x
        return self._tied(best, bound)

    def _tied(self, best: FloatArray, bound: float) -> Counted:
        """The least memory of as many moves."""
        self._at_most(self._moves, float(self._moves @ np.rint(best)))
        lighter = self._solve(self._memory, TIE_NODES)
        if lighter.x is not None:
            best = lighter.x
        amounts = np.rint(best).astype(np.intp)
        outs, ins = amounts[self._outs], amounts[self._ins]
        # What leaves and enters in the same way stays.
        outs, ins = outs - np.minimum(outs, ins), ins - np.minimum(outs, ins)
        columns = {
            host: Column(tuple(outs[host].tolist()), tuple(ins[host].tolist()))
            for host in np.flatnonzero((outs + ins).any(axis=1)).tolist()
        }
        slots = amounts[self._slots].sum(axis=0).tolist()
        return Counted(columns, tuple(slots), int(outs.sum()), bound)

    def _solve(self, costs: FloatArray, nodes: int) -> Any:
        return self._program.solve(costs, nodes)

    def _at_most(self, costs: FloatArray, most: float) -> None:
        row = [(int(v), float(costs[v])) for v in np.flatnonzero(costs)]
        self._program.require(row, most=most)

    def _most_slots(self, counts: IntArray) -> FloatArray:
        """[hosts, wanted], were every movable server gone."""
        most = np.maximum(
            self._cluster.free + counts @ self._cluster.demands, 0
        )
        columns = []
        for target in self._targets:
            demand = np.array(target.demand)
            needed = demand > 0
            columns.append((most[:, needed] // demand[needed]).min(axis=1))
        return np.stack(columns, axis=1).astype(float)

    def _balance(self) -> None:
        """What leaves of a kind enters elsewhere."""
        for kind in range(self._cluster.kinds):
            row: list[tuple[int, float]] = []
            for index, way in enumerate(self._cluster.ways):
                if way.kind == kind:
                    row += [(int(v), 1.0) for v in self._outs[:, index]]
                    row += [(int(v), -1.0) for v in self._ins[:, index]]
            self._program.require(row, most=0.0, least=0.0)

    def _capacity(self, host: int) -> None:
        """Rows of one host, by resource.

        An overfull resource may stay so: nothing that needs it enters then.
        """
        cluster = self._cluster
        for resource, free in enumerate(cluster.free[host].tolist()):
            entering = [
                (int(self._ins[host, way]), float(demand[resource]))
                for way, demand in enumerate(cluster.demands.tolist())
                if demand[resource]
            ] + [
                (int(self._slots[host, place]), float(target.demand[resource]))
                for place, target in enumerate(self._targets)
                if target.demand[resource]
            ]
            leaving = [
                (int(self._outs[host, way]), -float(demand[resource]))
                for way, demand in enumerate(cluster.demands.tolist())
                if demand[resource]
            ]
            if not entering:
                continue
            if free >= 0:
                self._program.require(entering + leaving, most=free)
                continue
            # 1 once the resource is no longer overfull.
            (mended,) = self._program.add(np.ones(1)).tolist()
            self._program.require(
                [*entering, *leaving, (mended, -float(free))], most=0.0
            )
            for variable, _ in entering:
                upper = np.concatenate(self._program.upper)[variable]
                self._program.require(
                    [(variable, 1.0), (mended, -float(upper))], most=0.0
                )
