# SPDX-License-Identifier: Apache-2.0
"""The exact model: the placements of a relaxed scope as an integer program.

One binary variable says of a pair whether an instance ends on a host; the
highest and the lowest value of each policy are variables, too. HiGHS solves
it, by scipy, which is an extra: without it there is no model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from kronos.common.processes import standard_output
from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning.proof.lp_relaxation import LpRelaxation

TOLERANCE = 1e-5
"""The solver takes a row for kept that is broken by a tenth of this."""
NODES = 20_000
"""So many branches, whatever the time: it takes a minute or more."""
OPTIMAL = 0
"""How scipy says that there is no better placement."""
HALF = 0.5


@dataclass(frozen=True)
class Solution:
    """What the solver found out; nothing, if it had no time."""

    bound: float = 0.0
    """No placement is below."""
    value: float = math.inf
    """Of the best placement found."""
    moves: list[tuple[int, int]] = field(default_factory=list)
    """Instances and where it has them."""
    is_proven: bool = False
    """Whether none is better."""


def solver() -> ModuleType | None:
    """What solves, if it is installed."""
    try:
        from scipy import optimize
    except ImportError:
        return None
    module: ModuleType = optimize
    return module


@dataclass
class _Rows:
    """Linear rows, low <= sum of factors x variables <= high."""

    columns: list[IntArray] = field(default_factory=list)
    factors: list[FloatArray] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, columns: Any, factors: Any, low: float, high: float) -> None:
        self.columns.append(np.asarray(columns, dtype=np.intp))
        self.factors.append(np.asarray(factors, dtype=float))
        self.low.append(low)
        self.high.append(high)

    def matrix(self, width: int) -> Any:
        from scipy import sparse

        lengths = [len(columns) for columns in self.columns]
        shape = len(lengths), width
        return sparse.csr_matrix(
            (
                np.concatenate(self.factors),
                np.concatenate(self.columns),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            shape=shape,
        )


class ExactModel:
    """The program of one scope, all of whose hosts were looked at.

    :param levels: what counting says of the highest hosts and, negative, of
        the lowest; they are rows, too
    """

    def __init__(
        self, scope: LpRelaxation, levels: tuple[float, float]
    ) -> None:
        self._scope = scope
        pairs = [
            (instance, host)
            for host in sorted(scope.entrances)
            for instance in np.flatnonzero(scope.entrances[host]).tolist()
            if scope.host_of[instance] != host
        ]
        ends = np.array(pairs, dtype=np.intp).reshape(len(pairs), 2)
        self._instances: IntArray = ends[:, 0]
        self._hosts: IntArray = ends[:, 1]
        self._sources: IntArray = scope.host_of[self._instances]
        self._policies = len(scope.weights)
        self._rows = _Rows()
        self._number_of_moves()
        self._imbalances(levels)
        for host in range(scope.scores.shape[1]):
            self._host(host)

    def solve(self, seconds: float, gap: float = 0.0) -> Solution:
        """Seek the placement with the least combined imbalance.

        :param seconds: after so many it gives up; it knows nothing after none
        :param gap: it may stop when none is lower by more than this ratio
        """
        optimize = solver()
        if optimize is None or not len(self._instances) or seconds <= 0.0:
            return Solution()
        weights = self._scope.weights
        costs = np.concatenate(
            [np.zeros(len(self._instances)), weights, -weights]
        )
        constraints = optimize.LinearConstraint(
            self._rows.matrix(len(costs)), self._rows.low, self._rows.high
        )
        # HiGHS prints to stdout, where a command's JSON goes.
        with standard_output.closed():
            solution = optimize.milp(
                costs,
                integrality=np.arange(len(costs)) < len(self._instances),
                bounds=optimize.Bounds(*self._bounds()),
                constraints=constraints,
                options={
                    'time_limit': seconds,
                    'node_limit': NODES,
                    'mip_rel_gap': gap,
                },
            )
        return self._answer(solution)

    def exclude(self, moves: Sequence[tuple[int, int]]) -> None:
        """Seek another placement than the one that moves lead to."""
        chosen = self._chosen(moves)
        signs = np.where(chosen, 1.0, -1.0)
        every = np.arange(len(signs))
        self._rows.add(every, signs, -np.inf, len(moves) - 1)

    def block(self, moves: Sequence[tuple[int, int]]) -> None:
        """Seek no placement in which moves block each other.

        They have no order for want of room. More room there is only made
        by what leaves one of their destinations besides.
        """
        chosen = self._chosen(moves)
        helps = np.isin(self._sources, [host for _, host in moves]) & ~chosen
        signs = chosen.astype(float) - helps
        every = np.flatnonzero(signs)
        self._rows.add(every, signs[every], -np.inf, len(moves) - 1)

    def begin_with(self, alone: BoolArray, exchanged: BoolArray) -> None:
        """Seek a placement to which the way begins with one of some moves.

        :param alone: [V, H], single moves
        :param exchanged: [V, H], halves of swaps: two of them
        """
        ends = self._instances, self._hosts
        factors = np.where(alone[ends], 1.0, HALF * exchanged[ends])
        every = np.flatnonzero(factors)
        self._rows.add(every, factors[every], 1.0, np.inf)

    def _chosen(self, moves: Sequence[tuple[int, int]]) -> BoolArray:
        chosen = set(moves)
        pairs = zip(
            self._instances.tolist(), self._hosts.tolist(), strict=True
        )
        return np.array([pair in chosen for pair in pairs], dtype=bool)

    def _answer(self, solution: Any) -> Solution:
        bound = solution.mip_dual_bound
        if solution.x is None or bound is None or not math.isfinite(bound):
            return Solution()
        chosen = np.flatnonzero(solution.x[: len(self._instances)] > HALF)
        return Solution(
            bound=float(bound) - TOLERANCE,
            value=float(solution.fun),
            moves=[
                (int(self._instances[pair]), int(self._hosts[pair]))
                for pair in chosen
            ],
            is_proven=solution.status == OPTIMAL,
        )

    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        """Pairs are 0 or 1; the highest is above, the lowest below a mean."""
        pairs, (least, most) = len(self._instances), self._scope.means()
        low = np.concatenate(
            [np.zeros(pairs), least, np.full(len(least), -np.inf)]
        )
        high = np.concatenate(
            [np.ones(pairs), np.full(len(most), np.inf), most]
        )
        return low, high

    def _number_of_moves(self) -> None:
        every = np.arange(len(self._instances))
        ones = np.ones(len(every))
        self._rows.add(every, ones, 0, self._scope.moves)
        for instance in np.unique(self._instances).tolist():
            own = np.flatnonzero(self._instances == instance)
            self._rows.add(own, np.ones(len(own)), 0, 1)

    def _imbalances(self, levels: tuple[float, float]) -> None:
        pairs, policies = len(self._instances), self._policies
        for p, most in enumerate(self._scope.ceilings.tolist()):
            ends = [pairs + p, pairs + policies + p]
            self._rows.add(ends, [1.0, -1.0], 0.0, most + TOLERANCE)
        weights = self._scope.weights
        for number, (sign, level) in enumerate(
            zip((1.0, -1.0), levels, strict=True)
        ):
            first = pairs + number * policies
            columns = np.arange(first, first + policies)
            self._rows.add(columns, sign * weights, level, np.inf)

    def _host(self, host: int) -> None:
        """What leaves a host and comes to it, in each policy and resource."""
        leaving = np.flatnonzero(self._sources == host)
        entering = np.flatnonzero(self._hosts == host)
        both = np.concatenate([leaving, entering])
        self._levels(host, both, len(leaving))
        if not len(entering):
            return
        for need, free in self._scope.free_capacities:
            # An overfull host may stay so.
            self._rows.add(
                *self._change(both, len(leaving), need / max(1, need.max())),
                -np.inf,
                max(0, int(free[host])) / max(1, need.max()),
            )
        for members, on, most in self._scope.apart:
            own = np.isin(self._instances[both], members)
            number = int(own[: len(leaving)].sum())
            count = on.get(host, 0)
            columns, factors = self._change(
                both[own], number, np.ones(len(self._scope.host_of))
            )
            self._rows.add(columns, factors, -np.inf, max(0, most - count))

    def _levels(self, host: int, both: IntArray, leaving: int) -> None:
        pairs, policies = len(self._instances), self._policies
        for p in np.flatnonzero(self._scope.judged[:, host]).tolist():
            share = self._scope.usage[p] / self._scope.capacity[p, host]
            columns, factors = self._change(both, leaving, share)
            score = float(self._scope.scores[p, host])
            for level, low, high in (
                (pairs + p, -np.inf, -score),
                (pairs + policies + p, -score, np.inf),
            ):
                self._rows.add(
                    np.append(columns, level),
                    np.append(factors, -1.0),
                    low,
                    high,
                )

    def _change(
        self, both: IntArray, leaving: int, share: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """What pairs make of a host: the first of them leave it."""
        factors = share[self._instances[both]]
        factors[:leaving] *= -1.0
        return both, factors
