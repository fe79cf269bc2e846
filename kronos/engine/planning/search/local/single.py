# SPDX-License-Identifier: Apache-2.0
"""The batch of a single placement, for scopes with many hosts.

It computes what :class:`Batch` does, to the last bit, without the calls that
many placements side by side need.
"""

import math

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.planning.search.local.batch import Batch, distances
from kronos.engine.planning.search.local.model import ScopeModel

NEAREST_INSTANCES = 96
"""So many are looked at as the next one to move, where many are."""
NEAREST_HOSTS = 12
"""Into so many hosts below their windows any instance may move."""
SAVING = 4.0
"""By so much dearer is memory where hosts are many: they come into a window by
far more, all together, than the combined imbalance falls by that."""


class SinglePlacement(Batch):
    """One placement of V instances on H hosts, by P policies."""

    def __init__(self, model: ScopeModel) -> None:
        super().__init__(model, 1)
        self._hosts = np.arange(len(model.hosts))
        self._instances = np.arange(len(model.home))

    def put(self, instance: int, host: int) -> int:
        """Make one move; the tables lag behind.

        :returns: the source
        """
        model = self.model
        source = int(self.host_of[0, instance])
        used, needs = model.usage_of_hosts, model.needs[:, instance]
        scores, free = self.scores[0], self.free[0]
        scores[:, source] -= used[source, :, instance]
        scores[:, host] += used[host, :, instance]
        free[:, source] += needs
        free[:, host] -= needs
        group, home = model.group_of[instance], model.home[instance]
        self.members_on[0, group, source] -= 1
        self.members_on[0, group, host] += 1
        self.moved[0] += int(host != home) - int(source != home)
        self.host_of[0, instance] = host
        return source

    def put_on(self, instance: int, host: int) -> None:
        """As :meth:`put`, and the tables follow."""
        self.refresh_hosts(np.array([[self.put(instance, host), host]]))

    def best_move(
        self, most: int, noise: FloatArray
    ) -> tuple[int, int, float]:
        """As :meth:`best_moves`, where many are.

        A move only helps that leaves a host outside of a window, or enters
        one; of these the furthest outside are looked at.

        :param noise: [V]
        :returns: its cost is inf if there is none
        """
        entering, leaving = self._entering[0], self._leaving[0]
        at_home = np.equal(self.host_of[0], self.model.home)
        if self.moved[0] >= most:
            leaving = np.where(at_home, math.inf, leaving)
        extra = SAVING * np.where(at_home, self.model.costs, 0.0)
        below = np.maximum(self.low[0][:, None] - self.scores[0], 0.0)
        furthest = _lowest(leaving, NEAREST_INSTANCES)
        lowest = _lowest(-np.add.reduce(below, axis=0), NEAREST_HOSTS)
        best = (0, 0, math.inf)
        for costs, to, some in (
            (entering[:, furthest], self._hosts, furthest),
            (entering[lowest], lowest, self._instances),
        ):
            if not costs.size:
                continue
            costs += leaving[some]
            costs *= noise[some]
            costs += extra[some]
            row, column = divmod(int(costs.argmin()), len(some))
            cost = float(costs[row, column])
            if cost < best[2]:
                best = int(some[column]), int(to[row]), cost
        return best

    def refresh_hosts(self, columns: IntArray) -> None:
        """Let the tables follow what happened to hosts.

        :param columns: [1, c], the hosts
        """
        model, hosts = self.model, columns[0]
        low, high = self.low[0], self.high[0]
        scores = self.scores[0].T[hosts]
        before = distances(scores, low, high)
        self._cost_of_hosts[0, hosts] = before
        costs = distances(
            scores[:, :, None] + model.usage_of_hosts[hosts],
            low[:, None],
            high[:, None],
            axis=1,
        )
        costs -= before[:, None]
        available = np.maximum(self.free[0][:, hosts], 0.0)[:, :, None]
        lack = np.maximum(model.needs[:, None] - available, 0.0)
        costs += self.price[0] * np.add.reduce(lack, axis=0)
        here = np.equal(self.host_of[0], hosts[:, None])
        allowed = model.allowed_on[hosts] & ~here
        if len(model.most) > 1:
            has_room = self.members_on[0].T[hosts] < model.most
            allowed &= has_room[:, model.group_of]
        self._entering[0, hosts] = np.where(allowed, costs, math.inf)
        self._follow(np.flatnonzero(here.any(axis=0)))

    def _follow(self, instances: IntArray) -> None:
        """Compute what leaving costs some instances."""
        model, hosts = self.model, self.host_of[0][instances]
        costs = distances(
            self.scores[0].T[hosts]
            - model.usage_of_hosts[hosts, :, instances],
            self.low[0],
            self.high[0],
        )
        costs -= self._cost_of_hosts[0, hosts]
        lack = np.maximum(-self.free[0].T[hosts], 0.0)
        relief = np.minimum(model.needs.T[instances], lack)
        costs -= self.price[0] * np.add.reduce(relief, axis=1)
        self._leaving[0, instances] = costs


def _lowest(values: FloatArray, number: int) -> IntArray:
    """The positions of the lowest values below 0, in their own order."""
    positions = np.flatnonzero(values < 0.0)
    if len(positions) > number:
        order = np.argsort(values[positions], kind='stable')
        positions = np.sort(positions[order[:number]])
    return positions
