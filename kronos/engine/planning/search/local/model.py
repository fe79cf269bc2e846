# SPDX-License-Identifier: Apache-2.0
"""The model of a scope: the arrays of a search over final placements.

It holds the hosts and the instances that the search looks at; of all other
hosts only how high and how low they are. Scores and usages are
multiplied by the weights of their policies, so that they add up to the
combined imbalance.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.engine.planning.search import ranking

if TYPE_CHECKING:
    from kronos.engine.simulation.simulation import Simulation

UNLIMITED = 1 << 30


class ScopeModel:
    """A scope as a search finds it, in arrays of its own.

    Positions here are places among ``instances`` and ``hosts``.

    :param instances: [V], positions of movable ones
    :param hosts: [H], positions, among them all that the instances are on;
        none that is set aside
    :param cost_weight: what 100 GiB cost, in combined imbalance
    """

    def __init__(
        self,
        simulation: Simulation,
        instances: IntArray,
        hosts: IntArray,
        cost_weight: float = 0.0,
    ) -> None:
        utilization = simulation.utilization
        weights = utilization.weights[:, None]
        self.instances, self.hosts = instances, hosts
        self.home: IntArray = np.searchsorted(
            hosts, simulation.placement.host_of[instances]
        )
        """[V]"""
        self.scores: FloatArray = weights * utilization.scores[:, hosts]
        """[P, H]"""
        self.usage_of_hosts = _usage(simulation, instances, hosts)
        """[H, P, V], what of each host each instance takes"""
        self.usage = self.usage_of_hosts.transpose(1, 2, 0)
        """[P, V, H], the same"""
        self.thresholds = utilization.weights * utilization.thresholds
        self.vetoed_above: FloatArray | None = None
        """[P], as :attr:`.Utilization.vetoed_above`"""
        if utilization.vetoed_above is not None:
            self.vetoed_above = utilization.weights * utilization.vetoed_above
        self.veto = np.maximum(
            self.thresholds, utilization.weights * utilization.veto
        )
        """[P], above which a policy objects to a final placement"""
        rest = np.setdiff1d(np.flatnonzero(utilization.counts), hosts)
        others = weights * utilization.scores[:, rest]
        judged = utilization.ends.judged[:, rest]
        self.highest_other = others.max(
            axis=1, initial=-math.inf, where=judged
        )
        self.lowest_other = others.min(axis=1, initial=math.inf, where=judged)
        self._limit(simulation)
        self.memory_mb = utilization.memory_mb[instances]
        self.costs = ranking.costs(self.memory_mb, cost_weight)
        """[V], of moving each for the memory that is copied"""

    def _limit(self, simulation: Simulation) -> None:
        limits = simulation.constraints.limits(self.instances, self.hosts)
        everyone = np.arange(len(self.instances))
        self.allowed = limits.allowed
        """[V, H]; it may stay where it is"""
        self.allowed[everyone, self.home] = True
        shape = len(self.instances), len(self.hosts)
        self.needs: FloatArray = np.array(limits.needs, dtype=float)
        self.needs = self.needs.reshape(-1, shape[0])
        """[R, V]"""
        self.free: FloatArray = np.array(limits.free, dtype=float)
        self.free = self.free.reshape(-1, shape[1])
        """[R, H]"""
        scale = np.maximum(self.needs.sum(axis=1) / max(1, shape[0]), 1.0)
        self.needs, self.free = (
            self.needs / scale[:, None],
            self.free / scale[:, None],
        )
        # One more group, which nobody is in and which allows everything.
        self.group_of = np.full(shape[0], len(limits.apart), dtype=np.intp)
        """[V], its group of those that are to be apart"""
        self.members_on = np.zeros(
            (len(limits.apart) + 1, shape[1]), dtype=np.intp
        )
        """[G, H], members by host"""
        self.most = np.full(len(limits.apart) + 1, UNLIMITED, dtype=np.intp)
        """[G], how many may share a host"""
        for number, (members, counts, most) in enumerate(limits.apart):
            # Who is in two groups stays.
            twice = [
                instance
                for instance in members
                if self.group_of[instance] < len(limits.apart)
            ]
            self._fix(twice)
            self.group_of[members] = number
            self.members_on[number], self.most[number] = counts, most
        self.allowed_on = np.ascontiguousarray(self.allowed.T)
        """[H, V], as ``allowed``: a batch reads whole hosts"""

    def _fix(self, instances: list[int]) -> None:
        self.allowed[instances] = False
        self.allowed[instances, self.home[instances]] = True


def _usage(
    simulation: Simulation, instances: IntArray, hosts: IntArray
) -> FloatArray:
    utilization = simulation.utilization
    usage = utilization.weights[:, None] * utilization.usage[:, instances]
    capacity = utilization.capacity[:, hosts].T
    shape = len(hosts), *usage.shape
    if np.all(capacity == 1.0):
        return np.broadcast_to(usage, shape)
    shares: FloatArray = usage / capacity[:, :, None]
    return shares
