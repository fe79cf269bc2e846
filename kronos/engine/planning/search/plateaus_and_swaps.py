# SPDX-License-Identifier: Apache-2.0
"""The ways out of a stall: plateau moves and swaps.

Two things beyond the literal rule. A *plateau move* keeps the combined
imbalance and lowers the variance: where several hosts share the highest
score, moving off one of them gains nothing until the last has been dealt
with. A *swap* exchanges two instances: where a cpu-hot instance and a
memory-hot one would each hurt the other's host alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.moves import Move, Moves
from kronos.engine.simulation.utilization import half_way_limits, is_gain

if TYPE_CHECKING:
    from kronos.engine.simulation.simulation import Simulation

TIED_HOSTS = 8
"""Hosts per policy and end that plateau moves leave or enter."""
PARTNER_HOSTS = 16
"""Hosts per policy whose instances are tried as the other half of a swap;
in a scope with fewer hosts these are all of them."""
SWAP_TRIES = 256
"""Swaps that are tried for legality, the best first."""


class PlateauSearch:
    """Ways out of a stall; nothing is kept between two calls.

    :param is_safe: whether no policy may leave its threshold between the
        two moves of a swap, or double beyond it
    """

    def __init__(
        self, simulation: Simulation, moves: Moves, is_safe: bool = True
    ) -> None:
        self._simulation = simulation
        self._is_safe = is_safe
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._moves = moves

    def plateau(self, policies: BoolArray) -> Move | None:
        """The move that lowers the variance most at no cost; None if none.

        It leaves one of the hosts that share a policy's highest score, or
        enters one of those that share its lowest, so that these get fewer.

        :param policies: [P], those whose extremes matter
        """
        utilization = self._utilization
        hot: set[int] = set()
        cold: set[int] = set()
        for p in np.flatnonzero(policies).tolist():
            judged = utilization.ends.judged[p]
            row = np.where(judged, utilization.scores[p], np.nan)
            high = utilization.highest[p].values[0] - EPSILON
            low = utilization.lowest[p].values[0] + EPSILON
            hot.update(np.flatnonzero(row >= high)[:TIED_HOSTS].tolist())
            cold.update(np.flatnonzero(row <= low)[:TIED_HOSTS].tolist())
        return self._moves.flattening(hot, cold)

    def swap(self) -> tuple[Move, Move] | None:
        """The exchange that improves most, as two moves in legal order.

        No policy may object to what both moves lead to; in between
        one that is beyond its threshold already may double. Each move
        is legal when its turn comes, for room too. Of two orders it is the
        one that is better in between, since the second move may fail.
        """
        firsts, seconds = self._pairs()
        if not len(firsts):
            return None
        for first, second in zip(
            firsts[:SWAP_TRIES].tolist(),
            seconds[:SWAP_TRIES].tolist(),
            strict=True,
        ):
            if moves := self._in_order(first, second):
                return moves
        return None

    def of(self, first: int, second: int) -> tuple[Move, Move] | None:
        """The exchange of two instances, as :meth:`swap` has it."""
        if self._placement.host_of[first] == self._placement.host_of[second]:
            return None
        ends = (
            self._placement.host_of[[first]],
            self._placement.host_of[[second]],
        )
        after = self._exchanged(*ends, np.array([first]), np.array([second]))
        gains, objected = self._utilization.judge(*ends, *after)
        if objected[0] or not is_gain(gains[0]):
            return None
        return self._in_order(first, second)

    def _pairs(self) -> tuple[IntArray, IntArray]:
        """Instances to exchange, the best pair first."""
        utilization = self._utilization
        ends = [*utilization.highest, *utilization.lowest]
        partners = self._partners()
        exchanges = [
            self._exchanges(host, partners)
            for host in sorted({extremes.hosts[0] for extremes in ends})
        ]
        firsts, seconds, gains, drops = (
            np.concatenate(part) for part in zip(*exchanges, strict=True)
        )
        memory = utilization.memory_mb[firsts] + utilization.memory_mb[seconds]
        order = ranking.order(gains, drops, memory, firsts, seconds)
        return firsts[order], seconds[order]

    def _partners(self) -> IntArray:
        """The movable instances of the hosts near either end."""
        utilization = self._utilization
        near: BoolArray = np.zeros(len(utilization.counts), dtype=bool)
        counting = np.flatnonzero(utilization.counts)
        for row in utilization.scores:
            order = counting[np.argsort(row[counting], kind='stable')]
            near[order[:PARTNER_HOSTS]] = True
            near[order[-PARTNER_HOSTS:]] = True
        return np.flatnonzero(
            near[self._placement.host_of] & self._simulation.movable
        )

    def _exchanges(
        self, host: int, partners: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Swaps of a host's instances that improve, and no policy objects.

        :returns: the pairs, how far the combined imbalance falls and how
            far the variance; legal by one half at least
        """
        utilization, host_of = self._utilization, self._placement.host_of
        here = self._simulation.on(host)
        away = partners[host_of[partners] != host]
        source = np.full((1, 1), host, dtype=np.intp)
        other = host_of[away][None, :]
        at_source, at_other = self._exchanged(
            source, other, here[:, None], away[None, :]
        )
        gains, objected = utilization.judge(source, other, at_source, at_other)
        good = is_gain(gains) & ~objected
        good &= (
            self._simulation.constraints.rows(here)[:, other[0]]
            | self._simulation.constraints.column(host)[away]
        )
        rows, columns = np.nonzero(good)
        first, second = here[rows], away[columns]
        gain = gains[rows, columns]
        if self._is_safe:
            either = self._stays_within(first, host_of[second])
            either |= self._stays_within(second, host_of[first])
            first, second, gain = first[either], second[either], gain[either]
        sources, others = host_of[first], host_of[second]
        drops = utilization.variance_drop(
            sources, others, *self._exchanged(sources, others, first, second)
        )
        return first, second, gain, drops

    def _stays_within(self, instances: IntArray, hosts: IntArray) -> BoolArray:
        """[N]: whether each move alone is safe as half a swap."""
        utilization = self._utilization
        sources = self._placement.host_of[instances]
        ends = utilization.scores_after(instances, sources, hosts)
        within: BoolArray = np.ones(len(instances), dtype=bool)
        limits = half_way_limits(
            utilization.imbalances, utilization.thresholds
        )
        for p, width in enumerate(
            utilization.imbalances_after(sources, hosts, *ends)
        ):
            within &= width <= limits[p] + EPSILON
        return within

    def _exchanged(
        self, source: IntArray, other: IntArray, here: IntArray, away: IntArray
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Per policy the scores at ``source`` and ``other`` after swaps."""
        utilization = self._utilization
        at_source, at_other = [], []
        for p in range(len(utilization.policies)):
            change = utilization.usage[p][away] - utilization.usage[p][here]
            at_source.append(
                utilization.scores[p][source]
                + change / utilization.capacity[p][source]
            )
            at_other.append(
                utilization.scores[p][other]
                - change / utilization.capacity[p][other]
            )
        return at_source, at_other

    def _in_order(self, first: int, second: int) -> tuple[Move, Move] | None:
        """The two moves of a swap in a good order; None if there is none.

        It is legal, and safe where that is asked for; else one that is safe
        comes first.
        """
        move = (first, int(self._placement.host_of[second]))
        other = (second, int(self._placement.host_of[first]))
        orders = []
        for pair in ((move, other), (other, move)):
            if self._is_legal(*pair):
                instance, host = (np.array([end]) for end in pair[0])
                is_safe = bool(self._stays_within(instance, host)[0])
                if is_safe or not self._is_safe:
                    between = self._between(*pair[0])
                    orders.append((not is_safe, between, pair))
        return min(orders)[2] if orders else None

    def _is_legal(self, move: Move, other: Move) -> bool:
        instance, destination = move
        if self._simulation.constraints.why_not(instance, destination):
            return False
        with self._placement.trial() as placement:
            placement.move(instance, destination)
            return not placement.constraints.why_not(*other)

    def _between(self, instance: int, destination: int) -> float:
        """The combined imbalance after the first half."""
        source = int(self._placement.host_of[instance])
        undo = self._utilization.move(instance, source, destination)
        combined = self._utilization.combined()
        self._utilization.take_back(undo)
        return combined
