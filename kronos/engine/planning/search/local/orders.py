# SPDX-License-Identifier: Apache-2.0
"""The orders of a few moves: which of them can be made one after another.

All subsets of the moves are looked at, each as a placement of its own: which
can be reached from which by one more move, or by one more swap. The lowest
that can be reached is taken, by the way on which the combined imbalance is
lowest on the whole.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.objective import Objective
from kronos.engine.settings import SwapMoves
from kronos.engine.simulation.utilization import half_way_limits

MOST = 10
"""So many moves at most; their subsets are 1,024."""
Unit = tuple[int, ...]
"""Numbers of moves: of one, or of the two halves of a swap."""


class Orders:
    """The orders of the moves that lead to a final placement.

    :param host_of: [V], the host of each instance; at most :data:`MOST` move
    """

    def __init__(
        self,
        model: ScopeModel,
        objective: Objective,
        host_of: IntArray,
        swaps: SwapMoves,
    ) -> None:
        self._model = model
        self._swaps = swaps
        self.moved: IntArray = np.flatnonzero(host_of != model.home)
        """[n], the instances that move"""
        self._to = host_of[self.moved]
        self._from = model.home[self.moved]
        self._number = len(self.moved)
        self._sets = np.arange(1 << self._number)
        touched = np.union1d(self._to, self._from)
        self._column = {host: n for n, host in enumerate(touched.tolist())}
        self._lay_out(touched)
        self._count(objective)

    def _lay_out(self, touched: IntArray) -> None:
        """What each subset leaves on the hosts that are touched."""
        model = self._model
        groups = np.unique(model.group_of[self.moved])
        self._row = {group: n for n, group in enumerate(groups.tolist())}
        scores: FloatArray = self._repeated(model.scores[:, touched])
        free: FloatArray = self._repeated(model.free[:, touched])
        members_on: IntArray = self._repeated(
            model.members_on[groups][:, touched]
        )
        size: IntArray = np.zeros(len(self._sets), dtype=np.intp)
        costs: FloatArray = np.zeros(len(self._sets))
        for n, instance in enumerate(self.moved.tolist()):
            source, host = self._ends(n)
            group = self._row[int(model.group_of[instance])]
            less, more = slice(1 << n), slice(1 << n, 2 << n)
            for part in (scores, free, members_on, size, costs):
                part[..., more] = part[..., less]
            used = model.usage[:, instance, :, None]
            scores[:, source, more] -= used[:, self._from[n]]
            scores[:, host, more] += used[:, self._to[n]]
            free[:, source, more] += model.needs[:, instance, None]
            free[:, host, more] -= model.needs[:, instance, None]
            members_on[group, source, more] -= 1
            members_on[group, host, more] += 1
            size[more] += 1
            costs[more] += model.costs[instance]
        self._memory_costs = costs
        self._size, self._free, self._members_on = size, free, members_on
        others = np.setdiff1d(np.arange(len(model.hosts)), touched)
        rest = model.scores[:, others]
        high = rest.max(axis=1, initial=-math.inf)
        low = rest.min(axis=1, initial=math.inf)
        high = np.maximum(high, model.highest_other)[:, None]
        low = np.minimum(low, model.lowest_other)[:, None]
        self._widths: FloatArray = np.maximum(
            scores.max(axis=1, initial=-math.inf), high
        ) - np.minimum(scores.min(axis=1, initial=math.inf), low)
        """[P, 2^n]"""
        self._combined = np.add.reduce(self._widths, axis=0)

    def _repeated(self, part: Any) -> Any:
        """The same for each subset, which come last."""
        return np.repeat(part[..., None], len(self._sets), axis=-1)

    def _ends(self, move: int) -> tuple[int, int]:
        return (
            self._column[int(self._from[move])],
            self._column[int(self._to[move])],
        )

    def _count(self, objective: Objective) -> None:
        """The cheapest way to each subset."""
        none = np.zeros(len(self._sets))
        self._values = objective.values(
            self._widths.T, self._size, self._memory_costs, none
        )
        self._costs: FloatArray = np.full(len(self._sets), math.inf)
        self._costs[0] = 0.0
        self._units: list[Unit] = []
        self._last: IntArray = np.full(len(self._sets), -1, dtype=np.intp)
        steps = list(self._steps())
        for size in range(self._number):
            level = np.equal(self._size, size) & np.isfinite(self._costs)
            for unit, bits, may in steps:
                before = np.flatnonzero(level & may)
                if not before.size:
                    continue
                after = before | bits
                costs = self._costs[before] + self._combined[after]
                better = costs < self._costs[after]
                self._costs[after[better]] = costs[better]
                self._last[after[better]] = len(self._units)
                self._units.append(unit)
        reached = np.where(np.isfinite(self._costs), self._values, math.inf)
        self._best = int(reached.argmin())
        self.value = float(reached[self._best])
        """Of the lowest placement that can be reached."""

    def way(self) -> list[list[int]]:
        """Positions in ``moved``, in the order found; halves together."""
        units: list[list[int]] = []
        now = self._best
        while now:
            unit = self._units[self._last[now]]
            units.append(list(unit))
            now &= ~sum(1 << move for move in unit)
        return units[::-1]

    def _steps(self) -> Iterator[tuple[Unit, int, BoolArray]]:
        """Moves and swaps, their bits, and [2^n] from where they may be."""
        fits = [self._fits(n) for n in range(self._number)]
        for n in range(self._number):
            yield (n,), 1 << n, fits[n] & ~self._objected(1 << n)
        if self._swaps is SwapMoves.NONE:
            return
        for move in range(self._number):
            for other in range(self._number):
                ends = self._from[move], self._to[move]
                if ends != (self._to[other], self._from[other]):
                    continue
                bits = (1 << move) | (1 << other)
                after = self._after(bits)
                may = fits[move] & fits[other][self._after(1 << move)]
                may &= ~self._objected(bits)
                may &= np.equal(self._sets & bits, 0)
                may &= self._combined[after] < self._combined - EPSILON
                if self._swaps is SwapMoves.SAFE:
                    may &= self._is_safe(1 << move)
                yield (move, other), bits, may

    def _after(self, bits: int) -> IntArray:
        after: IntArray = self._sets | bits
        return after

    def _fits(self, move: int) -> BoolArray:
        """[2^n]: whether a move is still to come, and has room."""
        model, instance = self._model, self.moved[move]
        host = self._ends(move)[1]
        group = model.group_of[instance]
        free = np.maximum(self._free[:, host], 0.0)
        members = self._members_on[self._row[int(group)], host]
        fits: BoolArray = np.equal(self._sets & (1 << move), 0)
        fits &= np.all(
            model.needs[:, instance, None] <= free + EPSILON, axis=0
        )
        fits &= members < model.most[group]
        return fits

    def _objected(self, bits: int) -> BoolArray:
        """[2^n]: whether a policy objects to some moves."""
        after = self._widths[:, self._after(bits)]
        before = self._widths
        if self._model.vetoed_above is not None:
            before = np.maximum(before, self._model.vetoed_above[:, None])
        limits = np.maximum(before, self._model.thresholds[:, None])
        mask: BoolArray = np.any(after > limits + EPSILON, axis=0)
        return mask

    def _is_safe(self, bits: int) -> BoolArray:
        """[2^n]: whether no policy is too far out after half a swap."""
        limits = half_way_limits(self._widths, self._model.thresholds[:, None])
        after = self._widths[:, self._after(bits)]
        mask: BoolArray = np.all(after <= limits + EPSILON, axis=0)
        return mask
