# SPDX-License-Identifier: Apache-2.0
"""The host sets: which hosts are emptied together, and where all goes.

Most hosts first, then the fewest migrations, then the least memory. Hosts
are tried in several orders; where there are few, sets of them are tried as
well, the cheapest first. Whoever is to be emptied takes nothing.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.planning.search.packing.ejections import EjectingPacking
from kronos.engine.planning.search.packing.pack_scope import PackScope

EFFORT = 2**22
"""Pairs of an instance and a host in all tries."""
MOST_TRIES = 400
FEW_HOSTS = 16
"""Of so many all sets are looked at."""

Placed = tuple[int, int, int]
"""An instance, its source and its destination."""


@dataclass
class Emptying:
    """Hosts that are emptied, and all that moves for it, in its order."""

    hosts: list[int] = field(default_factory=list)
    moves: list[Placed] = field(default_factory=list)
    memory_mb: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """The lower, the better."""
        return -len(self.hosts), len(self.moves), self.memory_mb


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
        found = Emptying()
        if not self._most:
            return found
        cheapest, *others = self._orders()
        for order in (cheapest, *others):
            made = self._in_turn(order, self._most, ejects=False)
            found = min(found, made, key=_rank)
        likely = [self._most]
        if others:
            likely.append(max(1, len(found.hosts)))
        for number in likely:
            made = self._in_turn(cheapest, number, ejects=True)
            if self._is_legal(made.hosts, made.moves):
                found = min(found, made, key=_rank)
        if len(self._candidates) <= FEW_HOSTS:
            found = self._by_sets(found)
        return found

    def _orders(self) -> Iterator[IntArray]:
        """Orders in which hosts may be tried, the cheapest first.

        By migrations, and in smaller scopes by what is scarce as well.
        """
        load = self._utilization.weights @ self._utilization.scores
        load = ranking.rounded(load)
        yield self._sorted(self._number, load)
        if not self._tries:
            return
        yield self._sorted(load, self._number)
        for one in self._knapsacks:
            yield self._sorted(ranking.rounded(one.weights), load)

    def _sorted(
        self, first: FloatArray | IntArray, then: FloatArray | IntArray
    ) -> IntArray:
        some = self._candidates
        return some[np.lexsort((then[some], first[some]))]

    def _in_turn(self, order: IntArray, number: int, ejects: bool) -> Emptying:
        """Empty one host after the other, as long as the budget allows.

        :param number: so many of the first take nothing: they are likely to
            be emptied, too
        :param ejects: whether instances make room for others
        """
        targets = self._in_use.copy()
        targets[order[:number]] = False
        found: list[int] = []
        ends: set[int] = set()
        with self._placement.trial():
            packing = EjectingPacking(self._simulation)
            for host in order.tolist():
                if len(found) == self._most:
                    break
                before = len(packing.moves)
                if host not in ends and self._drain(
                    packing, host, targets, ejects
                ):
                    found.append(host)
                    for _, *both in packing.moves[before:]:
                        ends.update(both)
                else:
                    targets[host] = self._in_use[host]
            return self._emptying(found, packing.moves)

    def _drain(
        self,
        packing: EjectingPacking,
        host: int,
        targets: BoolArray,
        ejects: bool,
    ) -> bool:
        """Empty a host after others, or leave all as it was."""
        there = self._placement.on(host)
        before = len(packing.moves)
        spare = self._simulation.left - before - len(there)
        if spare < 0:
            return False
        receives = targets[host]
        targets[host] = False
        load = packing.load.copy()
        heaviest = packing.heaviest_first(there)
        if ejects:
            stuck = packing.place_all(heaviest, targets, spare, before)
        else:
            stuck = packing.place(heaviest, targets)
        if stuck is None and self._is_safe(packing):
            return True
        targets[host] = receives
        packing.take_back(before)
        packing.load = load
        return False

    def _by_sets(self, found: Emptying) -> Emptying:
        """Try sets of one host more, then those with fewer migrations."""
        tries = self._tries
        for number in range(len(found.hosts), self._most + 1):
            for hosts in self._sets(number):
                if len(hosts) == len(found.hosts) and (
                    self._number[hosts].sum() >= len(found.moves)
                ):
                    break
                if not tries:
                    return found
                tries -= 1
                tried = self._together(hosts)
                if tried is not None:
                    found = min(found, tried, key=_rank)
            if len(found.hosts) < number:
                break
        return found

    def _sets(self, number: int) -> list[list[int]]:
        """The sets of so many hosts that may fit, the cheapest first."""
        sets = [
            list(hosts)
            for hosts in itertools.combinations(
                self._candidates.tolist(), number
            )
        ]
        able = [one for one in sets if self._may_fit(one)]
        return sorted(able, key=lambda hosts: self._number[hosts].sum())

    def _may_fit(self, hosts: list[int]) -> bool:
        return bool(
            self._number[hosts].sum() <= self._simulation.left
        ) and all(
            one.weights[hosts].sum() <= one.room * (1 + 1e-9)
            for one in self._knapsacks
        )

    def _together(self, hosts: list[int]) -> Emptying | None:
        """Empty all of some hosts, the largest instances first."""
        targets = self._in_use.copy()
        targets[hosts] = False
        there = np.flatnonzero(np.isin(self._placement.host_of, hosts))
        spare = self._simulation.left - len(there)
        with self._placement.trial():
            packing = EjectingPacking(self._simulation)
            order = packing.heaviest_first(there)
            if packing.place_all(order, targets, spare, 0) is not None:
                return None
            moves = packing.moves
        for ordered in (self._by_host(hosts, moves), moves):
            if self._is_legal(hosts, ordered):
                return self._emptying(hosts, ordered)
        return None

    def _by_host(
        self, hosts: list[int], moves: Sequence[Placed]
    ) -> list[Placed]:
        """One host after the other; who makes room comes just before."""
        rank = {host: at for at, host in enumerate(hosts)}
        keys: list[int] = []
        for _, source, _ in reversed(moves):
            keys.append(rank[source] if source in rank else keys[-1])
        order = np.argsort(keys[::-1], kind='stable').tolist()
        return [moves[at] for at in order]

    def _is_legal(self, hosts: list[int], moves: Sequence[Placed]) -> bool:
        """Whether each may be made when its turn comes.

        And whether the scope is as it has to be after each host.
        """
        left = {host: int(self._number[host]) for host in hosts}
        with self._placement.trial():
            packing = BinPacking(self._simulation)
            for instance, source, host in moves:
                if self._simulation.constraints.why_not(instance, host):
                    return False
                packing.put(instance, host)
                if source in left:
                    left[source] -= 1
                    if not left[source] and not self._is_safe(packing):
                        return False
        return True

    def _emptying(self, hosts: list[int], moves: Sequence[Placed]) -> Emptying:
        memory = self._utilization.memory_mb[[one for one, _, _ in moves]]
        return Emptying(hosts, list(moves), int(memory.sum()))


def _rank(found: Emptying) -> tuple[int, int, int]:
    return found.rank
