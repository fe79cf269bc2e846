# SPDX-License-Identifier: Apache-2.0
"""The drain search: which instance leaves next, and where to.

Exact pruning, so that no step judges all pairs of an instance and a host.
The hosts that are left do not count and usages are not negative, so a move
changes one score, and that one grows. The imbalance of a policy then falls
only if the move enters its only lowest host: these columns are judged
anew. Everywhere else a pair gains at most ``-cost`` (``drain_costs``). That is
looked at where no lowest host takes anything.
"""

from collections.abc import Iterator

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.drain_costs import DrainCosts
from kronos.engine.simulation.simulation import Simulation

PAIRS_AT_ONCE = 2**15
"""Pairs judged in one go: arrays of 256 KiB stay in the cache."""
FIRST_PAIRS = 2**12
"""So many of the cheapest pairs are judged before more are."""

SLACK = 2 * EPSILON
"""What is left out by an estimate is worse by more than this: estimates
differ from what is judged by 1e-15, and equals by up to EPSILON."""

Move = tuple[int, int]
"""An instance and its destination."""
Judged = tuple[IntArray, IntArray, FloatArray]
"""N instances, their destinations and what the moves gain."""


class DrainMoves:
    """The moves off the hosts that are emptied, in mode spread.

    :param simulation: in phase evacuate
    :param instances: those that are to leave [n]
    :param penalty: in combined imbalance, for each soft rule that is broken
        and does not veto
    """

    def __init__(
        self,
        simulation: Simulation,
        instances: IntArray,
        penalty: float,
    ) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._penalty = penalty
        self._costs = DrainCosts(simulation, instances, penalty)

    def best(self) -> Move | None:
        """The pair that leaves the combined imbalance and price lowest.

        Of equals the one that lowers the variance most, then the one with
        the least memory, then the first by uuid and name of the host.
        """
        judged = self._into_lowest()
        if _most(judged) <= SLACK:
            judged = self._with_the_rest(judged)
        instances, hosts, gains = judged
        if _most(judged) == -np.inf:
            return None
        position = ranking.best(
            gains,
            lambda ties: self._drops(instances[ties], hosts[ties]),
            self._utilization.memory_mb[instances],
            instances,
            hosts,
        )
        return int(instances[position]), int(hosts[position])

    def follow(self, instance: int, destination: int) -> None:
        """Take note of a move that was made."""
        self._costs.follow(instance, destination)

    def _into_lowest(self) -> Judged:
        """All that may enter the only lowest host of some policy."""
        hosts = sorted(
            {
                lowest.hosts[0]
                for lowest in self._utilization.lowest
                if lowest.values[0] < lowest.values[1]
            }
        )
        judged = []
        for host in hosts:
            instances = self._costs.to(host)
            price = np.zeros(len(instances))
            if self._simulation.constraints.weighs_soft_rules:
                breaks = self._simulation.constraints.soft_breaks_column(host)
                price = np.multiply(breaks[instances], self._penalty)
            to = np.full(len(instances), host, dtype=np.intp)
            judged.append(self._judge(instances, to, price))
        return _joined(judged)

    def _judge(
        self, instances: IntArray, hosts: IntArray, price: FloatArray
    ) -> Judged:
        """What legal moves gain, less their price; without the objected."""
        judged = []
        for part in _cuts(len(instances)):
            some, to = instances[part], hosts[part]
            sources = self._placement.host_of[some]
            _, entered = self._utilization.scores_after(some, sources, to)
            # A source does not count, so the destination is both ends.
            gains, objected = self._utilization.judge(to, to, entered, entered)
            good = ~(objected & self._simulation.rules.thresholds_object)
            gains = gains - price[part]
            judged.append((some[good], to[good], gains[good]))
        return _joined(judged)

    def _with_the_rest(self, judged: Judged) -> Judged:
        """The pairs that are best where no lowest host gains by any."""
        self._costs.refresh()
        if not self._costs.free.any():
            return self._cheapest(judged)
        # At no cost there is nothing to gain or to object to: neither the
        # highest nor the lowest score of any policy changes.
        instances, hosts = self._costs.flattest(SLACK)
        flattest = instances, hosts, np.zeros(len(instances))
        nearly = (self._costs.cost <= SLACK) & ~self._costs.free
        return _joined([judged, flattest, self._judged(*np.nonzero(nearly))])

    def _cheapest(self, judged: Judged) -> Judged:
        """Judge the pairs by cost until the others cannot be best.

        :param judged: what is judged already
        """
        cost = self._costs.cost
        number = FIRST_PAIRS
        limit = float(cost.min(initial=np.inf)) + 2 * SLACK
        while np.isfinite(limit):
            pairs = self._judged(*np.nonzero(cost <= limit))
            both = _joined([judged, pairs])
            if limit >= SLACK - _most(both):
                return both
            if number >= cost.size:
                break
            limit = float(np.partition(cost, number, axis=None)[number])
            number *= 8
        every = self._judged(*np.nonzero(np.isfinite(cost)))
        return _joined([judged, every])

    def _judged(self, rows: IntArray, columns: IntArray) -> Judged:
        return self._judge(*self._costs.pairs(rows, columns))

    def _drops(self, instances: IntArray, hosts: IntArray) -> FloatArray:
        drops = []
        for part in _cuts(len(instances)):
            some, to = instances[part], hosts[part]
            sources = self._placement.host_of[some]
            ends = self._utilization.scores_after(some, sources, to)
            drops.append(self._utilization.variance_drop(sources, to, *ends))
        return np.concatenate(drops)


def _most(judged: Judged) -> float:
    """The largest gain; -inf if there is none."""
    return float(judged[2].max(initial=-np.inf))


def _joined(parts: list[Judged]) -> Judged:
    if not parts:
        none = np.zeros(0, dtype=np.intp)
        return none, none, np.zeros(0)
    instances, hosts, gains = zip(*parts, strict=True)
    return (
        np.concatenate(instances),
        np.concatenate(hosts),
        np.concatenate(gains),
    )


def _cuts(number: int) -> Iterator[slice]:
    for start in range(0, number, PAIRS_AT_ONCE):
        yield slice(start, start + PAIRS_AT_ONCE)
