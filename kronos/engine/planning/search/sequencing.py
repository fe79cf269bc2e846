# SPDX-License-Identifier: Apache-2.0
"""The sequencing: a final placement as moves, each legal when its turn comes.

The move that gains most comes first; two that only together please all
policies are made as a swap.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.moves import Move, Moves
from kronos.engine.planning.search.plateaus_and_swaps import PlateauSearch
from kronos.engine.settings import Settings, SwapMoves
from kronos.engine.simulation.simulation import Simulation

Unit = tuple[Move, ...]
"""A move, or the two halves of a swap."""


class Sequencing:
    """Orders of moves in one simulation; the plan is in it afterwards.

    :param tries: orders that are tried
    """

    def __init__(
        self, simulation: Simulation, settings: Settings, tries: int
    ) -> None:
        self._simulation = simulation
        self._settings = settings
        self._tries = tries
        self._swaps = PlateauSearch(
            simulation,
            Moves(simulation, settings),
            settings.swap_moves is not SwapMoves.ANY,
        )

    def run(self, wanted: Sequence[Move]) -> bool:
        """Make all moves, or as many of them as were brought into an order.

        What could not be made has its turn as soon as it may in the next
        try: while hosts differ much, few policies object. Without
        ``exhaust`` it ends where all policies are within.

        :returns: whether it came to its end
        """
        start = len(self._simulation.steps)
        urgent: set[int] = set()
        most: list[Unit] = []
        for _ in range(self._tries):
            path, left = self._try(dict(wanted), urgent)
            if not left or self._is_enough():
                return True
            most = max(most, path, key=len)
            self._take_back(start)
            if left <= urgent:
                break
            urgent |= left
        for unit in most:
            self._make(unit, dict(unit))
        return False

    def _try(
        self, remaining: dict[int, int], urgent: set[int]
    ) -> tuple[list[Unit], set[int]]:
        """Make what may be made; what was made, and the instances left."""
        path: list[Unit] = []
        while remaining and not self._is_enough():
            first = {
                one: host for one, host in remaining.items() if one in urgent
            }
            unit = next(self.options(first), None)
            unit = unit or next(self.options(remaining), None)
            if unit is None:
                break
            self._make(unit, remaining)
            path.append(unit)
        return path, set(remaining)

    def follow(self, units: Sequence[Unit]) -> bool:
        """Make moves in a given order, as long as all of them may be made.

        It ends as :meth:`run` does.
        """
        for unit in units:
            if self._is_enough():
                return True
            if unit not in self.options(dict(unit)):
                return False
            self._make(unit, dict(unit))
        return True

    def _is_enough(self) -> bool:
        if self._settings.exhaust:
            return False
        return not self._simulation.utilization.over_threshold().any()

    def _make(self, unit: Unit, remaining: dict[int, int]) -> None:
        requires = None
        for instance, destination in unit:
            self._simulation.move(instance, destination, requires)
            del remaining[instance]
            requires = instance

    def _take_back(self, start: int) -> None:
        while len(self._simulation.steps) > start:
            self._simulation.take_back()

    def options(self, remaining: dict[int, int]) -> Iterator[Unit]:
        """What may come next, the best first; asked for one by one."""
        simulation = self._simulation
        moves = sorted(remaining.items())
        if not moves:
            return
        instances, hosts = (
            np.array(part) for part in zip(*moves, strict=True)
        )
        sources = simulation.placement.host_of[instances]
        utilization = simulation.utilization
        after = utilization.scores_after(instances, sources, hosts)
        gains, objected = utilization.judge(sources, hosts, *after)
        drops = utilization.variance_drop(sources, hosts, *after)
        order = np.lexsort(
            (instances, -ranking.rounded(drops), -ranking.rounded(gains))
        )
        for at in order.tolist():
            move = moves[at]
            if not objected[at] and not simulation.constraints.why_not(*move):
                yield (move,)
        yield from self._exchanges(moves)

    def _exchanges(self, moves: Sequence[Move]) -> Iterator[Unit]:
        if self._settings.swap_moves is SwapMoves.NONE:
            return
        host_of = self._simulation.placement.host_of
        for number, (first, to) in enumerate(moves):
            for second, back in moves[number + 1 :]:
                if (host_of[first], host_of[second]) == (back, to):
                    swap = self._swaps.of(first, second)
                    if swap is not None:
                        yield swap
