# SPDX-License-Identifier: Apache-2.0
"""The substitutions: a move of a placement is replaced by a better one.

By one of the same instance to another host, by one of another instance that
leaves the same host, or by one of any instance that goes where this one went.
"""

import math

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.local.batch import Batch
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.objective import Objective

PASSES = 3
"""So often all moves are looked at, unless nothing is left to replace."""
LOW_HOSTS = 16
"""So many hosts with the least load are looked at as destinations."""
ENDS = 3
"""So many hosts with the least of each policy, too. And of three hosts at one
end of a policy a move leaves one as it is, since it changes two."""
FIRST = np.zeros(1, dtype=np.intp)
Choice = tuple[float, int, int]
"""What a placement is worth with a move: its instance and destination."""


def substituted(
    model: ScopeModel,
    objective: Objective,
    host_of: IntArray,
    passes: int = PASSES,
) -> IntArray:
    """The placement after substitutions each of which lowers its value.

    :param host_of: [V], the host of each instance
    """
    placement = Substitutions(model, objective, host_of)
    for _ in range(passes):
        if not placement.look():
            break
    return placement.host_of


class Substitutions:
    """One placement whose moves are replaced."""

    def __init__(
        self, model: ScopeModel, objective: Objective, host_of: IntArray
    ) -> None:
        self._model = model
        self._objective = objective
        self._batch = Batch(model, 1, tables=False)
        for instance in np.flatnonzero(host_of != model.home).tolist():
            self._move(instance, int(host_of[instance]))

    @property
    def host_of(self) -> IntArray:
        """[V], the host of each instance."""
        hosts: IntArray = self._batch.host_of[0]
        return hosts

    def look(self) -> bool:
        """Look at every move; whether one was replaced."""
        moved = np.flatnonzero(self.host_of != self._model.home)
        return any([self._substitute(instance) for instance in moved.tolist()])

    def _move(self, instance: int, host: int) -> None:
        self._batch.move(FIRST, np.array([instance]), np.array([host]))

    def _substitute(self, instance: int) -> bool:
        """Take a move back, and make the best one instead of it."""
        model, batch = self._model, self._batch
        host, home = int(self.host_of[instance]), int(model.home[instance])
        group = model.group_of[instance]
        most = max(model.most[group], model.members_on[group, home])
        if batch.members_on[0, group, home] >= most:
            return False  # another member has come there
        best = self._value() - EPSILON, instance, host
        self._move(instance, home)
        staying = np.equal(self.host_of, model.home)
        for instances, hosts in (
            (
                np.flatnonzero(staying & (model.home == home)),
                self._destinations(host),
            ),
            (np.flatnonzero(staying), np.array([host])),
        ):
            best = min(best, self._best(instances, hosts))
        if self._value() < best[0]:
            return True
        self._move(*best[1:])
        return best[1:] != (instance, host)

    def _destinations(self, host: int) -> IntArray:
        """A host, and others that have little."""
        scores = self._batch.scores[0]
        load = np.add.reduce(scores, axis=0)
        some = [np.array([host]), _order(load)[:LOW_HOSTS]]
        some += [_order(row)[:ENDS] for row in scores]
        hosts: IntArray = np.unique(np.concatenate(some))
        return hosts

    def _value(self) -> float:
        batch = self._batch
        high, low = batch.extremes()
        values = self._objective.values(
            high - low, batch.moved, batch.costs(), batch.overfull()
        )
        return float(values[0])

    def _best(self, instances: IntArray, hosts: IntArray) -> Choice:
        """The best move more, of some instances to some hosts."""
        values = self._values(instances, hosts)
        position = int(values.argmin())
        row, column = divmod(position, len(hosts))
        value = float(values.flat[position])
        return value, int(instances[row]), int(hosts[column])

    def _values(self, instances: IntArray, hosts: IntArray) -> FloatArray:
        """[n, m]: of the placement with each move more; inf: it may not be."""
        batch, model = self._batch, self._model
        shape, sources = (len(instances), len(hosts)), self.host_of[instances]
        scores = batch.scores[0]
        leaves = scores[:, sources] - model.usage[:, instances, sources]
        enters = scores[:, None, hosts]
        enters = enters + model.usage[:, instances[:, None], hosts]
        high, low = self._others(sources, hosts)
        for ends in leaves[:, :, None], enters:
            high, low = np.maximum(high, ends), np.minimum(low, ends)
        number = math.prod(shape)
        values = self._objective.values(
            (high - low).reshape(-1, number).T,
            np.repeat(batch.moved + 1, number),
            np.repeat(batch.costs() + model.costs[instances], shape[1]),
            np.repeat(batch.overfull(), number),
        ).reshape(shape)
        values[~self._allowed(instances, hosts)] = math.inf
        return values

    def _others(
        self, sources: IntArray, hosts: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """[P, n, m]: the highest and the lowest scores of all other hosts."""
        model, scores = self._model, self._batch.scores[0]
        shape = len(scores), len(sources), len(hosts)
        high = np.broadcast_to(
            model.highest_other[:, None, None], shape
        ).copy()
        low = np.broadcast_to(model.lowest_other[:, None, None], shape).copy()
        for policy, row in enumerate(scores):
            order = _order(row)
            for extreme, ends, outer in (
                (high, order[-ENDS:], np.maximum),
                (low, order[:ENDS], np.minimum),
            ):
                for end in ends.tolist():
                    stays = np.not_equal(sources, end)[:, None] & (
                        np.not_equal(hosts, end)
                    )
                    outer(
                        extreme[policy],
                        row[end],
                        out=extreme[policy],
                        where=stays,
                    )
        return high, low

    def _allowed(self, instances: IntArray, hosts: IntArray) -> BoolArray:
        """[n, m]: which moves no rule forbids."""
        batch, model = self._batch, self._model
        groups = model.group_of[instances]
        counts = batch.members_on[0][:, hosts]
        allowed: BoolArray = model.allowed[np.ix_(instances, hosts)]
        allowed &= counts[groups] < model.most[groups][:, None]
        allowed &= np.not_equal(self.host_of[instances][:, None], hosts)
        for need, free in zip(model.needs, batch.free[0], strict=True):
            available = np.maximum(free[hosts], 0.0) + EPSILON
            allowed &= need[instances][:, None] <= available
        return allowed


def _order(values: FloatArray) -> IntArray:
    """Positions, the lowest value first."""
    positions: IntArray = np.argsort(values, kind='stable')
    return positions
