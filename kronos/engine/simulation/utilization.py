# SPDX-License-Identifier: Apache-2.0
"""The utilization: the scores of a scope, and what moves make of them.

It knows hosts and shares, not who is where: that is the placement's. Its
arrays are built once per scope and changed in place as moves accumulate.
Policies come first in every shape so that NumPy's inner loops run over hosts
or instances. Scores are ratios and are never clamped after a move; memory is
in MiB.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kronos.engine.arrays import (
    EPSILON,
    BoolArray,
    Extremes,
    FloatArray,
    Index,
    IntArray,
)
from kronos.engine.simulation.ends import Ends


def objects(
    before: FloatArray, after: FloatArray, threshold: FloatArray
) -> BoolArray:
    """The acceptance rule, for each element: does a policy object?

    It does if its imbalance grows and ends above its threshold.
    """
    grows = after > before + EPSILON
    above = after > threshold + EPSILON
    return np.logical_and(grows, above)


def half_way_limits(imbalances: FloatArray, thresholds: FloatArray) -> Any:
    """How large imbalances may be between the halves of a safe swap.

    Within its threshold a policy stays so. One that is over it may
    double, and grow by nothing beyond a whole host.
    """
    over = imbalances > thresholds + EPSILON
    grown = np.maximum(np.minimum(2.0 * imbalances, 1.0), imbalances)
    return np.where(over, grown, thresholds)


def is_gain(fall: Any) -> Any:
    """Whether it is worth a migration, for a number or each of an array.

    :param fall: of the combined imbalance, less penalties
    """
    return fall > EPSILON


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
    ends: Ends
    whole: Ends


class Utilization:
    """The scores of a scope while a plan grows.

    One class, since each move changes scores and imbalances together, and is
    undone bit by bit.

    :param index: the hosts [H] and instances [V] that positions stand for
    :param policies: names of the policies in use [P]
    :param weights: per policy [P], at least 0
    :param thresholds: per policy [P]
    :param scores: [P, H]; what stands at a host that does not count is
        never looked at
    :param usage: [P, V], at least 0; 0 for fixed load; of moves, so times the
        factor of the policy
    :param capacity: [P, H], above 0: a usage is this share of the host
    :param counts: [H], whether a host counts in max and min
    :param memory_mb: [V]
    :param factors: [P], above 0; None: 1
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
        memory_mb: IntArray,
        factors: FloatArray | None = None,
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
        self.memory_mb = memory_mb
        self.factors: FloatArray = (
            np.ones(len(policies)) if factors is None else factors
        )
        self._counting = np.flatnonzero(counts)
        self._is_share = [bool(np.all(row == 1.0)) for row in capacity]
        self.whole = Ends.of(scores, np.tile(counts, (len(scores), 1)))
        """Of all hosts that count."""
        self.ends = self.whole
        """Of those that the policies are judged by."""
        self._outward = np.zeros(scores.shape)
        """[P, H]: 1 above the hosts that are judged, -1 below them; 0 at
        these. It counts where hosts are set aside."""
        self.vetoed_above: FloatArray | None = None
        """[P]: no policy may be above its threshold and above this; None:
        above what it is before the move."""

    def set_aside(self, aside: BoolArray) -> None:
        """Judge each policy without some hosts, from now on.

        The policies go on objecting for all hosts that count, too, and to
        whatever takes a host that is set aside further from the others.

        :param aside: [P, H]; one host of each policy is left at least
        """
        judged = self.whole.judged & ~aside
        self.ends = self.whole
        if not np.array_equal(judged, self.whole.judged):
            self.ends = Ends.of(self.scores, judged)
            highest = [[end.values[0]] for end in self.ends.highest]
            self._outward = np.where(
                self.whole.judged & ~judged,
                np.where(self.scores > highest, 1.0, -1.0),
                0.0,
            )

    def judge_all(self) -> None:
        """Judge all policies by all hosts that count again."""
        self.ends = self.whole

    @property
    def has_aside(self) -> bool:
        """Whether hosts are set aside."""
        return self.ends is not self.whole

    @property
    def highest(self) -> list[Extremes]:
        """[P]: the highest scores of the hosts that are judged."""
        return self.ends.highest

    @property
    def lowest(self) -> list[Extremes]:
        """[P]: the lowest ones."""
        return self.ends.lowest

    @property
    def imbalances(self) -> FloatArray:
        """[P]: max - min over the hosts that are judged."""
        return self.ends.widths

    @property
    def veto(self) -> FloatArray:
        """[P]: what a policy is compared with before it objects.

        What brings it nearer to where it may be is never refused.
        """
        return self.veto_of(self.ends)

    def veto_of(self, ends: Ends) -> FloatArray:
        """[P]: the same of some hosts."""
        if self.vetoed_above is None:
            return ends.widths
        return np.maximum(self.vetoed_above, ends.widths)

    def combined(self) -> float:
        """The weighted sum of the policies' imbalances."""
        return math.fsum(self.weights * self.imbalances)

    def over_threshold(self) -> BoolArray:
        """[P]: the policies over their threshold; equality is within."""
        return np.greater(self.imbalances, self.thresholds + EPSILON)

    def hosts_over(self) -> int:
        """How many hosts are over: of those that count, in some policy.

        A host is over that is further than a threshold above the lowest.
        """
        values = self.scores[:, self._counting]
        above = values - values.min(axis=1, keepdims=True)
        over = above > self.thresholds[:, None] + EPSILON
        return int(over.any(axis=0).sum())

    def unscaled(self, usage: FloatArray) -> FloatArray:
        """Usages [P, ...] without the factors of the policies."""
        return (usage.T / self.factors).T

    def move(self, instance: int, source: int, destination: int) -> Undo:
        """Take an instance's share off one host and add it to another."""
        undo = Undo(
            instance,
            source,
            destination,
            self.scores[:, source].copy(),
            self.scores[:, destination].copy(),
            self.ends,
            self.whole,
        )
        used = self.usage[:, instance]
        self.scores[:, source] -= used / self.capacity[:, source]
        self.scores[:, destination] += used / self.capacity[:, destination]
        has_aside = self.has_aside
        self.whole = self.whole.followed(self.scores, source, destination)
        self.ends = (
            self.ends.followed(self.scores, source, destination)
            if has_aside
            else self.whole
        )
        return undo

    def take_back(self, undo: Undo) -> None:
        self.scores[:, undo.source] = undo.at_source
        self.scores[:, undo.destination] = undo.at_destination
        self.ends, self.whole = undo.ends, undo.whole

    def judge(
        self,
        source: IntArray,
        other: IntArray,
        at_source: Sequence[FloatArray],
        at_other: Sequence[FloatArray],
    ) -> tuple[FloatArray, BoolArray]:
        """What changing the scores of two hosts would do, for many pairs.

        All shapes broadcast against each other.

        :param source: hosts, and ``other`` hosts
        :param at_source: per policy the new scores at ``source``
        :param at_other: per policy the new scores at ``other``
        :returns: how much the combined imbalance falls, and whether some
            policy objects, both in the broadcast shape
        """
        shape = np.broadcast(source, other, at_source[0], at_other[0]).shape
        gain: FloatArray = np.zeros(shape)
        objected: BoolArray = np.zeros(shape, dtype=bool)
        veto = self.veto
        for p, after in enumerate(
            self.imbalances_after(source, other, at_source, at_other)
        ):
            before = self.imbalances[p]
            objected |= objects(veto[p], after, self.thresholds[p])
            gain += self.weights[p] * (before - after)
        if self.has_aside:
            whole: FloatArray = np.zeros(shape)
            ends = source, other, at_source, at_other
            veto, widths = self.veto_of(self.whole), self.whole.widths
            for p, after in enumerate(self.whole.widths_after(*ends)):
                objected |= objects(veto[p], after, self.thresholds[p])
                whole += self.weights[p] * (widths[p] - after)
                for host, new in (
                    (source, at_source[p]),
                    (other, at_other[p]),
                ):
                    change = new - self.scores[p][host]
                    objected |= self._outward[p][host] * change > EPSILON
            # The others gain nothing at the cost of the whole.
            gain = np.where(whole < -EPSILON, np.minimum(gain, whole), gain)
        return gain, objected

    def imbalances_after(
        self,
        source: IntArray,
        other: IntArray,
        at_source: Sequence[FloatArray],
        at_other: Sequence[FloatArray],
    ) -> Iterator[FloatArray]:
        """Per policy the imbalance that :meth:`judge` compares."""
        return self.ends.widths_after(source, other, at_source, at_other)

    def scores_after(
        self, instances: IntArray, sources: IntArray, destinations: IntArray
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Per policy the scores that the moves leave at either end."""
        leaving, entered = [], []
        for p in range(len(self.policies)):
            score, used = self.scores[p], self.usage[p][instances]
            leaving.append(score[sources] - self._share(p, used, sources))
            entered.append(
                score[destinations] + self._share(p, used, destinations)
            )
        return leaving, entered

    def _share(self, p: int, used: FloatArray, hosts: IntArray) -> FloatArray:
        return used if self._is_share[p] else used / self.capacity[p][hosts]

    def variance_drop(
        self,
        source: IntArray,
        other: IntArray,
        at_source: Sequence[FloatArray],
        at_other: Sequence[FloatArray],
    ) -> FloatArray:
        """How far the variance falls, for pairs as in :meth:`judge`.

        The weighted sum over the policies of the squared distances of the
        counting hosts from their mean, which is their number times the
        variance: so it is of the same size in a large scope.
        """
        shape = np.broadcast(source, other, at_source[0], at_other[0]).shape
        drop: FloatArray = np.zeros(shape)
        number = len(self._counting)
        all_count = number == len(self.counts)
        for p, (first, second) in enumerate(
            zip(at_source, at_other, strict=True)
        ):
            total = self.scores[p][self._counting].sum()
            squares: FloatArray = np.zeros(())
            sums: FloatArray = np.zeros(())
            for hosts, new in ((source, first), (other, second)):
                old = self.scores[p][hosts]
                change = new - old
                if not all_count:
                    change = change * self.counts[hosts]
                squares = squares + change * (new + old)
                sums = sums + change
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
