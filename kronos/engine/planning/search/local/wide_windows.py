# SPDX-License-Identifier: Apache-2.0
"""The target-window search where hosts are many: one placement, long held.

Where hundreds of hosts are outside of a window, no single move lowers the
combined imbalance. So a window is held for many rounds, and a result counts
by how far all hosts together are outside of it.
"""

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.planning.search.local.batch import (
    NOISE,
    Effort,
    FinalPlacement,
)
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.objective import Objective
from kronos.engine.planning.search.local.random_numbers import RandomNumbers
from kronos.engine.planning.search.local.single import SinglePlacement

HELD = 40
"""Rounds for which a window is held."""
SHRINK = 0.06
"""By this share of the combined imbalance a window is narrower at most."""
HEAT = 0.003
"""By so much may a result be further outside."""
PRICE = 0.03
"""Of room, per mean instance."""
BUILT = (0.99, 0.95, 0.9)
"""From nothing it builds for windows of this share of those of the seed."""


class WideWindows:
    """The search in one model."""

    def __init__(
        self,
        model: ScopeModel,
        objective: Objective,
        effort: Effort,
        rng: RandomNumbers,
    ) -> None:
        self._model = model
        self._objective = objective
        self._effort = effort
        self._rng = rng
        self._batch = SinglePlacement(model)
        self._batch.price[:] = PRICE
        self._most = objective.budget
        self._placements: list[FinalPlacement] = []
        self._ones = np.ones(len(model.home))

    def run(self, seed: IntArray) -> list[FinalPlacement]:
        """The placements that were found, the best first.

        :param seed: [V], one to begin with
        """
        self._go_to(seed)
        self._note()
        high, low = self._batch.extremes()
        for share in BUILT:
            self._go_to(self._model.home)
            self._set_windows(high, low, share * (high - low))
            self._repair(self._most, self._ones)
            self._note()
        for turn in range(self._effort.rounds):
            if turn % HELD == 0:
                self._go_to(self._best().host_of)
                self._aim()
                outside = self._batch.outside()[0]
            outside = self._round(outside)
        return sorted(self._placements, key=lambda placement: placement.value)

    def _best(self) -> FinalPlacement:
        return min(self._placements, key=lambda placement: placement.value)

    def _go_to(self, host_of: IntArray) -> None:
        for instance in np.flatnonzero(
            self._batch.host_of[0] != host_of
        ).tolist():
            self._batch.put(instance, int(host_of[instance]))

    def _note(self) -> None:
        """Remember the placement of now, if it is better than all others."""
        batch = self._batch
        high, low = batch.extremes()
        value = self._objective.values(
            high - low, batch.moved, batch.costs(), batch.overfull()
        )[0]
        if self._placements and value >= self._best().value - EPSILON:
            return
        self._placements.append(
            FinalPlacement(float(value), batch.host_of[0].copy())
        )
        if value < 0.0:
            # From now on it is to be reached by fewer moves.
            self._most = max(0, int(batch.moved[0]) - 1)

    def _aim(self) -> None:
        """Draw windows, narrower than the best placement lies."""
        high, low = self._batch.extremes()
        widths = high - low
        parts = self._rng.draw(*widths.shape) ** 2
        parts /= np.add.reduce(parts, axis=1)[:, None] + EPSILON
        combined = np.add.reduce(widths, axis=1)[:, None]
        less = SHRINK * self._rng.draw(1, 1) * combined * parts
        target = np.maximum(widths - less, 0.0)
        if not self._objective.exhaust:
            target = np.maximum(target, self._model.thresholds)
        self._set_windows(high, low, target)

    def _set_windows(
        self, high: FloatArray, low: FloatArray, target: FloatArray
    ) -> None:
        batch = self._batch
        side = self._rng.draw(*high.shape)
        batch.high = high - (high - low - target) * side
        batch.low = batch.high - target
        batch.refresh()

    def _round(self, outside: float) -> float:
        """Destroy and repair; what is worse is taken back.

        :returns: how far the hosts are outside of the windows now
        """
        batch, rng = self._batch, self._rng
        states = [part.copy() for part in batch.state]
        self._destroy()
        noise = 1.0 + NOISE * (2.0 * rng.draw(len(self._ones)) - 1.0)
        self._repair(2 * self._effort.destroyed, noise)
        self._note()
        now = float(batch.outside()[0])
        if now <= outside + HEAT * float(rng.draw(1)[0]) ** 4:
            return now
        touched = np.flatnonzero(states[0][0] != batch.host_of[0])
        hosts = np.union1d(states[0][0][touched], batch.host_of[0][touched])
        for old, new in zip(states, batch.state, strict=True):
            new[:] = old
        if hosts.size:
            batch.refresh_hosts(hosts[None])
        return outside

    def _destroy(self) -> None:
        batch, model = self._batch, self._model
        number = 1 + int(self._rng.draw(1)[0] * self._effort.destroyed)
        number = max(number, int(batch.moved[0]) - self._most)
        moved = np.flatnonzero(batch.host_of[0] != model.home)
        chosen = moved[np.argsort(self._rng.draw(len(moved)))[:number]]
        hosts: list[int] = []
        for instance in chosen.tolist():
            home = int(model.home[instance])
            group = model.group_of[instance]
            if batch.members_on[0, group, home] < model.most[group]:
                hosts += [home, int(batch.host_of[0, instance])]
                batch.put(instance, home)
        if hosts:
            batch.refresh_hosts(np.unique(hosts)[None])

    def _repair(self, most: int, noise: FloatArray) -> None:
        for _ in range(most):
            instance, host, cost = self._batch.best_move(self._most, noise)
            if cost >= -EPSILON:
                return
            self._batch.put_on(instance, host)
