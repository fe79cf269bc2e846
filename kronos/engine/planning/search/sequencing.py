# SPDX-License-Identifier: Apache-2.0
"""The sequencing: a final placement as moves, each legal when its turn comes.

Depth first, the move that gains most first; two that only together please
all policies are made as a swap.
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

    :param tries: so many moves are tried for one order beyond those that it
        has
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
        """Make all moves, or the longest row of them that was found.

        Without ``exhaust`` it ends where all policies are within.

        :returns: whether it came to its end
        """
        start = len(self._simulation.steps)
        left = self._tries + len(wanted)
        remaining = dict(wanted)
        path: list[Unit] = []
        longest: list[Unit] = []
        options = [self._options(remaining)]
        dead: set[frozenset[int]] = set()
        while options:
            if not remaining or self._is_enough():
                return True
            unit = next(options[-1], None) if left > 0 else None
            if unit is None and left <= 0:
                break
            if unit is None:
                dead.add(frozenset(remaining))
                options.pop()
                if path:
                    self._take_back(path.pop(), remaining)
                continue
            left -= len(unit)
            self._make(unit, remaining)
            path.append(unit)
            if len(path) > len(longest):
                longest = list(path)
            known = frozenset(remaining) in dead
            options.append(iter(()) if known else self._options(remaining))
        while len(self._simulation.steps) > start:
            self._simulation.take_back()
        for unit in longest:
            self._make(unit, dict(unit))
        return False

    def follow(self, units: Sequence[Unit]) -> bool:
        """Make moves in a given order, as long as all of them may be made.

        It ends as :meth:`run` does.
        """
        for unit in units:
            if self._is_enough():
                return True
            if unit not in self._options(dict(unit)):
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

    def _take_back(self, unit: Unit, remaining: dict[int, int]) -> None:
        for instance, destination in reversed(unit):
            self._simulation.take_back()
            remaining[instance] = destination

    def _options(self, remaining: dict[int, int]) -> Iterator[Unit]:
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
