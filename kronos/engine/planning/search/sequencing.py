# SPDX-License-Identifier: Apache-2.0
"""The sequencing: a final placement as moves, each legal when its turn comes.

The move that gains most comes first; two that only together please all
policies are made as a swap. A plan that is found in another order is brought
into one in which gains come early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import EPSILON
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.moves import Move, Moves
from kronos.engine.planning.search.plateaus_and_swaps import PlateauSearch
from kronos.engine.settings import Settings, SwapMoves
from kronos.engine.simulation.utilization import is_gain

if TYPE_CHECKING:
    from kronos.engine.simulation.simulation import SimulatedMove, Simulation

EARLIER = 8
"""So many moves that gain are tried instead of one that does not."""
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

    def run(self, moves: Sequence[Move]) -> bool:
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
            path, remaining = self._try(dict(moves), urgent)
            if not remaining or self._is_enough():
                return True
            most = max(most, path, key=len)
            self._take_back(start)
            if remaining <= urgent:
                break
            urgent |= remaining
        for unit in most:
            self.make(unit, dict(unit))
        return False

    def _try(
        self, remaining: dict[int, int], urgent: set[int]
    ) -> tuple[list[Unit], set[int]]:
        """Make what may be made; what was made, and the instances left."""
        path: list[Unit] = []
        while remaining and not self._is_enough():
            first = {
                instance: host
                for instance, host in remaining.items()
                if instance in urgent
            }
            unit = next(self.options(first), None)
            unit = unit or next(self.options(remaining), None)
            if unit is None:
                break
            self.make(unit, remaining)
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
            self.make(unit, dict(unit))
        return True

    def _is_enough(self) -> bool:
        if self._settings.exhaust:
            return False
        return not self._simulation.utilization.over_threshold().any()

    def make(self, unit: Unit, remaining: dict[int, int]) -> None:
        """Make what may be made now, and take it from what remains."""
        requires = None
        for instance, destination in unit:
            self._simulation.move(instance, destination, requires)
            del remaining[instance]
            requires = instance

    def _take_back(self, start: int) -> None:
        while len(self._simulation.steps) > start:
            self._simulation.take_back()

    def options(self, remaining: dict[int, int]) -> Iterator[Unit]:
        """What may come next, the best first; computed one by one."""
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
        for position in order.tolist():
            move = moves[position]
            if not objected[position] and not simulation.constraints.why_not(
                *move
            ):
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


class EarlyGains:
    """A plan in an order in which its gains come early; the outcome stays.

    Where a move gains nothing, one of the later ones that gain comes before
    it, if each is legal when its turn comes and the combined imbalance is
    nowhere higher than in the order found: whoever stops the plan after some
    of its moves loses nothing by it.

    :param start: how many steps of the simulation come before the plan
    """

    def __init__(
        self, simulation: Simulation, settings: Settings, start: int
    ) -> None:
        self._simulation = simulation
        self._start = start
        self._sequencing = Sequencing(simulation, settings, 1)
        self._most = [self._combined(step) for step in simulation.steps]
        """After each step, in the order found."""

    def run(self) -> None:
        """Make the plan in that order.

        Where an instance moves twice, or what a soft rule costs depends on
        the order, it stays as it is.
        """
        simulation, units = self._simulation, self._units()
        moved = {instance for unit in units for instance, _ in unit}
        if len(moved) < len(simulation.steps) - self._start:
            return
        if simulation.constraints.weighs_soft_rules:
            return
        self._take_back(self._start)
        while units:
            unit = units.pop(self._first(units))
            self._sequencing.make(unit, dict(unit))

    def _units(self) -> list[Unit]:
        units: list[Unit] = []
        for step in self._simulation.steps[self._start :]:
            move = (step.undo.instance, step.undo.destination)
            if step.requires is None:
                units.append((move,))
            else:
                units[-1] += (move,)
        return units

    def _first(self, units: Sequence[Unit]) -> int:
        """The position of what comes next."""
        if is_gain(self._gain(units[0])):
            return 0
        gains = np.array([self._gain(unit) for unit in units])
        order = np.argsort(-ranking.rounded(gains), kind='stable')
        for place in order[:EARLIER].tolist():
            if not is_gain(gains[place]):
                break
            # Behind it all is as in the order before.
            if self._may_be([units[place], *units[:place]]):
                return int(place)
        return 0

    def _gain(self, unit: Unit) -> float:
        utilization = self._simulation.utilization
        host_of = self._simulation.placement.host_of
        before = utilization.combined()
        undos = [
            utilization.move(instance, int(host_of[instance]), destination)
            for instance, destination in unit
        ]
        after = utilization.combined()
        for undo in reversed(undos):
            utilization.take_back(undo)
        return before - after

    def _may_be(self, units: Sequence[Unit]) -> bool:
        """Whether each is legal after the others, and none leaves more."""
        start = len(self._simulation.steps)
        is_good = all(self._follows(unit) for unit in units)
        self._take_back(start)
        return is_good

    def _follows(self, unit: Unit) -> bool:
        """Make it, if it is legal; whether it is, and leaves no more."""
        if unit not in self._sequencing.options(dict(unit)):
            return False
        self._sequencing.make(unit, dict(unit))
        steps = self._simulation.steps
        return all(
            self._combined(steps[position]) <= self._most[position] + EPSILON
            for position in range(len(steps) - len(unit), len(steps))
        )

    def _combined(self, step: SimulatedMove) -> float:
        weights = self._simulation.utilization.weights
        return float(np.sum(weights * step.after))

    def _take_back(self, start: int) -> None:
        while len(self._simulation.steps) > start:
            self._simulation.take_back()
