# SPDX-License-Identifier: Apache-2.0
"""The lower bound of a plan by counting: the most even that a scope can be.

To bring the highest hosts of a policy below a level, so many instances must
leave each of them, at least: the largest first. One that leaves serves all
policies of its host, but no other host. So the lowest levels that all
policies may have together are found by counting; the highest levels of the
lowest hosts in the same way, by who may enter. NumPy does for it.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.planning.proof.lp_relaxation import LpRelaxation

MOST_MOVES = 500
"""With more, each policy is counted alone: they hardly share hosts then."""
MOST_NODES = 10_000
"""So many combinations are looked at; what is left has a bound, too."""


@dataclass(frozen=True, eq=False)
class Levels:
    """What levels cost in one policy; K moves, A hosts that matter."""

    values: FloatArray
    """[K + 1], falling: the lowest that 0, 1, 2 ... moves can lead to."""
    hosts: IntArray
    """[K]: where each of these moves is, of A hosts."""
    ranks: IntArray
    """[K]: which of the moves at its host it is, from 1."""

    def counts(self, k: int, hosts: int) -> IntArray:
        """[A]: how many of the first moves are at each host."""
        return np.bincount(self.hosts[:k], minlength=hosts)


_Node = tuple[float, int, float, IntArray, list[int]]
"""What it comes to at least, its number, what the levels of its first policies
make, the moves that these take by host, and the levels of the others at best.
"""
Stairs = list[tuple[float, int]]
"""Values that are to be beaten one after the other, each with its host."""


def levels(scope: LpRelaxation) -> tuple[float, float]:
    """What no plan gets the weighted sums of both ends below.

    :returns: that of the highest hosts, and of the lowest, negative
    """
    low, high = scope.means()
    policies = range(len(low))
    highest = [_departures(scope, p) for p in policies]
    lowest = [_arrivals(scope, p) for p in policies]
    return (
        _lowest(highest, low, scope.weights, scope.moves),
        _lowest(lowest, -high, scope.weights, scope.moves),
    )


def _departures(scope: LpRelaxation, p: int) -> tuple[Stairs, float]:
    """The values of hosts as their largest instances leave.

    :returns: with the value that none gets the highest host below
    """
    hosts = np.flatnonzero(scope.judged[p])
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


def _arrivals(scope: LpRelaxation, p: int) -> tuple[Stairs, float]:
    """The same of hosts as the largest instances enter, all negative."""
    hosts = np.flatnonzero(scope.judged[p])
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
    staircases: list[tuple[Stairs, float]],
    floors: FloatArray,
    weights: FloatArray,
    moves: int,
) -> float:
    """The least weighted sum of levels that so many moves reach together."""
    each = _levels(staircases, floors, moves)
    if moves > MOST_MOVES:
        return math.fsum(
            weight * levels.values[-1]
            for weight, levels in zip(weights.tolist(), each, strict=True)
        )
    return _Combinations(each, weights.tolist(), moves).least()


def _levels(
    staircases: list[tuple[Stairs, float]], floors: FloatArray, moves: int
) -> list[Levels]:
    ordered = [
        sorted(stairs, reverse=True)[: moves + 1] for stairs, _ in staircases
    ]
    numbers = _numbered(
        host for stairs in ordered for _, host in stairs[:moves]
    )
    each = []
    for stairs, (_, stuck), mean in zip(
        ordered, staircases, floors.tolist(), strict=True
    ):
        values = np.array([value for value, _ in stairs])
        hosts = [numbers[host] for _, host in stairs[: len(values) - 1]]
        each.append(
            Levels(
                np.maximum(values, max(stuck, mean)),
                np.array(hosts, dtype=np.intp),
                np.array(_ranks(hosts), dtype=np.intp),
            )
        )
    return each


def _numbered(hosts: Iterable[int]) -> dict[int, int]:
    number: dict[int, int] = {}
    for host in hosts:
        number.setdefault(host, len(number))
    return number


def _ranks(hosts: Iterable[int]) -> list[int]:
    """Of each element, how many of its kind there are up to it."""
    seen: Counter[int] = Counter()
    ranks = []
    for host in hosts:
        seen[host] += 1
        ranks.append(seen[host])
    return ranks


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
        hosts = [level.hosts.max(initial=-1) for level in levels]
        self._hosts = int(max(hosts, default=-1)) + 1
        self._heap: list[_Node] = []
        self._pushed = 0

    def least(self) -> float:
        """The least sum, or a bound of it where there is too much to see."""
        self._add(0.0, np.zeros(self._hosts, dtype=np.intp), 0)
        for _ in range(MOST_NODES):
            key, _, fixed, base, best = heapq.heappop(self._heap)
            if not best:
                return key
            k, *others = best
            if k:
                self._push(fixed, base, [k - 1, *others])
            p = len(self._levels) - len(best)
            levels = self._levels[p]
            value = fixed + self._weights[p] * float(levels.values[k])
            taken = np.maximum(base, levels.counts(k, self._hosts))
            self._add(value, taken, p + 1)
        return self._heap[0][0]

    def _add(self, fixed: float, base: IntArray, p: int) -> None:
        """Add all nodes without a level of a policy and those behind it."""
        remaining = self._moves - int(np.add.reduce(base))
        best = [
            _furthest(levels, base, remaining) for levels in self._levels[p:]
        ]
        self._push(fixed, base, best)

    def _push(self, fixed: float, base: IntArray, best: list[int]) -> None:
        """Add all nodes of which the first policy has a level up to one."""
        p = len(self._levels) - len(best)
        key = fixed + math.fsum(
            self._weights[q] * float(self._levels[q].values[k])
            for q, k in enumerate(best, start=p)
        )
        self._pushed += 1
        heapq.heappush(self._heap, (key, self._pushed, fixed, base, best))


def _furthest(levels: Levels, base: IntArray, remaining: int) -> int:
    """The lowest level of a policy beside what others have taken.

    :param base: [A], moves that are at hosts anyway
    :param remaining: so many more may be made
    """
    more = np.cumsum(levels.ranks > base[levels.hosts])
    return int(np.searchsorted(more, remaining, side='right'))
