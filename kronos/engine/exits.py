# SPDX-License-Identifier: Apache-2.0
"""Which instance leaves next, and to where? The search of a drain (G6).

Exact pruning, so that no step looks at all pairs of an instance and a host.
The hosts that are left do not count and usages are not negative, so a move
changes one score, and that one grows. The imbalance of a policy then falls
only if the move enters its only lowest host: these columns are judged
anew. Everywhere else a pair gains at most ``-cost``: what it adds to the
highest scores, which is known of all pairs and changes with the column that
was entered, or with a highest score. It is looked at where no lowest host
takes anything.
"""

from collections.abc import Iterator

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.draft import Draft

PAIRS_AT_ONCE = 2**15
"""Pairs looked at in one go: arrays of 256 KiB stay in the cache."""
FIRST_PAIRS = 2**12
"""So many of the cheapest pairs are judged before more are."""

SLACK = 2 * EPSILON
"""What is left out by an estimate is worse by more than this: estimates
differ from what is judged by 1e-15, and equals by up to EPSILON."""

Pair = tuple[int, int]
"""An instance and its destination."""
Judged = tuple[IntArray, IntArray, FloatArray]
"""N instances, their destinations and what the moves gain."""


class Exits:
    """The moves off the hosts that are emptied, in mode spread.

    :param draft: in phase evacuate
    :param instances: those that are to leave [n]
    :param hears: whether a policy's objection to a move counts
    :param penalty: in combined imbalance, for each soft rule that is broken
        and does not veto
    """

    def __init__(
        self, draft: Draft, instances: IntArray, hears: bool, penalty: float
    ) -> None:
        self._draft = draft
        self._state = draft.state
        self._hears = hears
        self._penalty = penalty
        # Only what counts is a destination; [D] of the hosts.
        self._hosts = np.flatnonzero(draft.state.counts)
        self._column_of = np.cumsum(draft.state.counts) - 1
        self._instances = instances.copy()
        self._left = len(instances)
        """The rows from here on have left."""
        self._legal = self._legal_pairs()
        shape = self._legal.shape if self._left else (0, 0)
        self._cost: FloatArray = np.zeros(shape)
        self._free: BoolArray = np.zeros(shape, dtype=bool)
        """Legal, and adds to no highest score."""
        self._highest: list[float] = []
        """The highest scores that costs are known for."""

    def best(self) -> Pair | None:
        """The pair that leaves the combined imbalance and price lowest.

        Of equals the one that lowers the variance most, then the one with
        the least memory, then the first by uuid and name of the host.
        """
        if not self._left:
            return None
        found = self._into_lowest()
        if _most(found) <= SLACK:
            found = self._with_the_rest(found)
        best = _most(found)
        if best == -np.inf:
            return None
        equal = found[2] >= best - EPSILON
        return self._of_equals(found[0][equal], found[1][equal])

    def follow(self, instance: int, destination: int) -> None:
        """Take note of a move that was made."""
        row = int(np.flatnonzero(self._rows() == instance)[0])
        self._left -= 1
        for kept in (self._instances, self._legal, self._cost, self._free):
            kept[row] = kept[self._left]
        # No rule looks further than at the two hosts of a move, and the
        # host that was left takes nothing. Only a soft rule does.
        column = int(self._column_of[destination])
        allowed = self._draft.constraints.hard_column(destination)
        self._legal[: self._left, column] = allowed[self._rows()]
        if self._highest == self._highest_now():
            self._estimate(slice(0, self._left), slice(column, column + 1))
        else:
            self._highest = []

    def _rows(self) -> IntArray:
        return self._instances[: self._left]

    def _legal_pairs(self) -> BoolArray:
        """[n, D]"""
        legal = np.zeros((self._left, len(self._hosts)), dtype=bool)
        for part in self._parts():
            rows = self._draft.constraints.hard_rows(self._instances[part])
            legal[part] = rows[:, self._hosts]
        return legal

    def _parts(self) -> Iterator[slice]:
        size = max(1, PAIRS_AT_ONCE // len(self._state.index.hosts))
        for start in range(0, self._left, size):
            yield slice(start, min(start + size, self._left))

    def _into_lowest(self) -> Judged:
        """All that may enter the only lowest host of some policy."""
        hosts = sorted(
            {
                lowest.hosts[0]
                for lowest in self._state.lowest
                if lowest.values[0] < lowest.values[1]
            }
        )
        found = []
        for host in hosts:
            column = self._column_of[host]
            good = np.flatnonzero(self._legal[: self._left, column])
            instances = self._rows()[good]
            price: FloatArray | None = None
            if self._draft.constraints.weighs_soft_rules:
                breaks = self._draft.constraints.soft_breaks_column(host)
                price = np.multiply(breaks[instances], self._penalty)
            to = np.full(len(instances), host, dtype=np.intp)
            found.append(self._judge(instances, to, price))
        return _joined(found)

    def _judge(
        self, instances: IntArray, hosts: IntArray, price: FloatArray | None
    ) -> Judged:
        """What legal moves gain, less their price; without the objected."""
        found = []
        for part in _cuts(len(instances)):
            some, to = instances[part], hosts[part]
            sources = self._state.host_of[some]
            _, entered = self._state.shifted(some, sources, to)
            # A source does not count, so the destination is both ends.
            gains, objected = self._state.judge(to, to, entered, entered)
            if price is not None:
                gains = gains - price[part]
            good = ~(objected & self._hears)
            found.append((some[good], to[good], gains[good]))
        return _joined(found)

    def _with_the_rest(self, found: Judged) -> Judged:
        """The pairs that are best where no lowest host gains by any."""
        self._estimate_all()
        cost, free = self._cost[: self._left], self._free[: self._left]
        price = self._price()
        if price is not None:
            cost, free = cost + price, free & (price == 0.0)
        if not free.any():
            return self._cheapest(found, cost, price)
        pairs = self._at(np.nonzero((cost <= SLACK) & ~free), price)
        return _joined([found, pairs, self._flattest(free)])

    def _cheapest(
        self, found: Judged, cost: FloatArray, price: FloatArray | None
    ) -> Judged:
        """Judge the pairs by cost until the others cannot be best.

        :param found: what is judged already
        """
        number = FIRST_PAIRS
        limit = float(cost.min()) + 2 * SLACK
        while np.isfinite(limit):
            pairs = self._at(np.nonzero(cost <= limit), price)
            both = _joined([found, pairs])
            if limit >= SLACK - _most(both):
                return both
            if number >= cost.size:
                break
            limit = float(np.partition(cost, number, axis=None)[number])
            number *= 8
        every = self._at(np.nonzero(np.isfinite(cost)), price)
        return _joined([found, every])

    def _at(
        self, at: tuple[IntArray, ...], price: FloatArray | None
    ) -> Judged:
        rows, columns = at
        some = None if price is None else price[rows, columns]
        return self._judge(self._rows()[rows], self._hosts[columns], some)

    def _price(self) -> FloatArray | None:
        """[n, D], in combined imbalance; None where soft rules veto."""
        if not self._draft.constraints.weighs_soft_rules:
            return None
        breaks = self._draft.constraints.soft_breaks_rows(self._rows())
        price: FloatArray = np.multiply(breaks[:, self._hosts], self._penalty)
        return price

    def _highest_now(self) -> list[float]:
        return [highest.values[0] for highest in self._state.highest]

    def _estimate_all(self) -> None:
        if self._highest != self._highest_now():
            self._highest = self._highest_now()
            for part in self._parts():
                self._estimate(part, slice(None))

    def _estimate(self, rows: slice, columns: slice) -> None:
        """What pairs add to the highest scores; infinite if illegal."""
        state, hosts = self._state, self._hosts[columns]
        instances = self._instances[rows][:, None]
        legal = self._legal[rows, columns]
        cost: FloatArray = np.zeros(legal.shape)
        free = legal.copy()
        sources = state.host_of[instances]
        _, entered = state.shifted(instances, sources, hosts[None, :])
        for p, highest in enumerate(self._highest):
            added = np.maximum(entered[p] - highest, 0.0)
            free &= added == 0.0
            cost += state.weights[p] * added
        self._cost[rows, columns] = np.where(legal, cost, np.inf)
        self._free[rows, columns] = free

    def _flattest(self, free: BoolArray) -> Judged:
        """Of moves at no cost those that lower the variance most.

        Roughly, as a product of two matrices; a few more are among them.
        They gain nothing, exactly: no highest or lowest score changes.
        """
        state, hosts = self._state, self._hosts
        number = len(hosts)
        scores = state.scores[:, hosts]
        above = scores - scores.mean(axis=1, keepdims=True)
        share = 1.0 / state.capacity[:, hosts]
        by_host = np.concatenate(
            [2.0 * above * share, (1.0 - 1.0 / number) * share * share]
        )
        most = -np.inf
        found: list[Judged] = []
        for part in self._parts():
            used = state.usage[:, self._instances[part]]
            weighted = state.weights[:, None] * used
            by_instance = np.concatenate([weighted, weighted * used]).T
            drops = np.where(free[part], -(by_instance @ by_host), -np.inf)
            most = max(most, float(drops.max()))
            rows, columns = np.nonzero(free[part] & (drops >= most - SLACK))
            found.append(
                (
                    self._instances[part][rows],
                    hosts[columns],
                    drops[rows, columns],
                )
            )
        instances, to, drops = _joined(found)
        good = drops >= most - SLACK
        return instances[good], to[good], np.zeros(int(good.sum()))

    def _of_equals(self, instances: IntArray, hosts: IntArray) -> Pair:
        if len(instances) > 1:
            drops = np.concatenate(
                [
                    self._drops(instances[part], hosts[part])
                    for part in _cuts(len(instances))
                ]
            )
            equal = drops >= drops.max() - EPSILON
            instances, hosts = instances[equal], hosts[equal]
            memory = self._state.memory_mb[instances]
            lightest = memory == memory.min()
            instances, hosts = instances[lightest], hosts[lightest]
        first = np.lexsort((hosts, instances))[0]
        return int(instances[first]), int(hosts[first])

    def _drops(self, instances: IntArray, hosts: IntArray) -> FloatArray:
        sources = self._state.host_of[instances]
        ends = self._state.shifted(instances, sources, hosts)
        return self._state.scatter_drop(sources, hosts, *ends)


def _most(judged: Judged) -> float:
    """The largest gain; -inf if there is none."""
    return float(judged[2].max(initial=-np.inf))


def _joined(found: list[Judged]) -> Judged:
    if not found:
        none = np.zeros(0, dtype=np.intp)
        return none, none, np.zeros(0)
    instances, hosts, gains = zip(*found, strict=True)
    return (
        np.concatenate(instances),
        np.concatenate(hosts),
        np.concatenate(gains),
    )


def _cuts(number: int) -> Iterator[slice]:
    for start in range(0, number, PAIRS_AT_ONCE):
        yield slice(start, start + PAIRS_AT_ONCE)
