# SPDX-License-Identifier: Apache-2.0
"""The stuck hosts: those at the ends of a policy that no migration helps.

A host is helped where a legal migration to which no policy objects leaves
both of its hosts nearer to the others than this one is now, and does not make
the combined imbalance of all hosts worse. Who is not is taken from its end,
then the next one is looked at, as long as what is left is over the threshold.
So the others can be planned by themselves.
"""

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.planning.search import ranking
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import SetAside

MOST = 1000
"""So many hosts are looked at for each policy."""


def find(simulation: Simulation, exhaust: bool) -> BoolArray:
    """[P, H]: the hosts that each policy is to be judged without.

    :param simulation: where its search found nothing more
    :param exhaust: whether thresholds do not matter
    """
    utilization = simulation.utilization
    aside: BoolArray = np.zeros(utilization.scores.shape, dtype=bool)
    for p, threshold in enumerate(utilization.thresholds.tolist()):
        if utilization.weights[p] > 0.0:
            limit = 0.0 if exhaust else threshold
            aside[p] = StuckHosts(simulation, p, limit).find()
    return aside


class StuckHosts:
    """The search for them in one policy.

    :param limit: imbalance of the others at which it ends
    """

    def __init__(self, simulation: Simulation, p: int, limit: float) -> None:
        self._simulation = simulation
        self._utilization = simulation.utilization
        self._p = p
        self._limit = limit
        self._scores = simulation.utilization.scores[p]
        self._helped: dict[tuple[bool, int], bool] = {}

    def find(self) -> BoolArray:
        """[H]: the hosts to set aside; none if fewer than two were left."""
        aside: BoolArray = np.zeros(len(self._scores), dtype=bool)
        hosts = np.flatnonzero(self._utilization.counts)
        while len(hosts) > 1 and len(self._helped) < MOST:
            values = self._scores[hosts]
            if values.max() - values.min() <= self._limit + EPSILON:
                break
            ends = [self._end(hosts, values, high) for high in (False, True)]
            stuck = [end for end in ends if len(end)]
            if not stuck:
                break
            chosen = max(stuck, key=lambda end: self._worth(hosts, end))
            aside[chosen] = True
            hosts = hosts[~np.isin(hosts, chosen)]
        return aside if len(hosts) > 1 else np.zeros_like(aside)

    def _end(
        self, hosts: IntArray, values: FloatArray, high: bool
    ) -> IntArray:
        """The hosts at one end that nothing helps; equals are at it, too."""
        if high:
            end = hosts[values >= values.max() - EPSILON]
        else:
            end = hosts[values <= values.min() + EPSILON]
        if len(end) == len(hosts):
            return hosts[:0]
        return np.array(
            [host for host in end.tolist() if not self._is_helped(host, high)],
            dtype=np.intp,
        )

    def _worth(self, hosts: IntArray, end: IntArray) -> tuple[float, int]:
        """How much narrower the others lie without an end, for each host."""
        others = self._scores[hosts[~np.isin(hosts, end)]]
        width = round(float(others.max() - others.min()), ranking.DECIMALS)
        return -width / len(end), -len(end)

    def _is_helped(self, host: int, high: bool) -> bool:
        key = high, host
        if key not in self._helped:
            look = self._leaving if high else self._entering
            self._helped[key] = look(host)
        return self._helped[key]

    def _leaving(self, host: int) -> bool:
        """Whether a move off a host helps it where it is the highest."""
        instances = self._simulation.on(host)
        used = self._utilization.usage[self._p, instances]
        instances = instances[used > EPSILON]
        if not len(instances):
            return False
        hosts = np.flatnonzero(self._utilization.counts)
        here = np.full((len(instances), 1), host, dtype=np.intp)
        falls = self._falls(instances[:, None], here, hosts[None, :], 1.0)
        rows = np.flatnonzero((falls > EPSILON).any(axis=1))
        instances, falls = instances[rows], falls[rows]
        if not len(instances):
            return False
        legal = self._simulation.constraints.rows(instances)[:, hosts]
        positions, columns = np.nonzero(legal & (falls > EPSILON))
        sources = np.full(len(positions), host, dtype=np.intp)
        return self._may(instances[positions], sources, hosts[columns])

    def _entering(self, host: int) -> bool:
        """Whether a move onto a host helps it where it is the lowest."""
        movable = self._simulation.movable
        allowed = self._simulation.constraints.column(host) & movable
        instances = np.flatnonzero(allowed)
        sources = self._simulation.placement.host_of[instances]
        hosts = np.full(len(instances), host, dtype=np.intp)
        rises = self._falls(instances, sources, hosts, -1.0)
        good = rises > EPSILON
        return self._may(instances[good], sources[good], hosts[good])

    def _falls(
        self,
        instances: IntArray,
        sources: IntArray,
        hosts: IntArray,
        sign: float,
    ) -> FloatArray:
        """By how much the further of both hosts is nearer than one is now.

        :param sign: 1.0: than the source, from above; -1.0: than the
            destination, from below
        """
        used = self._utilization.usage[self._p][instances]
        capacity = self._utilization.capacity[self._p]
        leaving = self._scores[sources] - used / capacity[sources]
        entered = self._scores[hosts] + used / capacity[hosts]
        now = self._scores[sources if sign > 0.0 else hosts]
        falls: FloatArray = np.minimum(
            sign * (now - leaving), sign * (now - entered)
        )
        return falls

    def _may(
        self, instances: IntArray, sources: IntArray, hosts: IntArray
    ) -> bool:
        """Whether one of N moves meets no objection, and costs nothing."""
        if not len(instances):
            return False
        utilization = self._utilization
        ends = utilization.scores_after(instances, sources, hosts)
        gains, objected = utilization.judge(sources, hosts, *ends)
        return bool(np.any(~objected & (gains >= -EPSILON)))


def why(simulation: Simulation, p: int, host: int, is_high: bool) -> str:
    """Why nothing helps a host in a policy, in the words of a report."""
    utilization = simulation.utilization
    if not is_high:
        allowed = simulation.constraints.column(host)
        if (allowed & simulation.movable).any():
            return 'no migration to it raises its score enough'
        return _refused(simulation, host)
    on = simulation.placement.on(host)
    weighs = on[utilization.usage[p, on] > EPSILON]
    movable = weighs[simulation.movable[weighs]]
    if not len(movable):
        return 'no instance on it may leave'
    legal = simulation.constraints.rows(movable).any()
    if not legal:
        return 'no instance on it has a legal destination'
    return 'no migration from it lowers its score enough'


def _refused(simulation: Simulation, host: int) -> str:
    """The reason of most of the first instances that may not come."""
    some = np.flatnonzero(simulation.movable)
    away = some[simulation.placement.host_of[some] != host]
    if not len(away):
        return 'no instance may move'
    reason = simulation.constraints.why_not(int(away[0]), host)
    return f'no instance may move to it: {reason}'


def descriptions(simulation: Simulation, aside: BoolArray) -> list[SetAside]:
    """The hosts that are set aside, by policy from the highest one.

    :param aside: [P, H], as found
    """
    utilization, entries = simulation.utilization, []
    for p, row in enumerate(aside):
        scores = utilization.scores[p]
        others = scores[utilization.counts & ~row]
        hosts = np.flatnonzero(row)
        for host in hosts[np.argsort(-scores[hosts], kind='stable')].tolist():
            is_high = bool(scores[host] > others.max(initial=-np.inf))
            entries.append(
                SetAside(
                    utilization.policies[p],
                    utilization.index.hosts[host],
                    is_high,
                    float(scores[host]),
                    why(simulation, p, host, is_high),
                )
            )
    return entries
