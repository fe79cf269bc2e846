# SPDX-License-Identifier: Apache-2.0
"""What would the scores be if an instance were moved?

The arithmetic of B1, B2, B6 and B7 on arrays that are built once per scope
and changed in place as moves accumulate. Policies come first in every shape
so that NumPy's inner loops run over hosts or instances. Scores are ratios
and are never clamped after a move; memory is in MiB.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kronos.engine.profiling import Profiles
from kronos.engine.scoring import Scorecard
from kronos.engine.types import Snapshot

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

EPSILON = 1e-9
"""Scores that differ by less are equal: sums of the same shares in another
order differ by 1e-16, and no migration is worth a billionth."""


def worsens(
    before: FloatArray, after: FloatArray, threshold: FloatArray | float
) -> BoolArray:
    """The acceptance rule (B7), for each element: does a policy object?

    It does if its imbalance grows and ends above its threshold.
    """
    grows = after > before + EPSILON
    above = after > threshold + EPSILON
    return np.logical_and(grows, above)


def move_hurts_any_policy(
    before: FloatArray, after: FloatArray, thresholds: FloatArray
) -> bool:
    """Whether a move must be rejected (B7, B8).

    :param before: imbalance per policy, [P]
    :param after: the same with the move made, [P]
    :param thresholds: per policy, [P]
    """
    return bool(worsens(before, after, thresholds).any())


class Index:
    """Names to positions and back: hosts by name, instances by uuid."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.hosts = sorted(snapshot.hosts)
        self.instances = sorted(snapshot.instances)
        self.host = {name: at for at, name in enumerate(self.hosts)}
        self.instance = {uuid: at for at, uuid in enumerate(self.instances)}


@dataclass
class Extremes:
    """The three highest or lowest of the counting hosts for one policy.

    Three, since a move touches two hosts: one of the three is left.
    """

    hosts: tuple[int, int, int]
    """-1 where there are fewer hosts."""
    values: tuple[float, float, float]

    def without(self, one: IntArray, other: IntArray) -> FloatArray:
        """The extreme over all hosts but two, for each pair of the two."""
        (first, second, _), (best, next_best, third) = self.hosts, self.values
        with_first = (one == first) | (other == first)
        with_second = (one == second) | (other == second)
        return np.where(
            with_first, np.where(with_second, third, next_best), best
        )


@dataclass
class Undo:
    """A made move and the numbers to put back, bit by bit."""

    instance: int
    source: int
    destination: int
    at_source: FloatArray
    """[P]"""
    at_destination: FloatArray
    """[P]"""


