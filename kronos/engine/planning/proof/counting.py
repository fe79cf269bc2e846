# SPDX-License-Identifier: Apache-2.0
"""The counting bound: how even so many moves can make a scope at most.

To bring the highest hosts of a policy below a level, so many instances must
leave each of them, at least: the largest first. One that leaves serves all
policies of its host, but no other host. So the lowest levels that all
policies may have together are found by counting; the highest levels of the
lowest hosts in the same way, by who may enter. NumPy does for it.
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.planning.proof.relaxed_scope import RelaxedScope

MOST_MOVES = 500
"""With more, each policy is counted alone: they hardly share hosts then."""
MOST_NODES = 10_000
"""So many combinations are looked at; what is left has a bound, too."""


@dataclass(frozen=True, eq=False)
class Levels:
    """What levels cost in one policy; K moves, A hosts that matter."""

    values: FloatArray
    """[K + 1], falling: the lowest that 0, 1, 2 ... moves can lead to."""
    counts: IntArray
    """[K + 1, A]: how many of these moves are at each host."""


Stairs = list[tuple[float, int]]
"""Values that are to be beaten one after the other, each with its host."""


def levels(scope: RelaxedScope) -> tuple[float, float]:
    """What no plan gets the weighted sums of both ends below.

    :returns: that of the highest hosts, and of the lowest, negative
    """
    means = scope.means()
    policies = range(len(means))
    highest = [_departures(scope, p) for p in policies]
    lowest = [_arrivals(scope, p) for p in policies]
    return (
        _lowest(highest, means, scope.weights, scope.moves),
        _lowest(lowest, -means, scope.weights, scope.moves),
    )


def _departures(scope: RelaxedScope, p: int) -> tuple[Stairs, float]:
    """The values of hosts as their largest instances leave.

    :returns: with the value that none gets the highest host below
    """
    hosts = scope.counting
    values = scope.scores[p, hosts]
    last = -np.sort(-values)[: scope.moves + 1][-1]
    stairs: Stairs = []
    floor = -math.inf
    for host in hosts[values >= last].tolist():
        used = scope.usage[p, scope.leaving(host)] / scope.capacity[p, host]
        fallen = _sums(-np.sort(-used), scope.moves)
        steps = scope.scores[p, host] - fallen
        stairs += [(value, host) for value in steps.tolist()]
        if len(used) <= scope.moves:
            floor = max(floor, float(steps[-1]))
    return stairs, floor


def _arrivals(scope: RelaxedScope, p: int) -> tuple[Stairs, float]:
    """The same of hosts as the largest instances enter, all negative."""
    hosts = scope.counting
    values = scope.scores[p, hosts]
    last = np.sort(values)[: scope.moves + 1][-1]
    largest = np.argsort(-scope.usage[p], kind='stable')
    stairs: Stairs = []
    floor = -math.inf
    for host in hosts[values <= last].tolist():
        ordered = largest[scope.entrances[host][largest]][: scope.moves]
        used = scope.usage[p, ordered] / scope.capacity[p, host]
        steps = -(scope.scores[p, host] + _sums(used, scope.moves))
        stairs += [(value, host) for value in steps.tolist()]
        if len(used) < scope.moves:
            floor = max(floor, float(steps[-1]))
    return stairs, floor


def _sums(used: FloatArray, moves: int) -> FloatArray:
    """What 0, 1, 2 ... of the largest make together."""
    return np.concatenate([[0.0], np.cumsum(used[:moves])])


def _lowest(
    found: list[tuple[Stairs, float]],
    floors: FloatArray,
    weights: FloatArray,
    moves: int,
) -> float:
    """The least weighted sum of levels that so many moves reach together."""
    each = _levels(found, floors, moves)
    if moves > MOST_MOVES:
        return math.fsum(
            weight * one.values[-1]
            for weight, one in zip(weights.tolist(), each, strict=True)
        )
    return _Combinations(each, weights.tolist(), moves).least()


def _levels(
    found: list[tuple[Stairs, float]], floors: FloatArray, moves: int
) -> list[Levels]:
    ordered = [
        sorted(stairs, reverse=True)[: moves + 1] for stairs, _ in found
    ]
    at = _numbered(host for stairs in ordered for _, host in stairs[:moves])
    each = []
    for stairs, (_, stuck), mean in zip(
        ordered, found, floors.tolist(), strict=True
    ):
        values = np.array([value for value, _ in stairs])
        counts = np.zeros((len(values), len(at)), dtype=np.intp)
        for k, (_, host) in enumerate(stairs[: len(values) - 1], start=1):
            counts[k] = counts[k - 1]
            counts[k, at[host]] += 1
        each.append(Levels(np.maximum(values, max(stuck, mean)), counts))
    return each


def _numbered(hosts: Iterable[int]) -> dict[int, int]:
    number: dict[int, int] = {}
    for host in hosts:
        number.setdefault(host, len(number))
    return number


class _Combinations:
    """The best-first search for a level per policy.

    A node has levels for the first policies, with what each host has to
    give for them. The others are at best at what is left for each alone.
    """

    def __init__(
        self, levels: list[Levels], weights: list[float], moves: int
    ) -> None:
        self._levels = levels
        self._weights = weights
        self._moves = moves
        self._heap: list[tuple[float, int, int, int, float, IntArray]] = []
        self._pushed = 0

    def least(self) -> float:
        """The least sum, or a bound of it where there is too much to see."""
        self._add_range(0, None, 0.0, self._none())
        for _ in range(MOST_NODES):
            key, _, p, k, fixed, base = heapq.heappop(self._heap)
            if p == len(self._levels):
                return key
            self._add_range(p, k - 1, fixed, base)
            value = fixed + self._weights[p] * float(self._levels[p].values[k])
            taken = np.maximum(base, self._levels[p].counts[k])
            self._add_range(p + 1, None, value, taken)
        return self._heap[0][0]

    def _none(self) -> IntArray:
        return np.zeros(self._levels[0].counts.shape[1], dtype=np.intp)

    def _add_range(
        self, p: int, most: int | None, fixed: float, base: IntArray
    ) -> None:
        """Add all nodes in which a policy has a level up to one.

        :param p: the first policy without a level; there may be none left
        :param most: None: the lowest that is left
        """
        if most is not None and most < 0:
            return
        best = [self._furthest(q, base) for q in range(p, len(self._levels))]
        if best and most is not None:
            best[0] = min(best[0], most)
        key = fixed + math.fsum(
            self._weights[q] * float(self._levels[q].values[k])
            for q, k in enumerate(best, start=p)
        )
        k = best[0] if best else 0
        self._pushed += 1
        heapq.heappush(self._heap, (key, self._pushed, p, k, fixed, base))

    def _furthest(self, q: int, base: IntArray) -> int:
        """The lowest level of a policy beside what others have taken."""
        counts = self._levels[q].counts
        low, high = 0, len(counts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if np.maximum(base, counts[middle]).sum() <= self._moves:
                low = middle
            else:
                high = middle - 1
        return low
