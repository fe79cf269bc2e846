# SPDX-License-Identifier: Apache-2.0
"""The costs of a drain: what each move off a drained host adds at least.

The cost is what a move adds to the highest scores, and its price for soft
rules. It is kept for all pairs and changes with the column that was
entered, or if a highest score does.
"""

from collections.abc import Iterator

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.simulation.simulation import Simulation

PAIRS_AT_ONCE = 2**15
"""Pairs looked at in one go: arrays of 256 KiB stay in the cache."""


class DrainCosts:
    """The instances that have not left yet [n], and the hosts [D].

    :param simulation: in phase evacuate
    :param instances: those that are to leave
    :param penalty: in combined imbalance, for each soft rule that is broken
        and does not veto
    """

    def __init__(
        self, simulation: Simulation, instances: IntArray, penalty: float
    ) -> None:
        self._simulation = simulation
        self._utilization = simulation.utilization
        self._penalty = penalty
        # Only what counts is a destination.
        self._hosts = np.flatnonzero(simulation.utilization.counts)
        self._column_of = np.cumsum(simulation.utilization.counts) - 1
        self._instances = instances.copy()
        self._remaining = len(instances)
        """The rows from here on have left."""
        shape = len(instances), len(self._hosts)
        self._legal: BoolArray = np.zeros(shape, dtype=bool)
        # Who shares no soft group with anyone breaks no soft rule at any
        # host, and never will.
        self._is_priced: BoolArray = np.zeros(len(instances), dtype=bool)
        rules = simulation.constraints
        for part in self._parts():
            some = self._instances[part]
            self._legal[part] = rules.hard_rows(some)[:, self._hosts]
            self._is_priced[part] = rules.soft_breaks_rows(some).any(axis=1)
        self._costs: FloatArray = np.zeros(shape)
        self._is_free: BoolArray = np.zeros(shape, dtype=bool)
        self._highest: list[float] = []
        """The highest scores that costs are known for."""
        self._row_of_price: IntArray = np.zeros(0, dtype=np.intp)
        self._prices: FloatArray = np.zeros((1, len(self._hosts)))

    @property
    def cost(self) -> FloatArray:
        """[n, D]; infinite where a hard rule forbids the move."""
        return self._costs[: self._remaining]

    @property
    def free(self) -> BoolArray:
        """[n, D]; legal, raises no highest score and breaks no rule."""
        return self._is_free[: self._remaining]

    def to(self, host: int) -> IntArray:
        """The instances that may go to a host, by hard rules."""
        legal = self._legal[: self._remaining, self._column_of[host]]
        return self._instances[: self._remaining][legal]

    def pairs(
        self, rows: IntArray, columns: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """The instances, hosts and prices of some elements."""
        prices = self._prices[self._row_of_price[rows], columns]
        return self._instances[rows], self._hosts[columns], prices

    def follow(self, instance: int, destination: int) -> None:
        """Take note of a move that was made."""
        rows = self._instances[: self._remaining]
        row = int(np.flatnonzero(rows == instance)[0])
        self._remaining -= 1
        last = self._remaining
        self._instances[row] = self._instances[last]
        self._is_priced[row] = self._is_priced[last]
        self._legal[row] = self._legal[last]
        self._costs[row] = self._costs[last]
        self._is_free[row] = self._is_free[last]
        # No rule looks further than at the two hosts of a move, and the
        # host that was left takes nothing. Only soft rules and budgets do.
        column = int(self._column_of[destination])
        allowed = self._simulation.constraints.hard_column(destination)
        self._legal[:last, column] = allowed[self._instances[:last]]
        rows = self._instances[:last]
        spent = ~self._simulation.constraints.within_budgets(rows)
        self._legal[:last][spent] = False
        self._costs[:last][spent] = np.inf
        self._is_free[:last][spent] = False
        if self._highest == self._highest_now():
            self._estimate(np.arange(last), slice(column, column + 1))
        else:
            self._highest = []

    def refresh(self) -> None:
        """Bring ``cost`` and ``free`` up to date."""
        if self._highest != self._highest_now():
            self._highest = self._highest_now()
            for part in self._parts():
                self._estimate(part, slice(None))
        priced = np.flatnonzero(self._is_priced[: self._remaining])
        self._row_of_price = np.zeros(self._remaining, dtype=np.intp)
        self._row_of_price[priced] = np.arange(1, len(priced) + 1)
        self._prices = np.zeros((len(priced) + 1, len(self._hosts)))
        if not priced.size:
            return
        breaks = self._simulation.constraints.soft_breaks_rows(
            self._instances[priced]
        )
        self._prices[1:] = breaks[:, self._hosts] * self._penalty
        self._estimate(priced, slice(None))
        self._costs[priced] += self._prices[1:]
        self._is_free[priced] &= self._prices[1:] == 0.0

    def _highest_now(self) -> list[float]:
        return [highest.values[0] for highest in self._utilization.highest]

    def _parts(self) -> Iterator[slice]:
        size = max(1, PAIRS_AT_ONCE // len(self._utilization.index.hosts))
        for start in range(0, self._remaining, size):
            yield slice(start, min(start + size, self._remaining))

    def _estimate(self, rows: IntArray | slice, columns: slice) -> None:
        """Without the prices, which change with any move of a group."""
        utilization, hosts = self._utilization, self._hosts[columns]
        instances = self._instances[rows][:, None]
        legal = self._legal[rows, columns]
        cost: FloatArray = np.zeros(legal.shape)
        free = legal.copy()
        sources = self._simulation.placement.host_of[instances]
        _, entered = utilization.scores_after(
            instances, sources, hosts[None, :]
        )
        for p, highest in enumerate(self._highest):
            added = np.maximum(entered[p] - highest, 0.0)
            free &= added == 0.0
            cost += utilization.weights[p] * added
        self._costs[rows, columns] = np.where(legal, cost, np.inf)
        self._is_free[rows, columns] = free

    def flattest(self, slack: float) -> tuple[IntArray, IntArray]:
        """Of the free moves those that lower the variance most.

        Roughly, as a product of two matrices: also those that lower it by
        up to ``slack`` less.

        :returns: the instances and their destinations
        """
        by_host = self._by_host()
        most = -np.inf
        moves: list[tuple[IntArray, IntArray, FloatArray]] = []
        for part in self._parts():
            free = self._is_free[part]
            used = self._utilization.usage[:, self._instances[part]]
            weighted = self._utilization.weights[:, None] * used
            by_instance = np.concatenate([weighted, weighted * used]).T
            drops = np.where(free, by_instance @ by_host, -np.inf)
            highest = float(drops.max())
            most = max(most, highest)
            if highest == -np.inf or highest < most - slack:
                continue
            rows, columns = np.nonzero(drops >= most - slack)
            moves.append(
                (rows + part.start, columns, drops[rows, columns]),
            )
        rows, columns, falls = (
            np.concatenate(arrays) for arrays in zip(*moves, strict=True)
        )
        good = falls >= most - slack
        return self._instances[rows[good]], self._hosts[columns[good]]

    def _by_host(self) -> FloatArray:
        """[2 P, D]: what a usage and its square lower the variance by."""
        number = len(self._hosts)
        scores = self._utilization.scores[:, self._hosts]
        above = scores - scores.mean(axis=1, keepdims=True)
        share = 1.0 / self._utilization.capacity[:, self._hosts]
        return np.concatenate(
            [-2.0 * above * share, (1.0 / number - 1.0) * share * share]
        )
