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
    Batch,
    Effort,
    Found,
)
from kronos.engine.planning.search.local.goal import Goal
from kronos.engine.planning.search.local.lots import Lots
from kronos.engine.planning.search.local.model import ScopeModel

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
        self, model: ScopeModel, goal: Goal, effort: Effort, lots: Lots
    ) -> None:
        self._model = model
        self._goal = goal
        self._effort = effort
        self._lots = lots
        self._batch = Batch(model, 1)
        self._batch.price[:] = PRICE
        self._most = goal.budget
        self._found: list[Found] = []
        self._ones = np.ones(len(model.home))

    def run(self, seed: IntArray) -> list[Found]:
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
                self._go_to(self._best().at)
                self._aim()
                outside = self._batch.outside()[0]
            outside = self._round(outside)
        return sorted(self._found, key=lambda one: one.value)

    def _best(self) -> Found:
        return min(self._found, key=lambda one: one.value)

    def _go_to(self, at: IntArray) -> None:
        batch, which = self._batch, np.zeros(1, dtype=np.intp)
        for instance in np.flatnonzero(batch.at[0] != at).tolist():
            batch.move(which, np.array([instance]), at[[instance]])

    def _note(self) -> None:
        """Remember the placement of now, if it is better than all others."""
        batch = self._batch
        high, low = batch.extremes()
        value = self._goal.values(
            high - low, batch.moved, batch.costs(), batch.overfull()
        )[0]
        if self._found and value >= self._best().value - EPSILON:
            return
        self._found.append(Found(float(value), batch.at[0].copy()))
        if value < 0.0:
            # From now on it is to be reached by fewer moves.
            self._most = max(0, int(batch.moved[0]) - 1)

    def _aim(self) -> None:
        """Draw windows, narrower than the best placement lies."""
        high, low = self._batch.extremes()
        widths = high - low
        parts = self._lots.draw(*widths.shape) ** 2
        parts /= np.add.reduce(parts, axis=1)[:, None] + EPSILON
        combined = np.add.reduce(widths, axis=1)[:, None]
        less = SHRINK * self._lots.draw(1, 1) * combined * parts
        wanted = np.maximum(widths - less, 0.0)
        if not self._goal.exhaust:
            wanted = np.maximum(wanted, self._model.thresholds)
        self._set_windows(high, low, wanted)

    def _set_windows(
        self, high: FloatArray, low: FloatArray, wanted: FloatArray
    ) -> None:
        batch = self._batch
        side = self._lots.draw(*high.shape)
        batch.high = high - (high - low - wanted) * side
        batch.low = batch.high - wanted
        batch.refresh()

    def _round(self, outside: float) -> float:
        """Destroy and repair; what is worse is taken back.

        :returns: how far the hosts are outside of the windows now
        """
        batch, lots = self._batch, self._lots
        kept = [part.copy() for part in batch.state]
        self._destroy()
        noise = 1.0 + NOISE * (2.0 * lots.draw(len(self._ones)) - 1.0)
        self._repair(2 * self._effort.destroyed, noise)
        self._note()
        now = float(batch.outside()[0])
        if now <= outside + HEAT * float(lots.draw(1)[0]) ** 4:
            return now
        touched = np.flatnonzero(kept[0][0] != batch.at[0])
        hosts = np.union1d(kept[0][0][touched], batch.at[0][touched])
        for old, new in zip(kept, batch.state, strict=True):
            new[:] = old
        if hosts.size:
            batch.refresh_hosts(hosts[None])
        return outside

    def _destroy(self) -> None:
        batch, model = self._batch, self._model
        wanted = 1 + int(self._lots.draw(1)[0] * self._effort.destroyed)
        wanted = max(wanted, int(batch.moved[0]) - self._most)
        moved = np.flatnonzero(batch.at[0] != model.home)
        chosen = moved[np.argsort(self._lots.draw(len(moved)))[:wanted]]
        which = np.zeros(1, dtype=np.intp)
        hosts: list[int] = []
        for instance in chosen.tolist():
            home = int(model.home[instance])
            group = model.group_of[instance]
            if batch.there[0, group, home] < model.most[group]:
                hosts += [home, int(batch.at[0, instance])]
                batch.move(which, np.array([instance]), np.array([home]))
        if hosts:
            batch.refresh_hosts(np.unique(hosts)[None])

    def _repair(self, most: int, noise: FloatArray) -> None:
        which = np.zeros(1, dtype=np.intp)
        for _ in range(most):
            instance, host, cost = self._batch.best_move(self._most, noise)
            if cost >= -EPSILON:
                return
            self._batch.move_on(which, np.array([instance]), np.array([host]))