class State:
    """The scores of a scope while a plan grows.

    :param index: the hosts [H] and instances [V] that positions stand for
    :param policies: names of the policies in use [P]
    :param weights: per policy [P], at least 0
    :param thresholds: per policy [P]
    :param scores: [P, H]; what stands at a host that does not count is
        never looked at
    :param usage: [P, V], at least 0; 0 for fixed load
    :param capacity: [P, H], above 0: a usage is this share of the host
    :param counts: [H], whether a host counts in max and min
    :param host_of: [V], where each instance is
    :param memory_mb: [V]
    :raises ValueError: if a weight, usage or capacity is out of its range:
        the search would silently miss moves
    """

    def __init__(
        self,
        index: Index,
        policies: Sequence[str],
        weights: FloatArray,
        thresholds: FloatArray,
        scores: FloatArray,
        usage: FloatArray,
        capacity: FloatArray,
        counts: BoolArray,
        host_of: IntArray,
        memory_mb: IntArray,
    ) -> None:
        _refuse(policies, weights, 'weight', weights >= 0.0)
        _refuse(policies, usage, 'usage', usage >= 0.0)
        _refuse(policies, capacity, 'capacity', capacity > 0.0)
        self.index = index
        self.policies = list(policies)
        self.weights = weights
        self.thresholds = thresholds
        self.scores = scores
        self.usage = usage
        self.capacity = capacity
        self.counts = counts
        self.host_of = host_of
        self.memory_mb = memory_mb
        self._counting = np.flatnonzero(counts)
        self._is_share = np.equal(capacity, 1.0).all(axis=1).tolist()
        self._refresh()

    def _refresh(self) -> None:
        found = [_extremes(row, self._counting) for row in self.scores]
        self.highest = [high for high, _ in found]
        self.lowest = [low for _, low in found]
        self.imbalances: FloatArray = np.array(
            [high.values[0] - low.values[0] for high, low in found]
        )
        """[P]: max - min over the hosts that count (B2)."""

    def combined(self) -> float:
        """The weighted sum of the policies' imbalances (B1)."""
        return math.fsum(self.weights * self.imbalances)

    def over_threshold(self) -> BoolArray:
        """[P]: the policies that are not content; equality is (B10)."""
        return np.greater(self.imbalances, self.thresholds + EPSILON)

    def hosts_over(self) -> int:
        """Counting hosts that are further than a threshold above the
        lowest one of some policy."""
        values = self.scores[:, self._counting]
        above = values - values.min(axis=1, keepdims=True)
        over = above > self.thresholds[:, None] + EPSILON
        return int(over.any(axis=0).sum())

    def move(self, instance: int, destination: int) -> Undo:
        """Take an instance's share off one host and add it to another."""
        source = int(self.host_of[instance])
        undo = Undo(
            instance,
            source,
            destination,
            self.scores[:, source].copy(),
            self.scores[:, destination].copy(),
        )
        used = self.usage[:, instance]
        self.scores[:, source] -= used / self.capacity[:, source]
        self.scores[:, destination] += used / self.capacity[:, destination]
        self.host_of[instance] = destination
        self._refresh()
        return undo

    def take_back(self, undo: Undo) -> None:
        self.scores[:, undo.source] = undo.at_source
        self.scores[:, undo.destination] = undo.at_destination
        self.host_of[undo.instance] = undo.source
        self._refresh()

    def judge(
        self,
        one: IntArray,
        other: IntArray,
        at_one: Sequence[FloatArray],
        at_other: Sequence[FloatArray],
    ) -> tuple[FloatArray, BoolArray]:
        """What changing the scores of two hosts would do, for many pairs.

        All shapes broadcast against each other.

        :param one: hosts, and ``other`` hosts
        :param at_one: per policy the new scores at ``one``
        :param at_other: per policy the new scores at ``other``
        :returns: how much the combined imbalance falls, and whether some
            policy objects (B7), both in the broadcast shape
        """
        shape = np.broadcast(one, other, at_one[0], at_other[0]).shape
        gain: FloatArray = np.zeros(shape)
        objected: BoolArray = np.zeros(shape, dtype=bool)
        all_count = self.counts[one].all() and self.counts[other].all()
        for p, (first, second) in enumerate(
            zip(at_one, at_other, strict=True)
        ):
            if not all_count:
                first, second = (
                    np.where(self.counts[one], first, second),
                    np.where(self.counts[other], second, first),
                )
            high = self._without(self.highest[p], one, other)
            low = self._without(self.lowest[p], one, other)
            high = np.maximum(np.maximum(first, second), high)
            low = np.minimum(np.minimum(first, second), low)
            after = high - low
            before = self.imbalances[p]
            objected |= worsens(before, after, float(self.thresholds[p]))
            gain += self.weights[p] * (before - after)
        return gain, objected

    def _without(
        self, extremes: Extremes, one: IntArray, other: IntArray
    ) -> FloatArray:
        if other.size > 1 or one.size <= len(self.counts):
            return extremes.without(one, other)
        # Many instances on the same hosts: look each host up once.
        every = np.arange(len(self.counts))
        return extremes.without(every, other.reshape(1))[one]

    def shifted(
        self, instances: IntArray, sources: IntArray, destinations: IntArray
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Per policy the scores that the moves leave at either end."""
        left, entered = [], []
        for p in range(len(self.policies)):
            score, used = self.scores[p], self.usage[p][instances]
            left.append(score[sources] - self._share(p, used, sources))
            entered.append(
                score[destinations] + self._share(p, used, destinations)
            )
        return left, entered

    def _share(self, p: int, used: FloatArray, hosts: IntArray) -> FloatArray:
        return used if self._is_share[p] else used / self.capacity[p][hosts]

    def scatter_drop(
        self,
        one: IntArray,
        other: IntArray,
        at_one: Sequence[FloatArray],
        at_other: Sequence[FloatArray],
    ) -> FloatArray:
        """How far the variance falls, for pairs as in :meth:`judge`.

        The weighted sum over the policies of the squared distances of the
        counting hosts from their mean, which is their number times the
        variance: so it is of the same size in a large scope.
        """
        drop: FloatArray = np.zeros(np.broadcast(one, other).shape)
        number = len(self._counting)
        for p, (first, second) in enumerate(
            zip(at_one, at_other, strict=True)
        ):
            total = self.scores[p][self._counting].sum()
            squares = sums = 0.0
            for hosts, new in ((one, first), (other, second)):
                old = self.scores[p][hosts]
                counted = self.counts[hosts]
                squares = squares + counted * (new * new - old * old)
                sums = sums + counted * (new - old)
            mean_part = (2.0 * total * sums + sums * sums) / number
            drop -= self.weights[p] * (squares - mean_part)
        return drop


def _refuse(
    policies: Sequence[str], values: FloatArray, what: str, good: BoolArray
) -> None:
    bad = np.flatnonzero(
        ~(good & np.isfinite(values)).reshape(len(policies), -1).all(axis=1)
    )
    if bad.size:
        raise ValueError(f'policy {policies[bad[0]]}: a {what} out of range')


def _extremes(row: FloatArray, hosts: IntArray) -> tuple[Extremes, Extremes]:
    values = row[hosts]
    last = min(3, len(hosts))
    found = []
    for sign, worst in ((-1.0, -math.inf), (1.0, math.inf)):
        signed = sign * values
        if last < len(hosts):
            at = np.argpartition(signed, last - 1)[:last]
        else:
            at = np.arange(last)
        at = at[np.argsort(signed[at], kind='stable')]
        names = [int(host) for host in hosts[at]] + [-1] * (3 - last)
        scores = [float(value) for value in values[at]] + [worst] * (3 - last)
        found.append(
            Extremes(
                (names[0], names[1], names[2]),
                (scores[0], scores[1], scores[2]),
            )
        )
    return found[0], found[1]


def build(
    snapshot: Snapshot, scorecard: Scorecard, profiles: Profiles
) -> State:
    """Lay a scope out in arrays; the order of no dict matters.

    Instances without a profile weigh nothing here: they are part of their
    host's score and stay there.

    :param scorecard: at least one policy in use, two hosts that count
    :raises ValueError: if a weight or usage is negative, or a capacity is
        not above 0
    """
    index = Index(snapshot)
    used = [result for result in scorecard.results if not result.skipped]
    names = [result.name for result in used]
    counting = set.intersection(*(set(scorecard.values[n]) for n in names))
    instances = [snapshot.instances[uuid] for uuid in index.instances]
    none = dict.fromkeys(names, 0.0)
    usages = [
        profiles.profiles[one.uuid].usage
        if one.uuid in profiles.profiles
        else none
        for one in instances
    ]
    return State(
        index=index,
        policies=names,
        weights=np.array([result.weight for result in used]),
        thresholds=np.array([result.threshold for result in used]),
        scores=_by_host(scorecard.values, names, index, 0.0),
        usage=np.array(
            [[usage[name] for usage in usages] for name in names],
            dtype=float,
        ).reshape(len(names), len(instances)),
        capacity=_by_host(profiles.capacities, names, index, 1.0),
        counts=np.array([host in counting for host in index.hosts]),
        host_of=np.array(
            [index.host[one.host] for one in instances], dtype=np.intp
        ),
        memory_mb=np.array(
            [one.memory_mb for one in instances], dtype=np.intp
        ),
    )


def _by_host(
    values: dict[str, dict[str, float]],
    policies: list[str],
    index: Index,
    default: float,
) -> FloatArray:
    return np.array(
        [
            [values.get(name, {}).get(host, default) for host in index.hosts]
            for name in policies
        ]
    )
