# SPDX-License-Identifier: Apache-2.0
"""The programs over trades: their prices, and the best choice of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.extensions.room.planning import highs
from kronos.extensions.room.planning.market.goods import Market, Prices, Trade

NODES = 1_000
TIE_NODES = 200
BELOW_ONE = 0.99
MISSING = 30.0
"""What a slot that is not made costs, in moves: so there always is a
mixture."""


class Aim(Enum):
    """What a program is for."""

    MOST = 'most'
    """The most slots with at most so many moves."""
    FEWEST = 'fewest'
    """The fewest moves for the wanted numbers."""
    POSSIBLE = 'possible'
    """Whether any number of moves gives them: the fewest missing slots."""


@dataclass(frozen=True)
class Mixture:
    """The best mixture of trades, parts of them allowed."""

    value: float
    """Slots, moves, or missing slots, by the aim."""
    prices: Prices


@dataclass
class Master:
    """The trades that are known, and the programs over them.

    Rows: what leaves of a kind also enters; the moves, or the wanted slots;
    the hosts of each class.
    """

    market: Market
    aim: Aim
    moves: float = np.inf
    """At most so many, where the most slots are sought."""
    trades: list[Trade] = field(default_factory=list)
    _known: set[Trade] = field(default_factory=set)

    def add(self, trade: Trade) -> bool:
        """:returns: whether it is new"""
        if trade in self._known:
            return False
        self._known.add(trade)
        self.trades.append(trade)
        return True

    @property
    def outs(self) -> IntArray:
        """Servers that leave, [trades]."""
        total: IntArray = self._array('outs').sum(axis=1)
        return total

    @property
    def _weighted(self) -> FloatArray:
        """What the moves of servers that leave count, [trades]."""
        weighted: FloatArray = self._array('outs') @ self.market.weights
        return weighted

    @property
    def slots(self) -> IntArray:
        """[trades, wanted]."""
        return self._array('slots')

    def mixed(self) -> Mixture:
        """Solve with parts of trades."""
        from scipy import sparse

        matrix, limits = self._rows()
        costs = self._costs()
        if self.aim is not Aim.MOST:
            number = len(self.market.slots)
            price = 1.0
            if self.aim is Aim.FEWEST:
                price = MISSING * float(self.market.weights.max(initial=1.0))
            first = self.market.kinds
            missing = sparse.csr_matrix(
                (
                    -np.ones(number),
                    (first + np.arange(number), np.arange(number)),
                ),
                shape=(matrix.shape[0], number),
            )
            matrix = sparse.hstack([matrix, missing], format='csr')
            costs = np.append(costs, np.full(number, price))
        solution = highs.mixed(costs, matrix, limits)
        duals = np.maximum(-solution.ineqlin.marginals, 0.0)
        return self._mixture(float(solution.fun), duals)

    def _mixture(self, value: float, duals: FloatArray) -> Mixture:
        kinds, slots = self.market.kinds, len(self.market.slots)
        rest = duals[kinds:]
        if self.aim is Aim.MOST:
            prices = Prices(duals[:kinds], float(rest[0]), np.ones(slots))
            return Mixture(-value, prices)
        move = 1.0 if self.aim is Aim.FEWEST else 0.0
        return Mixture(value, Prices(duals[:kinds], move, rest[:slots]))

    def chosen(
        self, best: int, cuts: Sequence[Sequence[int]] = ()
    ) -> list[int] | None:
        """Whole trades that are best, then of the fewest moves and memory.

        :param best: slots that no plan exceeds
        :param cuts: choices that may not be made together
        :returns: the chosen ones, as often as they are; None: there are none
        """
        memory = self._array('outs') @ self.market.memory_mb
        lightest = self._weighted + memory / (float(memory.sum()) + 1.0)
        if self.aim is Aim.MOST:
            counts = self._most(best, lightest, cuts)
        else:
            counts = self._solve(lightest, [], cuts, NODES, 1e-4)
        if counts is None:
            return None
        return [
            number
            for number, times in enumerate(counts.tolist())
            for _ in range(times)
        ]

    def _most(
        self,
        best: int,
        lightest: FloatArray,
        cuts: Sequence[Sequence[int]],
    ) -> IntArray | None:
        """How often each trade is made for the most slots."""
        gains = self._costs()
        row = gains, -float(best)
        counts = self._solve(lightest, [row], cuts, TIE_NODES, 1e-4, True)
        if counts is not None:  # one program instead of two, most often
            return counts
        gap = BELOW_ONE / max(1, best)
        counts = self._solve(gains, [], cuts, NODES, gap)
        if counts is None:
            return None
        row = gains, float(gains @ counts)
        fewer = self._solve(lightest, [row], cuts, TIE_NODES, 1e-4)
        if fewer is not None and lightest @ fewer < lightest @ counts:
            counts = fewer
        return counts

    def _solve(
        self,
        costs: FloatArray,
        rows: Sequence[tuple[FloatArray, float]],
        cuts: Sequence[Sequence[int]],
        nodes: int,
        gap: float,
        proven: bool = False,
    ) -> IntArray | None:
        """How often each trade is made at least costs; None: not known.

        :param proven: whether numbers are of no use that may not be the best
        """
        from scipy import sparse

        matrix, limits = self._rows()
        extra = [*rows, *(self._cut(cut) for cut in cuts)]
        if extra:
            more = sparse.csr_matrix(np.stack([row for row, _ in extra]))
            matrix = sparse.vstack([matrix, more], format='csr')
            limits = np.append(limits, [limit for _, limit in extra])
        classes = [trade.host_class for trade in self.trades]
        solution = highs.whole(
            costs,
            matrix,
            (np.full(len(limits), -np.inf), limits),
            self.market.sizes[classes].astype(float),
            {'node_limit': nodes, 'mip_rel_gap': gap},
        )
        if solution.x is None or (proven and not solution.success):
            return None
        chosen: IntArray = np.rint(solution.x).astype(np.intp)
        return chosen

    def _cut(self, chosen: Sequence[int]) -> tuple[FloatArray, float]:
        row = np.zeros(len(self.trades))
        row[sorted(set(chosen))] = 1.0
        return row, len(chosen) - 1.0

    def _costs(self) -> FloatArray:
        if self.aim is Aim.MOST:
            gains: FloatArray = -self.slots.sum(axis=1).astype(float)
            return gains
        if self.aim is Aim.FEWEST:
            return self._weighted
        return np.zeros(len(self.trades))

    def _array(self, name: str) -> IntArray:
        width = {'slots': len(self.market.slots)}
        rows = [getattr(trade, name) for trade in self.trades]
        shape = len(rows), width.get(name, len(self.market.kind_of))
        return np.array(rows, dtype=np.intp).reshape(shape)

    def _rows(self) -> tuple[Any, FloatArray]:
        from scipy import sparse

        market, number = self.market, np.arange(len(self.trades))
        ways = np.zeros((len(market.kind_of), market.kinds), dtype=np.intp)
        ways[np.arange(len(market.kind_of)), market.kind_of] = 1
        nets = (self._array('outs') - self._array('ins')) @ ways
        of_class = sparse.csr_matrix(
            (
                np.ones(len(number)),
                ([trade.host_class for trade in self.trades], number),
            ),
            shape=(len(market.sizes), len(number)),
        )
        middle, limit = -self.slots.T, -market.numbers.astype(float)
        if self.aim is Aim.MOST:
            middle, limit = self.outs[None, :], np.array([self.moves])
        rows = [sparse.csr_matrix(nets.T), sparse.csr_matrix(middle), of_class]
        limits = np.concatenate(
            [np.zeros(market.kinds), limit, market.sizes.astype(float)]
        )
        return sparse.vstack(rows, format='csr'), limits
