# SPDX-License-Identifier: Apache-2.0
"""Which single moves are worth looking at, and which of them is best?

Exact pruning: usages are not negative, so a policy's imbalance falls only
if an instance leaves its only highest host or enters its only lowest one.
These 2P hosts are looked at instead of all pairs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kronos.engine.constraints import Constraints
from kronos.engine.state import (
    EPSILON,
    BoolArray,
    FloatArray,
    IntArray,
    State,
)
from kronos.engine.types import TieBreak

MIB_PER_GIB = 1024


@dataclass
class Candidates:
    """Legal moves to which no policy objects, N of them."""

    instances: IntArray
    destinations: IntArray
    gains: FloatArray
    """How much the combined imbalance falls."""

    def only(self, which: BoolArray | IntArray) -> 'Candidates':
        return Candidates(
            self.instances[which], self.destinations[which], self.gains[which]
        )


def joined(blocks: list[Candidates]) -> Candidates:
    if not blocks:
        none = np.zeros(0, dtype=np.intp)
        return Candidates(none, none, np.zeros(0))
    return Candidates(
        np.concatenate([block.instances for block in blocks]),
        np.concatenate([block.destinations for block in blocks]),
        np.concatenate([block.gains for block in blocks]),
    )


class Moves:
    """The single moves that a scope allows now.

    :param movable: [V]; instances that may be planned, on hosts that count
    """

    def __init__(
        self, state: State, constraints: Constraints, movable: BoolArray
    ) -> None:
        self._state = state
        self._constraints = constraints
        self.movable = movable

    def on(self, host: int) -> IntArray:
        """The movable instances on a host."""
        there = np.equal(self._state.host_of, host)
        return np.flatnonzero(there & self.movable)

    def leaving(self, host: int, at_least: float) -> Candidates:
        """Moves off a host that gain at least so much."""
        instances = self.on(host)
        source = np.full((1, 1), host, dtype=np.intp)
        hosts = np.arange(len(self._state.index.hosts))
        gains, objected = self._judge(
            instances[:, None], source, hosts[None, :]
        )
        good = (gains >= at_least) & ~objected
        some = np.flatnonzero(good.any(axis=1))
        good[some] &= self._constraints.rows(instances[some])
        rows, columns = np.nonzero(good)
        return Candidates(instances[rows], columns, gains[rows, columns])

    def entering(self, host: int, at_least: float) -> Candidates:
        """Moves to a host that gain at least so much."""
        allowed = self._constraints.column(host) & self.movable
        instances = np.flatnonzero(allowed)
        hosts = np.full(1, host, dtype=np.intp)
        sources = self._state.host_of[instances]
        gains, objected = self._judge(instances, sources, hosts)
        good = np.flatnonzero((gains >= at_least) & ~objected)
        return Candidates(
            instances[good],
            np.full(len(good), host, dtype=np.intp),
            gains[good],
        )

    def _judge(
        self, instances: IntArray, sources: IntArray, hosts: IntArray
    ) -> tuple[FloatArray, BoolArray]:
        left, entered = self._state.shifted(instances, sources, hosts)
        return self._state.judge(sources, hosts, left, entered)

    def touching(
        self, hot: Iterable[int], cold: Iterable[int], at_least: float
    ) -> Candidates:
        """Moves off the hot hosts and onto the cold ones.

        A move from a hot to a cold host is in it twice.
        """
        blocks = [self.leaving(host, at_least) for host in hot]
        blocks += [self.entering(host, at_least) for host in cold]
        return joined(blocks)

    def best(self, tie_break: TieBreak) -> tuple[int, int] | None:
        """The improving move with the largest gain: instance, destination.

        Gains that differ by less than a billionth are ties.
        """
        found = self._improving()
        if not len(found.gains):
            return None
        ties = found.only(found.gains >= found.gains.max() - EPSILON)
        if tie_break is TieBreak.FIRST:
            return _first(ties)
        return self.flattest(ties, tie_break)

    def _improving(self) -> Candidates:
        state = self._state
        hot = {
            extremes.hosts[0]
            for extremes in state.highest
            if extremes.values[0] > extremes.values[1]
        }
        cold = {
            extremes.hosts[0]
            for extremes in state.lowest
            if extremes.values[0] < extremes.values[1]
        }
        found = self.touching(sorted(hot), sorted(cold), EPSILON)
        return found.only(found.gains > EPSILON)

    def drops(self, moves: Candidates) -> FloatArray:
        """How far each move lowers the variance (:meth:`scatter_drop`)."""
        sources = self._state.host_of[moves.instances]
        left, entered = self._state.shifted(
            moves.instances, sources, moves.destinations
        )
        return self._state.scatter_drop(
            sources, moves.destinations, left, entered
        )

    def flattest(
        self, moves: Candidates, tie_break: TieBreak
    ) -> tuple[int, int]:
        """The move that lowers the variance most; then less memory, uuid
        and name. ``VARIANCE_PER_GIB`` divides by the memory moved."""
        value = self.drops(moves)
        if tie_break is TieBreak.VARIANCE_PER_GIB:
            memory = np.maximum(self._state.memory_mb[moves.instances], 1)
            value = value / (memory / MIB_PER_GIB)
        ties = moves.only(value >= value.max() - EPSILON)
        memory = self._state.memory_mb[ties.instances]
        return _first(ties.only(memory == memory.min()))


def _first(moves: Candidates) -> tuple[int, int]:
    """By uuid and name: positions are in the order of the names."""
    pairs = zip(
        moves.instances.tolist(), moves.destinations.tolist(), strict=True
    )
    return min(pairs)
