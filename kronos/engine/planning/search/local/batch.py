# SPDX-License-Identifier: Apache-2.0
"""The batch: several placements of one scope, searched side by side.

What a move adds to a host depends on the host alone, as long as it is judged
by windows: a score outside its policy's window costs its distance. So a
table holds what every move would cost, and a move changes two columns of it.
Room is bought, too: what does not fit costs ``price``, so that a
search may go through placements that nobody may make.
"""

import math

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.local.model import ScopeModel

State = tuple[IntArray, FloatArray, FloatArray, IntArray, IntArray]

NEAREST_INSTANCES = 96
"""So many are looked at as the next one to move, where many are."""
NEAREST_HOSTS = 12
"""Into so many hosts below their windows any instance may move."""
SAVING = 4.0
"""By so much dearer is memory where hosts are many: they come into a window by
far more, all together, than the combined imbalance falls by that."""


class Batch:
    """B placements of V instances on H hosts, by P policies.

    One class, since the tables and what they follow from change together.

    :param number: B
    :param tables: whether there are tables; without them it only follows
    """

    def __init__(
        self, model: ScopeModel, number: int, tables: bool = True
    ) -> None:
        self.model = model
        self._every = np.arange(number)
        self._instances = np.arange(len(model.home))
        self.at: IntArray = np.repeat(model.home[None], number, axis=0)
        """[B, V], the host of each instance"""
        self.scores = np.repeat(model.scores[None], number, axis=0)
        """[B, P, H]"""
        self.free = np.repeat(model.free[None], number, axis=0)
        """[B, R, H]"""
        self.there = np.repeat(model.there[None], number, axis=0)
        """[B, G, H]"""
        self.moved: IntArray = np.zeros(number, dtype=np.intp)
        """[B], how many instances are not at home"""
        policies = len(model.scores)
        self.low: FloatArray = np.zeros((number, policies))
        self.high: FloatArray = np.zeros((number, policies))
        """[B, P], the windows"""
        self.price: FloatArray = np.zeros(number)
        self._cost_of_hosts: FloatArray = np.zeros((number, len(model.hosts)))
        self._entering: FloatArray = np.full(
            (number, tables * len(model.home), len(model.hosts)), math.inf
        )
        """[B, V, H], what a move costs its destination; inf: none"""
        self._leaving: FloatArray = np.zeros((number, len(model.home)))
        """[B, V], the same at its source"""

    @property
    def state(self) -> State:
        """All that a move changes; the tables follow from it."""
        return self.at, self.scores, self.free, self.there, self.moved

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """[B, P]: the highest and the lowest scores of all hosts."""
        return (
            np.maximum(self.scores.max(axis=2), self.model.highest_other),
            np.minimum(self.scores.min(axis=2), self.model.lowest_other),
        )

    def overfull(self) -> FloatArray:
        """[B]: by how much hosts are fuller than they may be."""
        room = np.minimum(self.model.free, 0.0)
        over: FloatArray = np.maximum(room - self.free, 0.0).sum(axis=(1, 2))
        return over

    def costs(self) -> FloatArray:
        """[B]: of the memory of all that is not at home."""
        away = np.not_equal(self.at, self.model.home)
        found: FloatArray = np.add.reduce(
            np.where(away, self.model.costs, 0.0), axis=1
        )
        return found

    def refresh(self) -> None:
        """Compute the tables anew, by the windows and prices of now."""
        hosts = np.arange(len(self.model.hosts))[None]
        self.refresh_hosts(np.repeat(hosts, len(self._every), axis=0))

    def move(
        self, which: IntArray, instances: IntArray, hosts: IntArray
    ) -> IntArray:
        """Make one move in each of some placements; the tables lag behind.

        :param which: [n], the placements; all others are [n], too
        :returns: the sources
        """
        model = self.model
        sources = self.at[which, instances]
        self.scores[which, :, sources] -= model.usage[:, instances, sources].T
        self.scores[which, :, hosts] += model.usage[:, instances, hosts].T
        needs = model.needs[:, instances].T
        self.free[which, :, sources] += needs
        self.free[which, :, hosts] -= needs
        groups = model.group_of[instances]
        self.there[which, groups, sources] -= 1
        self.there[which, groups, hosts] += 1
        homes = model.home[instances]
        self.moved[which] += (hosts != homes).astype(np.intp)
        self.moved[which] -= sources != homes
        self.at[which, instances] = hosts
        return sources

    def move_on(
        self, which: IntArray, instances: IntArray, hosts: IntArray
    ) -> None:
        """As :meth:`move`, and the tables follow."""
        sources = self.move(which, instances, hosts)
        # Of placements without a move any two hosts will do.
        columns: IntArray = np.zeros((len(self._every), 2), dtype=np.intp)
        columns[:, 1] = len(self.model.hosts) - 1
        columns[which, 0], columns[which, 1] = sources, hosts
        self.refresh_hosts(columns)

    def best_moves(
        self, most: IntArray, noise: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """[B]: in each placement the cheapest move, with what it costs.

        :param most: [B], so many instances may be away from home
        :param noise: [B, V], factors of what moves cost
        :returns: instances, destinations and costs; inf where there is none
        """
        costs = self._leaving[:, :, None] + self._entering
        costs *= noise[:, :, None]
        at_home = np.equal(self.at, self.model.home)
        costs[np.greater_equal(self.moved, most)[:, None] & at_home] = math.inf
        flat = costs.reshape(len(self._every), -1)
        found = flat.argmin(axis=1)
        hosts = len(self.model.hosts)
        return found // hosts, found % hosts, flat[self._every, found]

    def outside(self) -> FloatArray:
        """[B]: how far all hosts are outside of the windows, and too full.

        And what it costs to copy the memory.
        """
        distances = np.add.reduce(self._distances(self.scores), axis=1)
        found: FloatArray = distances + self.price * self.overfull()
        return found + self.costs()

    def best_move(
        self, most: int, noise: FloatArray
    ) -> tuple[int, int, float]:
        """As :meth:`best_moves`, in the first placement, where many are.

        A move only helps that leaves a host outside of a window, or enters
        one; of these the furthest outside are looked at.

        :param noise: [V]
        :returns: its cost is inf if there is none
        """
        entering, leaving = self._entering[0], self._leaving[0]
        may = np.not_equal(self.at[0], self.model.home)
        if self.moved[0] < most:
            may = np.ones(len(may), dtype=bool)
        rows = _lowest(np.where(may, leaving, 0.0), NEAREST_INSTANCES)
        below = np.maximum(self.low[0][:, None] - self.scores[0], 0.0)
        columns = _lowest(-np.add.reduce(below, axis=0), NEAREST_HOSTS)
        at_home = np.equal(self.at[0], self.model.home)
        own = SAVING * np.where(at_home, self.model.costs, 0.0)
        best = (0, 0, math.inf)
        for some, hosts in (
            (rows, np.arange(below.shape[1])),
            (np.flatnonzero(may), columns),
        ):
            if not len(some) or not len(hosts):
                continue
            costs = entering[np.ix_(some, hosts)]
            costs += leaving[some, None]
            costs *= noise[some, None]
            costs += own[some, None]
            found = int(costs.argmin())
            cost = float(costs.flat[found])
            if cost < best[2]:
                row, column = divmod(found, len(hosts))
                best = (int(some[row]), int(hosts[column]), cost)
        return best

    def refresh_hosts(self, columns: IntArray) -> None:
        """Let the tables follow what happened to hosts.

        :param columns: [B, c], the hosts
        """
        model = self.model
        scores = np.take_along_axis(self.scores, columns[:, None], axis=2)
        before = self._distances(scores)
        np.put_along_axis(self._cost_of_hosts, columns, before, axis=1)
        usage = model.usage[:, :, columns].transpose(2, 0, 1, 3)
        costs = self._distances(scores[:, :, None, :] + usage)
        costs -= before[:, None]
        costs += self._lack(columns)
        costs[~self._allowed(columns)] = math.inf
        costs[np.equal(self.at[:, :, None], columns[:, None])] = math.inf
        every = self._every[:, None, None]
        self._entering[every, self._instances[:, None], columns[:, None]] = (
            costs
        )
        self._leave()

    def _leave(self) -> None:
        scores = np.take_along_axis(self.scores, self.at[:, None], axis=2)
        usage = self.model.usage[:, self._instances, self.at]
        costs = self._distances(scores - usage.transpose(1, 0, 2))
        costs -= np.take_along_axis(self._cost_of_hosts, self.at, axis=1)
        relief: FloatArray = np.zeros(self.at.shape)
        for r, need in enumerate(self.model.needs):
            free = np.take_along_axis(self.free[:, r], self.at, axis=1)
            relief += np.minimum(need, np.maximum(-free, 0.0))
        self._leaving = costs - self.price[:, None] * relief

    def _distances(self, scores: FloatArray) -> FloatArray:
        """How far scores are outside their windows, summed over policies.

        :param scores: [B, P, ...]
        """
        shape = self.high.shape + (1,) * (scores.ndim - 2)
        found = np.maximum(scores - self.high.reshape(shape), 0.0)
        found += np.maximum(self.low.reshape(shape) - scores, 0.0)
        distances: FloatArray = np.add.reduce(found, axis=1)
        return distances

    def _lack(self, columns: IntArray) -> FloatArray:
        """[B, V, c]: the price of the room that a move lacks."""
        lack: FloatArray = np.zeros((*self.at.shape, columns.shape[1]))
        for r, need in enumerate(self.model.needs):
            free = np.take_along_axis(self.free[:, r], columns, axis=1)
            room = np.maximum(free, 0.0)[:, None]
            lack += np.maximum(need[:, None] - room, 0.0)
        return self.price[:, None, None] * lack

    def _allowed(self, columns: IntArray) -> BoolArray:
        """[B, V, c]: which moves no rule but that of room forbids."""
        model = self.model
        allowed = model.allowed[:, columns].transpose(1, 0, 2)
        there = np.take_along_axis(self.there, columns[:, None], axis=2)
        full = there >= model.most[:, None]
        return allowed & ~full[:, model.group_of]


def _lowest(values: FloatArray, number: int) -> IntArray:
    """The positions of the lowest values below 0, in their own order."""
    found = np.flatnonzero(values < 0.0)
    if len(found) > number:
        order = np.argsort(values[found], kind='stable')
        found = np.sort(found[order[:number]])
    return found
