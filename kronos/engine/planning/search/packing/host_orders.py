# SPDX-License-Identifier: Apache-2.0
"""The host orders: in which order hosts are emptied one after the other.

:mod:`.host_sets` tries several of them. Whoever is likely to be emptied
takes nothing.
"""

from collections.abc import Callable, Iterator

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.planning.search.packing.ejections import EjectingPacking
from kronos.engine.planning.search.packing.emptying import Emptying
from kronos.engine.planning.search.packing.pack_scope import PackScope


class HostOrders:
    """One scope; its simulation stays as it is.

    :param scope: whose simulation has the budget that is left
    :param most: so many hosts are emptied at most
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
        self._most = most
        self._in_use = scope.in_use() & ~scope.begun
        self._number = scope.number()
        self._candidates = scope.candidates()
        self._knapsacks = scope.knapsacks()

    def orders(self, all_of_them: bool) -> Iterator[IntArray]:
        """Orders in which hosts may be tried, the cheapest first.

        :param all_of_them: by load and by what is scarce, too, not only by
            migrations
        """
        load = self._utilization.weights @ self._utilization.scores
        load = ranking.rounded(load)
        yield self._sorted(self._number, load)
        if not all_of_them:
            return
        yield self._sorted(load, self._number)
        for knapsack in self._knapsacks:
            yield self._sorted(ranking.rounded(knapsack.weights), load)

    def _sorted(
        self, first: FloatArray | IntArray, then: FloatArray | IntArray
    ) -> IntArray:
        some = self._candidates
        return some[np.lexsort((then[some], first[some]))]

    def in_turn(self, order: IntArray, number: int, ejects: bool) -> Emptying:
        """Empty one host after the other, as long as the budget allows.

        :param number: so many of the first take nothing: they are likely to
            be emptied, too
        :param ejects: whether instances make room for others
        """
        targets = self._in_use.copy()
        targets[order[:number]] = False
        emptied: list[int] = []
        ends: set[int] = set()
        with self._placement.trial():
            packing = EjectingPacking(self._simulation)
            for host in order.tolist():
                if len(emptied) == self._most:
                    break
                before = len(packing.moves)
                if host not in ends and self._drain(
                    packing, host, targets, ejects
                ):
                    emptied.append(host)
                    for _, *both in packing.moves[before:]:
                        ends.update(both)
                else:
                    targets[host] = self._in_use[host]
            return Emptying.of(self._utilization, emptied, packing.moves)

    def _drain(
        self,
        packing: EjectingPacking,
        host: int,
        targets: BoolArray,
        ejects: bool,
    ) -> bool:
        """Empty a host after others, or leave all as it was."""
        instances = self._placement.on(host)
        before = len(packing.moves)
        spare = self._simulation.remaining - before - len(instances)
        if spare < 0:
            return False
        receives = targets[host]
        targets[host] = False
        load = packing.load.copy()
        heaviest = packing.heaviest_first(instances)
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
