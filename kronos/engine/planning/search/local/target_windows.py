# SPDX-License-Identifier: Apache-2.0
"""The target-window search: final placements that are within windows.

Every placement of a batch gets a window for each policy, a little narrower
than its hosts lie now. Some of its moves are taken back (destroy); then the
moves are made that bring most of what is outside into the windows
(repair). A result that is better is kept, and at first some that are worse.
"""

import math
from collections.abc import Callable

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.planning.search.local.batch import (
    NOISE,
    Batch,
    Effort,
    FinalPlacement,
)
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.objective import Objective
from kronos.engine.planning.search.local.random_numbers import RandomNumbers

SHRINK = 0.3
"""By this share of the combined imbalance a window is narrower at most."""
CHEAP, DEAR = 0.008, 0.06
"""The price of room, per mean instance."""
HEAT = 0.03
"""So much worse may a result be at first."""
LOOKS = 150
"""So often it is asked what can be reached."""
RENEWAL = 25
"""Rounds after which the better half replaces the worse one."""


Reach = Callable[[IntArray], float]
"""The value of what can be reached by legal moves towards a placement [V]."""


class TargetWindows:
    """The search in one model.

    :param reach: None: all can be reached
    """

    def __init__(
        self,
        model: ScopeModel,
        objective: Objective,
        effort: Effort,
        rng: RandomNumbers,
        reach: Reach | None = None,
    ) -> None:
        self._reach = reach
        self._model = model
        self._objective = objective
        self._effort = effort
        self._rng = rng
        self._batch = Batch(model, effort.placements)
        self._every = np.arange(effort.placements)
        self._lowest = math.inf
        """Of what can be reached."""
        self._reached: dict[bytes, float] = {}
        self._placements: dict[bytes, FinalPlacement] = {}
        self._most: IntArray = np.full(effort.placements, objective.budget)

    def run(self, seeds: list[IntArray]) -> list[FinalPlacement]:
        """The placements that were found, the best first.

        :param seeds: [V] each; those to begin with, beside that of now
        """
        batch = self._batch
        for number, seed in enumerate(seeds[: len(self._every)]):
            self._plant(number, seed)
        now = self._values()
        self._lowest = float(now[len(seeds) :].min(initial=math.inf))
        self._look(now)
        best = now.copy()
        states = [part.copy() for part in batch.state]
        self._note(self._every, now)
        for turn in range(self._effort.rounds):
            self._round()
            values = self._values()
            self._look(values)
            heat = HEAT * (1.0 - turn / self._effort.rounds)
            luck = self._rng.draw(len(self._every))
            taken = values < now + heat * luck * luck
            now = np.where(taken, values, now)
            for old, new in zip(states, batch.state, strict=True):
                old[taken] = new[taken]
                new[~taken] = old[~taken]
            better = values < best - EPSILON
            best[better] = values[better]
            self._note(np.flatnonzero(better), values)
            if turn % RENEWAL == RENEWAL - 1:
                self._renew(best, now, states)
        return sorted(
            self._placements.values(), key=lambda placement: placement.value
        )

    def _plant(self, number: int, seed: IntArray) -> None:
        which = np.array([number])
        for instance in np.flatnonzero(seed != self._model.home).tolist():
            self._batch.move(which, np.array([instance]), seed[[instance]])

    def _values(self) -> FloatArray:
        high, low = self._batch.extremes()
        return self._objective.values(
            high - low,
            self._batch.moved,
            self._batch.costs(),
            self._batch.overfull(),
        )

    def _look(self, values: FloatArray) -> None:
        """Let the lowest placements count as what can be reached of them."""
        if self._reach is None:
            return
        for number in np.flatnonzero(values < self._lowest - EPSILON).tolist():
            key = self._batch.host_of[number].tobytes()
            if key not in self._reached:
                if len(self._reached) >= LOOKS:
                    values[number] = math.inf
                    continue
                self._reached[key] = self._reach(self._batch.host_of[number])
            values[number] = max(values[number], self._reached[key])
            self._lowest = min(self._lowest, float(values[number]))

    def _note(self, which: IntArray, values: FloatArray) -> None:
        for number in which.tolist():
            host_of = self._batch.host_of[number].copy()
            self._placements[host_of.tobytes()] = FinalPlacement(
                float(values[number]), host_of
            )
            if values[number] < 0.0:
                # From now on it is to be reached by fewer moves.
                fewer = int(self._batch.moved[number]) - 1
                self._most = np.minimum(self._most, max(0, fewer))

    def _renew(
        self, best: FloatArray, now: FloatArray, states: list[np.ndarray]
    ) -> None:
        order = np.argsort(now, kind='stable')
        half = len(order) // 2
        good, bad = order[:half], order[len(order) - half :]
        for old, new in zip(states, self._batch.state, strict=True):
            old[bad] = old[good]
            new[bad] = new[good]
        now[bad] = now[good]
        best[bad] = best[good]

    def _round(self) -> None:
        batch, rng = self._batch, self._rng
        number = len(self._every)
        self._aim()
        draw = rng.draw(number)
        batch.price = CHEAP + (DEAR - CHEAP) * draw * draw
        self._destroy()
        batch.refresh()
        noise = 1.0 + NOISE * (2.0 * rng.draw(*batch.host_of.shape) - 1.0)
        for _ in range(2 * self._effort.destroyed):
            instances, hosts, costs = batch.best_moves(self._most, noise)
            which = np.flatnonzero(costs < -EPSILON)
            if not which.size:
                break
            batch.move_on(which, instances[which], hosts[which])

    def _aim(self) -> None:
        """Draw the windows."""
        batch, rng = self._batch, self._rng
        high, low = batch.extremes()
        shape = high.shape
        widths = high - low
        combined = np.add.reduce(widths, axis=1)[:, None]
        parts = rng.draw(*shape) ** 2
        parts /= np.add.reduce(parts, axis=1)[:, None] + EPSILON
        less = SHRINK * rng.draw(shape[0], 1) * combined * parts
        target = np.maximum(widths - less, 0.0)
        if not self._objective.exhaust:
            target = np.maximum(target, self._model.thresholds)
            direct = rng.draw(shape[0], 1) < 0.5
            target = np.where(direct, self._model.thresholds, target)
        batch.high = high - (widths - target) * rng.draw(*shape)
        batch.low = batch.high - target

    def _destroy(self) -> None:
        """Take some moves back, more of them where there are too many."""
        batch, rng, model = self._batch, self._rng, self._model
        number = len(self._every)
        numbers = 1 + (rng.draw(number) * self._effort.destroyed).astype(int)
        numbers = np.maximum(numbers, batch.moved - self._most)
        for turn in range(int(numbers.max(initial=0))):
            away = np.not_equal(batch.host_of, model.home)
            keys = np.where(away, rng.draw(*batch.host_of.shape), -1.0)
            instances = keys.argmax(axis=1)
            homes = model.home[instances]
            groups = model.group_of[instances]
            counts = batch.members_on[self._every, groups, homes]
            free = (counts < model.most[groups]) & (turn < numbers)
            free &= keys[self._every, instances] >= 0.0
            which = np.flatnonzero(free)
            batch.move(which, instances[which], homes[which])
