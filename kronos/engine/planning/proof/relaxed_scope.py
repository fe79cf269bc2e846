# SPDX-License-Identifier: Apache-2.0
"""The relaxed scope: what bounds any plan, whatever its order.

A plan ends in a placement that differs from the first one in at most as many
instances as it has moves. Bounds are sought over all such placements: they
are more than the plans, so none of these is below the bound. Built where the
spreading begins; the simulation may go on.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.eligibility import room
from kronos.engine.simulation.simulation import Simulation


@dataclass(frozen=True, eq=False)
class RelaxedScope:
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
    host_of: IntArray
    """[V]"""
    movable: BoolArray
    """[V]"""
    entrances: dict[int, BoolArray]
    """[V] by host: who may come there at some time; of hosts that are
    looked at only."""
    rooms: list[tuple[IntArray, IntArray]]
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
        above = np.maximum(utilization.veto, utilization.thresholds)
        if not simulation.rules.thresholds_object:
            above = np.full(len(above), np.inf)
        found = cls(
            moves=int(min(simulation.left, number)),
            weights=utilization.weights,
            ceilings=above,
            scores=utilization.scores.copy(),
            usage=utilization.usage,
            capacity=utilization.capacity,
            counting=np.flatnonzero(utilization.counts),
            host_of=simulation.placement.host_of.copy(),
            movable=simulation.movable.copy(),
            entrances={},
            rooms=constraints.rooms(),
            apart=constraints.apart(),
        )
        all_hosts = found.size <= largest
        hosts = range(len(utilization.counts))
        for host in hosts if all_hosts else found.lowest():
            found.entrances[host] = (
                found.movable & constraints.ever(host) & found._has_room(host)
            )
        return found

    @property
    def size(self) -> int:
        """Instances times hosts."""
        return len(self.host_of) * int(self.scores.shape[1])

    def leaving(self, host: int) -> IntArray:
        """The instances that may leave a host."""
        return np.flatnonzero(self.movable & np.equal(self.host_of, host))

    def lowest(self) -> list[int]:
        """The hosts that so many moves may raise, and one more per policy."""
        found: set[int] = set()
        for row in self.scores:
            values = row[self.counting]
            last = np.sort(values)[: self.moves + 1][-1]
            found.update(self.counting[values <= last + EPSILON].tolist())
        return sorted(found)

    def means(self) -> FloatArray:
        """[P]: what the highest host is never below, the lowest not above.

        Usage only goes from one counting host to another.
        """
        scores = self.scores[:, self.counting]
        capacity = self.capacity[:, self.counting]
        means: FloatArray = np.average(scores, axis=1, weights=capacity)
        return means

    def _has_room(self, host: int) -> BoolArray:
        """[V]: whom a host has room for once all that may leave have left."""
        leaving = self.leaving(host)
        found: BoolArray = np.ones(len(self.host_of), dtype=bool)
        for need, free in self.rooms:
            most = int(free[host]) + int(need[leaving].sum())
            found &= room.fits(need, most)
        return found
