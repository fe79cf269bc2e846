# SPDX-License-Identifier: Apache-2.0
"""The batch: several placements of one scope, searched side by side.

What a move adds to a host depends on the host alone, as long as it is judged
by windows: a score outside its policy's window costs its distance. So a
table holds what every move would cost, and a move changes two columns of it.
Room is bought, too: what does not fit costs ``price``, so that a
search may go through placements that nobody may make.
"""

import math
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.local.model import ScopeModel

State = tuple[IntArray, FloatArray, FloatArray, IntArray, IntArray]

NOISE = 0.35
"""What a move costs is by so much higher or lower."""


@dataclass(frozen=True)
class Effort:
    """How much is tried."""

    placements: int
    rounds: int
    destroyed: int
    """Moves that are taken back at most in each round."""


@dataclass(frozen=True)
class FinalPlacement:
    """A final placement."""

    value: float
    """As :meth:`.Objective.values` has it."""
    host_of: IntArray
    """[V], the host of each instance"""


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
        self.host_of: IntArray = np.repeat(model.home[None], number, axis=0)
        """[B, V], the host of each instance"""
        self.scores = np.repeat(model.scores[None], number, axis=0)
        """[B, P, H]"""
        self.free = np.repeat(model.free[None], number, axis=0)
        """[B, R, H]"""
        self.members_on = np.repeat(model.members_on[None], number, axis=0)
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
            (number, len(model.hosts), tables * len(model.home)), math.inf
        )
        """[B, H, V], what a move costs its destination; inf: none"""
        self._leaving: FloatArray = np.zeros((number, len(model.home)))
        """[B, V], the same at its source"""

    @property
    def state(self) -> State:
        """All that a move changes; the tables follow from it."""
        return (
            self.host_of,
            self.scores,
            self.free,
            self.members_on,
            self.moved,
        )

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """[B, P]: the highest and the lowest scores of all hosts."""
        return (
            np.maximum(self.scores.max(axis=2), self.model.highest_other),
            np.minimum(self.scores.min(axis=2), self.model.lowest_other),
        )

    def overfull(self) -> FloatArray:
        """[B]: by how much hosts are fuller than they may be."""
        free = np.minimum(self.model.free, 0.0)
        over: FloatArray = np.maximum(free - self.free, 0.0).sum(axis=(1, 2))
        return over

    def costs(self) -> FloatArray:
        """[B]: of the memory of all that is not at home."""
        away = np.not_equal(self.host_of, self.model.home)
        costs: FloatArray = np.add.reduce(
            np.where(away, self.model.costs, 0.0), axis=1
        )
        return costs

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
        sources = self.host_of[which, instances]
        used = model.usage_of_hosts
        self.scores[which, :, sources] -= used[sources, :, instances]
        self.scores[which, :, hosts] += used[hosts, :, instances]
        needs = model.needs[:, instances].T
        self.free[which, :, sources] += needs
        self.free[which, :, hosts] -= needs
        groups = model.group_of[instances]
        self.members_on[which, groups, sources] -= 1
        self.members_on[which, groups, hosts] += 1
        homes = model.home[instances]
        self.moved[which] += (hosts != homes).astype(np.intp)
        self.moved[which] -= sources != homes
        self.host_of[which, instances] = hosts
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
        at_home = np.equal(self.host_of, self.model.home)
        full = np.greater_equal(self.moved, most)[:, None]
        leaving = np.where(full & at_home, math.inf, self._leaving)
        costs = self._entering + leaving[:, None]
        costs *= noise[:, None]
        flat = costs.reshape(len(self._every), -1)
        lowest = flat.argmin(axis=1)
        hosts, instances = np.divmod(lowest, costs.shape[2])
        return instances, hosts, flat[self._every, lowest]

    def outside(self) -> FloatArray:
        """[B]: how far all hosts are outside of the windows, and too full.

        And what it costs to copy the memory.
        """
        of_hosts = distances(
            self.scores, self.low[..., None], self.high[..., None], axis=1
        )
        outside: FloatArray = np.add.reduce(of_hosts, axis=1)
        outside += self.price * self.overfull()
        return outside + self.costs()

    def refresh_hosts(self, columns: IntArray) -> None:
        """Let the tables follow what happened to hosts.

        :param columns: [B, c], the hosts
        """
        model, every = self.model, self._every[:, None]
        scores = self.scores[every, :, columns]
        low, high = self.low[:, None], self.high[:, None]
        before = distances(scores, low, high)
        self._cost_of_hosts[every, columns] = before
        costs = distances(
            scores[..., None] + model.usage_of_hosts[columns],
            low[..., None],
            high[..., None],
            axis=2,
        )
        costs -= before[..., None]
        costs += self._lack(columns)
        here = np.equal(self.host_of[:, None], columns[:, :, None])
        allowed = self._allowed(columns) & ~here
        self._entering[every, columns] = np.where(allowed, costs, math.inf)
        self._leave(*np.nonzero(here.any(axis=1)))

    def _leave(self, which: IntArray, instances: IntArray) -> None:
        """What leaving costs some instances; all parameters are [n]."""
        model = self.model
        hosts = self.host_of[which, instances]
        costs = distances(
            self.scores[which, :, hosts]
            - model.usage_of_hosts[hosts, :, instances],
            self.low[which],
            self.high[which],
        )
        costs -= self._cost_of_hosts[which, hosts]
        lack = np.maximum(-self.free[which, :, hosts], 0.0)
        relief = np.minimum(model.needs[:, instances].T, lack)
        costs -= self.price[which] * np.add.reduce(relief, axis=1)
        self._leaving[which, instances] = costs

    def _lack(self, columns: IntArray) -> FloatArray:
        """[B, c, V]: the price of the room that a move lacks."""
        lack: FloatArray = np.zeros((*columns.shape, self.host_of.shape[1]))
        for r, need in enumerate(self.model.needs):
            free = self.free[self._every[:, None], r, columns]
            available = np.maximum(free, 0.0)[..., None]
            lack += np.maximum(need - available, 0.0)
        return self.price[:, None, None] * lack

    def _allowed(self, columns: IntArray) -> BoolArray:
        """[B, c, V]: which moves no rule but that of room forbids."""
        model = self.model
        allowed = model.allowed_on[columns]
        if len(model.most) > 1:
            counts = self.members_on[self._every[:, None], :, columns]
            allowed &= (counts < model.most)[..., model.group_of]
        return allowed


def distances(
    scores: FloatArray, low: FloatArray, high: FloatArray, axis: int = -1
) -> FloatArray:
    """How far scores are outside their windows, summed over policies.

    :param axis: that of the policies
    """
    outside = scores - high
    np.maximum(outside, low - scores, out=outside)
    np.maximum(outside, 0.0, out=outside)
    distances: FloatArray = np.add.reduce(outside, axis=axis)
    return distances
