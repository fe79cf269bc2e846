# SPDX-License-Identifier: Apache-2.0
"""The programs over columns: their prices, and the best choice of them.

HiGHS solves them, by scipy, which is an extra. It has limits of nodes only:
with a limit of time, two runs would not have the same plan.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.planning.proof.exact_model import solver as solver
from kronos.extensions.room.planning import columns
from kronos.extensions.room.planning.cluster import Cluster, HostClasses
from kronos.extensions.room.planning.columns import Column, Prices

NODES = 2_000
"""Branches for the most slots."""
TIE_NODES = 200
"""Branches for the fewest migrations of as many slots: it is no longer the
proof that needs them, and they may take long."""
TOLERANCE = 1e-6
BELOW_ONE = 0.99
"""Slots are whole: a plan that is nearer to the bound is the best."""


@dataclass(frozen=True)
class Relaxed:
    """The best mixture of columns, parts of them allowed."""

    slots: float
    prices: Prices


@dataclass
class Pool:
    """The columns of a cluster that have been priced, and their rows.

    Rows: what leaves of a kind also enters; the migrations; the hosts of each
    class.
    """

    cluster: Cluster
    classes: HostClasses
    moves: int
    """At most so many."""
    columns: list[Column] = field(default_factory=list)
    gains: list[int] = field(default_factory=list)
    outs: list[int] = field(default_factory=list)
    memory_mb: list[int] = field(default_factory=list)
    _nets: list[IntArray] = field(default_factory=list)
    _known: set[Column] = field(default_factory=set)

    def add(self, column: Column) -> bool:
        """:returns: whether it is new"""
        if column in self._known:
            return False
        self._known.add(column)
        self.columns.append(column)
        free = self.classes.free[column.host_class]
        self.gains.append(columns.gain(self.cluster, free, column))
        self.outs.append(sum(column.outs))
        self.memory_mb.append(
            sum(
                number * way.memory_mb
                for number, way in zip(
                    column.outs, self.cluster.ways, strict=True
                )
            )
        )
        outs = columns.by_kind(self.cluster, column.outs)
        self._nets.append(outs - columns.by_kind(self.cluster, column.ins))
        return True

    def relax(self) -> Relaxed:
        """Solve with parts of columns."""
        optimize = _optimize()
        gains = np.array(self.gains, dtype=float)
        solution = optimize.linprog(
            -gains,
            A_ub=self._rows(),
            b_ub=self._limits(),
            bounds=(0, None),
            method='highs',
        )
        duals = np.maximum(-solution.ineqlin.marginals, 0.0).tolist()
        kinds = self.cluster.kinds
        return Relaxed(
            float(-solution.fun), Prices(tuple(duals[:kinds]), duals[kinds])
        )

    def choose(
        self, most: int, cuts: Sequence[Sequence[int]] = ()
    ) -> list[int]:
        """Whole columns with the most slots, then the fewest migrations.

        :param most: slots that no plan exceeds
        :param cuts: choices of columns that may not be made together
        :returns: the chosen ones, as often as they are
        """
        gains = np.array(self.gains, dtype=float)
        gap = BELOW_ONE / max(1, most)
        chosen = self._solve(-gains, [], cuts, NODES, gap)
        if chosen is None or gains @ chosen < 1:
            return []
        total = sum(self.memory_mb) + 1
        costs = np.array(self.outs) + np.array(self.memory_mb) / total
        at_least = -float(gains @ chosen)
        fewer = self._solve(costs, [(-gains, at_least)], cuts, TIE_NODES, 0.0)
        if fewer is not None and costs @ fewer < costs @ chosen:
            chosen = fewer
        return [
            number
            for number, times in enumerate(chosen.tolist())
            for _ in range(times)
        ]

    def _solve(
        self,
        costs: FloatArray,
        rows: Sequence[tuple[FloatArray, float]],
        cuts: Sequence[Sequence[int]],
        nodes: int,
        gap: float,
    ) -> IntArray | None:
        from scipy import sparse

        optimize = _optimize()
        extra = [*rows, *(self._cut(cut) for cut in cuts)]
        matrix, limits = self._rows(), self._limits()
        if extra:
            more = sparse.csr_matrix(np.stack([row for row, _ in extra]))
            matrix = sparse.vstack([matrix, more], format='csr')
            limits = np.append(limits, [limit for _, limit in extra])
        classes = [column.host_class for column in self.columns]
        solution = optimize.milp(
            costs,
            constraints=optimize.LinearConstraint(matrix, -np.inf, limits),
            integrality=np.ones(len(costs)),
            bounds=optimize.Bounds(0, self.classes.sizes[classes]),
            options={'node_limit': nodes, 'mip_rel_gap': gap},
        )
        if solution.x is None:
            return None
        chosen: IntArray = np.rint(solution.x).astype(np.intp)
        return chosen

    def _cut(self, chosen: Sequence[int]) -> tuple[FloatArray, float]:
        row = np.zeros(len(self.columns))
        row[sorted(set(chosen))] = 1.0
        return row, len(chosen) - 1.0

    def _rows(self) -> Any:
        from scipy import sparse

        nets = np.stack(self._nets, axis=1)
        number = np.arange(len(self.columns))
        of_class = sparse.csr_matrix(
            (
                np.ones(len(number)),
                ([column.host_class for column in self.columns], number),
            ),
            shape=(len(self.classes.sizes), len(number)),
        )
        return sparse.vstack(
            [
                sparse.csr_matrix(nets),
                sparse.csr_matrix(np.array([self.outs])),
                of_class,
            ],
            format='csr',
        )

    def _limits(self) -> FloatArray:
        kinds = np.zeros(self.cluster.kinds)
        return np.concatenate([kinds, [self.moves], self.classes.sizes])


def whole(slots: float) -> int:
    """The whole slots below a bound."""
    return math.floor(slots + TOLERANCE)


def _optimize() -> Any:
    optimize = solver()
    if optimize is None:
        raise RuntimeError('scipy is not installed')
    return optimize
