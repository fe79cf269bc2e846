# SPDX-License-Identifier: Apache-2.0
"""The LP relaxation of a scope: what bounds any plan, whatever its order.

A plan ends in a placement that differs from the first one in at most as many
instances as it has moves. Bounds are sought over all such placements: they
are more than the plans, so none of these is below the bound. Built where the
spreading begins; the simulation may go on.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.eligibility import free_capacity
from kronos.engine.simulation.simulation import Simulation


@dataclass(frozen=True, eq=False)
class LpRelaxation:
    """A scope of which only what lasts binds."""

    moves: int
    """So many instances may be elsewhere."""
    weights: FloatArray
    """[P]"""
    ceilings: FloatArray
    """[P]; no plan leaves an imbalance above it, by the acceptance rule."""
    scores: FloatArray
    """[P, H]"""
    usage: FloatArray
    """[P, V]"""
    capacity: FloatArray
    """[P, H]"""
    counting: IntArray
    """Positions of the hosts that count."""
    judged: BoolArray
    """[P, H]: the hosts by which a policy is judged; a part of them."""
    host_of: IntArray
    """[V]"""
    movable: BoolArray
    """[V]"""
    entrances: dict[int, BoolArray]
    """[V] by host: who may come there at some time; of hosts that are
    looked at only."""
    free_capacities: list[tuple[IntArray, IntArray]]
    """Per resource what instances need [V] and hosts have free [H]."""
    apart: list[tuple[list[int], dict[int, int], int]]
    """Members, their number by host, and how many may come to be on one."""

    @classmethod
    def of(cls, simulation: Simulation, largest: int) -> Self:
        """The scope of a simulation in phase spread, before its first move.

        :param largest: up to so many pairs of an instance and a host all
            hosts are looked at, else those that may be the lowest
        """
        utilization, constraints = (
            simulation.utilization,
            simulation.constraints,
        )
        number = int(simulation.movable.sum())
        above = np.maximum(
            utilization.veto_of(utilization.whole), utilization.thresholds
        )
        if not simulation.rules.thresholds_object:
            above = np.full(len(above), np.inf)
        scope = cls(
            moves=int(min(simulation.remaining, number)),
            weights=utilization.weights,
            ceilings=above,
            scores=utilization.scores.copy(),
            usage=utilization.usage,
            capacity=utilization.capacity,
            counting=np.flatnonzero(utilization.counts),
            judged=utilization.ends.judged,
            host_of=simulation.placement.host_of.copy(),
            movable=simulation.movable.copy(),
            entrances={},
            free_capacities=constraints.free_capacities(),
            apart=constraints.apart(),
        )
        all_hosts = scope.size <= largest
        hosts = range(len(utilization.counts))
        for host in hosts if all_hosts else scope.lowest():
            scope.entrances[host] = (
                scope.movable & constraints.ever(host) & scope._fits(host)
            )
        scope._shut()
        return scope

    def _shut(self) -> None:
        """Let nothing enter hosts that it would raise too high for good.

        Of those that are set aside, which the imbalances leave out: what
        nothing leaves stays above what nothing enters.
        """
        shut = [
            host
            for host in self.counting.tolist()
            if host in self.entrances and not self.entrances[host].any()
        ]
        for p in np.flatnonzero(self.aside.any(axis=1)).tolist():
            lowest = self.scores[p, shut].min(initial=np.inf)
            for host in np.flatnonzero(self.aside[p]).tolist():
                if len(self.leaving(host)):
                    continue
                raised = self.usage[p] / self.capacity[p, host]
                width = self.scores[p, host] + raised - lowest
                self.entrances[host] &= width <= self.ceilings[p] + EPSILON

    @property
    def size(self) -> int:
        """Instances times hosts."""
        return len(self.host_of) * int(self.scores.shape[1])

    def leaving(self, host: int) -> IntArray:
        """The instances that may leave a host."""
        return np.flatnonzero(self.movable & np.equal(self.host_of, host))

    def lowest(self) -> list[int]:
        """The hosts that so many moves may raise, and one more per policy."""
        positions = set(np.flatnonzero(self.aside.any(axis=0)).tolist())
        for row, judged in zip(self.scores, self.judged, strict=True):
            hosts = np.flatnonzero(judged)
            values = row[hosts]
            last = np.sort(values)[: self.moves + 1][-1]
            positions.update(hosts[values <= last + EPSILON].tolist())
        return sorted(positions)

    @property
    def aside(self) -> BoolArray:
        """[P, H]: the hosts that count, but not for a policy."""
        counting: BoolArray = np.zeros(self.judged.shape, dtype=bool)
        counting[:, self.counting] = True
        return counting & ~self.judged

    def means(self) -> tuple[FloatArray, FloatArray]:
        """[P]: what the highest host is never below, the lowest not above.

        Usage only goes from one counting host to another; also to those that
        are set aside, and from them, as far as it may.
        """
        pairs = [self._mean(p, judged) for p, judged in enumerate(self.judged)]
        low, high = np.array(pairs).reshape(-1, 2).T
        return low, high

    def _mean(self, p: int, judged: BoolArray) -> tuple[float, float]:
        scores, capacity = self.scores[p, judged], self.capacity[p, judged]
        mean = float(np.average(scores, weights=capacity))
        aside = self.aside[p]
        if not aside.any():
            return mean, mean
        may: BoolArray = np.zeros(len(self.host_of), dtype=bool)
        for host in np.flatnonzero(aside).tolist():
            may |= self.entrances[host]
        away = self._most(p, may & judged[self.host_of])
        come = self._most(p, self.movable & aside[self.host_of])
        total = float(capacity.sum())
        return mean - away / total, mean + come / total

    def _most(self, p: int, which: BoolArray) -> float:
        """What so many of some instances use at most."""
        used = -np.sort(-self.usage[p, which])
        return float(used[: self.moves].sum())

    def _fits(self, host: int) -> BoolArray:
        """[V]: whom a host has room for once all that may leave have left."""
        leaving = self.leaving(host)
        mask: BoolArray = np.ones(len(self.host_of), dtype=bool)
        for need, free in self.free_capacities:
            most = int(free[host]) + int(need[leaving].sum())
            mask &= free_capacity.fits(need, most)
        return mask
