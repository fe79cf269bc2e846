# SPDX-License-Identifier: Apache-2.0
"""The host sets: which hosts are emptied together, and where all goes.

Most hosts first, then the fewest migrations, then the least memory. Hosts
are tried in several orders; where there are few, sets of them are tried as
well, the cheapest first. Whoever is to be emptied takes nothing.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from kronos.engine.arrays import EPSILON
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.planning.search.packing import emptying
from kronos.engine.planning.search.packing.ejections import EjectingPacking
from kronos.engine.planning.search.packing.emptying import Emptying, Placed
from kronos.engine.planning.search.packing.host_orders import HostOrders
from kronos.engine.planning.search.packing.pack_scope import PackScope

EFFORT = 2**22
"""Pairs of an instance and a host in all tries."""
MOST_TRIES = 400
FEW_HOSTS = 16
"""Of so many all sets are looked at."""


class HostSets:
    """The search in one scope; it leaves the simulation as it is.

    :param scope: whose simulation has the budget that is left
    :param most: more hosts cannot be emptied
    :param is_safe: whether a packing leaves the scope as it has to be
    """

    def __init__(
        self,
        scope: PackScope,
        most: int,
        is_safe: Callable[[BinPacking], bool],
    ) -> None:
        self._scope = scope
        self._simulation = scope.simulation
        self._placement = scope.simulation.placement
        self._utilization = scope.simulation.utilization
        self._is_safe = is_safe
        self._in_use = scope.in_use() & ~scope.begun
        self._number = scope.number()
        self._candidates = scope.candidates()
        self._knapsacks = scope.knapsacks()
        keeps = int(scope.in_use().sum()) - scope.keep_hosts
        self._most = max(0, min(most, keeps))
        pairs = len(self._placement.host_of) * len(self._number)
        self._tries = min(MOST_TRIES, EFFORT // max(1, pairs))

    def best(self) -> Emptying:
        """The best that is found; maybe of no host."""
        if not self._most:
            return Emptying()
        chosen = self._by_orders()
        if len(self._candidates) <= FEW_HOSTS:
            chosen = self._by_sets(chosen)
        return chosen

    def _by_orders(self) -> Emptying:
        """In a large scope in the cheapest order alone."""
        chosen, is_small = Emptying(), self._tries > 0
        host_orders = HostOrders(self._scope, self._most, self._is_safe)
        orders = list(host_orders.orders(is_small))
        for order in orders:
            trial = host_orders.in_turn(order, self._most, ejects=False)
            chosen = emptying.better(chosen, trial)
        likely = [self._most]
        if is_small:
            likely.append(max(1, len(chosen.hosts)))
        for number in likely:
            trial = host_orders.in_turn(orders[0], number, ejects=True)
            if self._is_legal(trial.hosts, trial.moves):
                chosen = emptying.better(chosen, trial)
        return chosen

    def _by_sets(self, chosen: Emptying) -> Emptying:
        """Try sets of one host more, then those with fewer migrations."""
        tries = self._tries
        for number in range(max(1, len(chosen.hosts)), self._most + 1):
            for hosts in self._sets(number):
                if len(hosts) == len(chosen.hosts) and (
                    self._number[hosts].sum() >= len(chosen.moves)
                ):
                    break
                if not tries:
                    return chosen
                tries -= 1
                tried = self._together(hosts)
                if tried is not None:
                    chosen = emptying.better(chosen, tried)
            if len(chosen.hosts) < number:
                break
        return chosen

    def _sets(self, number: int) -> list[list[int]]:
        """The sets of so many hosts that may fit, the cheapest first."""
        sets = np.array(
            [*itertools.combinations(self._candidates.tolist(), number)],
            dtype=np.intp,
        ).reshape(-1, number)
        moves = self._number[sets].sum(axis=1)
        able = moves <= self._simulation.remaining
        for knapsack in self._knapsacks:
            able &= knapsack.weights[sets].sum(axis=1) <= knapsack.capacity * (
                1 + EPSILON
            )
        order = np.argsort(moves[able], kind='stable')
        ordered: list[list[int]] = sets[able][order].tolist()
        return ordered

    def _together(self, hosts: list[int]) -> Emptying | None:
        """Empty all of some hosts, the largest instances first."""
        targets = self._in_use.copy()
        targets[hosts] = False
        instances = np.flatnonzero(np.isin(self._placement.host_of, hosts))
        spare = self._simulation.remaining - len(instances)
        with self._placement.trial():
            packing = EjectingPacking(self._simulation)
            order = packing.heaviest_first(instances)
            if packing.place_all(order, targets, spare, 0) is not None:
                return None
            moves = packing.moves
        for ordered in (self._by_host(hosts, moves), moves):
            if self._is_legal(hosts, ordered):
                return Emptying.of(self._utilization, hosts, ordered)
        return None

    def _by_host(
        self, hosts: list[int], moves: Sequence[Placed]
    ) -> list[Placed]:
        """One host after the other; who makes room comes just before."""
        rank = {host: position for position, host in enumerate(hosts)}
        keys: list[int] = []
        for _, source, _ in reversed(moves):
            keys.append(rank[source] if source in rank else keys[-1])
        order = np.argsort(keys[::-1], kind='stable').tolist()
        return [moves[position] for position in order]

    def _is_legal(self, hosts: list[int], moves: Sequence[Placed]) -> bool:
        """Whether each may be made when its turn comes.

        And whether the scope is as it has to be after each host.
        """
        counts = {host: int(self._number[host]) for host in hosts}
        with self._placement.trial():
            packing = BinPacking(self._simulation)
            for instance, source, host in moves:
                if self._simulation.constraints.why_not(instance, host):
                    return False
                packing.put(instance, host)
                if source in counts:
                    counts[source] -= 1
                    if not counts[source] and not self._is_safe(packing):
                        return False
        return True
