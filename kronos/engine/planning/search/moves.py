# SPDX-License-Identifier: Apache-2.0
"""The search for single moves: which are worth a look, which is best.

Exact pruning: usages are not negative, so a policy's imbalance falls only
if an instance leaves its only highest host or enters its only lowest one.
These 2P hosts are looked at instead of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import (
    EPSILON,
    BoolArray,
    Extremes,
    FloatArray,
    IntArray,
)
from kronos.engine.planning.search import ranking
from kronos.engine.settings import Settings, TieBreak
from kronos.engine.simulation.utilization import is_gain

if TYPE_CHECKING:
    from kronos.engine.constraints.constraint_set import ConstraintSet
    from kronos.engine.simulation.simulation import Simulation

Move = tuple[int, int]
"""An instance and its destination."""


@dataclass
class Candidates:
    """Legal moves to which no policy objects, N of them.

    Of each host that was looked at only the best and their equals.
    """

    instances: IntArray
    destinations: IntArray
    worth: FloatArray

    def only(self, which: IntArray) -> Candidates:
        return Candidates(
            self.instances[which], self.destinations[which], self.worth[which]
        )

    def best(self) -> Candidates:
        """The most worth and its equals."""
        return self.only(ranking.equals(self.worth))


def _together(blocks: Sequence[Candidates]) -> Candidates:
    if not blocks:
        none = np.zeros(0, dtype=np.intp)
        return Candidates(none, none, np.zeros(0))
    return Candidates(
        np.concatenate([block.instances for block in blocks]),
        np.concatenate([block.destinations for block in blocks]),
        np.concatenate([block.worth for block in blocks]),
    )


class Moves:
    """The single moves that a simulation allows now.

    A soft rule that is weighed costs an improving move its penalty. That
    lowers its worth, so the pruning stays exact. Moves at no cost to the
    combined imbalance never break one.
    """

    def __init__(self, simulation: Simulation, settings: Settings) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._tie_break = settings.tie_break
        self._penalty = settings.soft_rule_penalty

    @property
    def _constraints(self) -> ConstraintSet:
        return self._simulation.constraints

    def improving(self) -> Move | None:
        """The move that lowers the combined imbalance most.

        Less the penalties of the soft rules that it breaks. Of equals the
        first by name or the one that lowers the variance most.
        """
        candidates = self._gaining()
        return self._best(
            candidates,
            lambda ties: self._drops(candidates.only(ties)),
            self._tie_break,
        )

    def flattening(
        self, hot: Iterable[int], cold: Iterable[int]
    ) -> Move | None:
        """The move at no cost that lowers the variance most.

        It leaves a hot or enters a cold host, and the combined imbalance
        stays as it is.
        """
        candidates = self._touching(hot, cold, by_drop=True)
        return self._best(candidates, lambda ties: candidates.worth[ties])

    def _best(
        self,
        candidates: Candidates,
        drops: Callable[[IntArray], FloatArray],
        tie_break: TieBreak = TieBreak.VARIANCE,
    ) -> Move | None:
        if not len(candidates.worth):
            return None
        position = ranking.best(
            candidates.worth,
            drops,
            self._utilization.memory_mb[candidates.instances],
            candidates.instances,
            candidates.destinations,
            tie_break,
        )
        return int(candidates.instances[position]), int(
            candidates.destinations[position]
        )

    def _gaining(self) -> Candidates:
        """The moves that gain most, of those that leave or enter an extreme.

        A host's moves gain at most what it is beyond the next one, and what
        the other end may add: where that is less than what was found, they
        are left out.
        """
        utilization = self._utilization
        hot = self._gaps(utilization.highest)
        cold = self._gaps(utilization.lowest)
        sides = [(gap, 0, host) for host, gap in hot.items()]
        sides += [(gap, 1, host) for host, gap in cold.items()]
        blocks, most = list[Candidates](), 0.0
        for gap, side, host in sorted(sides, reverse=True):
            own, other = (cold, hot) if side else (hot, cold)
            # Its moves to or from hosts of the other end that were looked
            # at are known.
            bound = gap + max(other.values(), default=0.0)
            if bound >= most - 2.0 * EPSILON:
                look = self._entering if side else self._leaving
                blocks.append(look(host, by_drop=False))
                most = max(most, blocks[-1].worth.max(initial=0.0))
                del own[host]
        return _together(blocks)

    def _gaps(self, ends: Sequence[Extremes]) -> dict[int, float]:
        """Of hosts that are extreme alone, by how much, over all policies."""
        gaps: dict[int, float] = {}
        for p, extremes in enumerate(ends):
            gap = abs(extremes.values[0] - extremes.values[1])
            weight = float(self._utilization.weights[p])
            if gap > 0.0 and weight > 0.0:
                more = weight * gap
                gaps[extremes.hosts[0]] = (
                    gaps.get(extremes.hosts[0], 0.0) + more
                )
        return gaps

    def _touching(
        self, hot: Iterable[int], cold: Iterable[int], *, by_drop: bool
    ) -> Candidates:
        """Moves off the hot hosts and onto the cold ones.

        A move from a hot to a cold host is in it twice.
        """
        blocks = [self._leaving(host, by_drop) for host in sorted(hot)]
        blocks += [self._entering(host, by_drop) for host in sorted(cold)]
        return _together(blocks)

    def _leaving(self, host: int, by_drop: bool) -> Candidates:
        instances = self._simulation.on(host)
        source = np.full((1, 1), host, dtype=np.intp)
        hosts = np.arange(len(self._utilization.index.hosts))[None, :]
        good, worth = self._judge(instances[:, None], source, hosts, by_drop)
        some = np.flatnonzero(good.any(axis=1))
        if by_drop or not self._constraints.weighs_soft_rules:
            good[some] &= self._constraints.rows(instances[some])
        else:
            breaks = self._constraints.soft_breaks_rows(instances[some])
            worth[some] -= self._penalty * breaks
            good[some] &= self._constraints.hard_rows(instances[some])
            good &= is_gain(worth)
        rows, columns = np.nonzero(good)
        return Candidates(
            instances[rows], columns, worth[rows, columns]
        ).best()

    def _entering(self, host: int, by_drop: bool) -> Candidates:
        weighs = self._constraints.weighs_soft_rules and not by_drop
        if weighs:
            allowed = self._constraints.hard_column(host)
        else:
            allowed = self._constraints.column(host)
        instances = np.flatnonzero(allowed & self._simulation.movable)
        hosts = np.full(1, host, dtype=np.intp)
        sources = self._placement.host_of[instances]
        good, worth = self._judge(instances, sources, hosts, by_drop)
        if weighs:
            breaks = self._constraints.soft_breaks_column(host)
            worth = worth - self._penalty * breaks[instances]
            good &= is_gain(worth)
        instances = instances[good]
        hosts = np.full(len(instances), host, dtype=np.intp)
        return Candidates(instances, hosts, worth[good]).best()

    def _judge(
        self,
        instances: IntArray,
        sources: IntArray,
        hosts: IntArray,
        by_drop: bool,
    ) -> tuple[BoolArray, FloatArray]:
        """Which moves help and meet no objection, and how much they do."""
        leaving, entered = self._utilization.scores_after(
            instances, sources, hosts
        )
        gains, objected = self._utilization.judge(
            sources, hosts, leaving, entered
        )
        if not by_drop:
            return is_gain(gains) & ~objected, gains
        good = (gains >= -EPSILON) & ~objected
        if not good.any():
            return good, gains
        drops = self._utilization.variance_drop(
            sources, hosts, leaving, entered
        )
        good &= drops > EPSILON
        if self._tie_break is TieBreak.VARIANCE_PER_GIB:
            memory = self._utilization.memory_mb[instances]
            drops = ranking.per_gib(drops, memory)
        return good, drops

    def _drops(self, moves: Candidates) -> FloatArray:
        sources = self._placement.host_of[moves.instances]
        leaving, entered = self._utilization.scores_after(
            moves.instances, sources, moves.destinations
        )
        return self._utilization.variance_drop(
            sources, moves.destinations, leaving, entered
        )
