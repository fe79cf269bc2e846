# SPDX-License-Identifier: Apache-2.0
"""The greedy search: the best improving move, again and again.

In a stall, plateau moves and swaps, where they are allowed. Plateau moves
are only kept if they lead to an improvement within the budget.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import BoolArray
from kronos.engine.planning.search.moves import Moves
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.planning.search.plateaus_and_swaps import PlateauSearch
from kronos.engine.settings import SearchName, Settings, SwapMoves
from kronos.engine.types import StopReason

if TYPE_CHECKING:
    from kronos.engine.planning.phase_input import PhaseInput
    from kronos.engine.simulation.simulation import Simulation


def run(simulation: Simulation, inputs: PhaseInput) -> SearchResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    search = Greedy(simulation, inputs.settings)
    stopped = search.run()
    return SearchResult(
        stopped,
        SearchName.GREEDY,
        has_unsafe_swap=stopped is StopReason.STUCK
        and search.has_unsafe_swap(),
    )


def can_swap(simulation: Simulation, settings: Settings) -> bool:
    """Whether a swap would help, whatever is left of the budget."""
    if settings.swap_moves is SwapMoves.NONE:
        return False
    safe = settings.swap_moves is not SwapMoves.ANY
    moves = Moves(simulation, settings)
    return PlateauSearch(simulation, moves, safe).swap() is not None


class Greedy:
    """The search in one scope; it changes the simulation.

    :param simulation: in phase spread; its movable instances are on hosts that
        count
    """

    def __init__(self, simulation: Simulation, settings: Settings) -> None:
        self._simulation = simulation
        self._utilization = simulation.utilization
        self._settings = settings
        self._moves = Moves(simulation, settings)

    @functools.cached_property
    def _stalls(self) -> PlateauSearch:
        safe = self._settings.swap_moves is not SwapMoves.ANY
        return PlateauSearch(self._simulation, self._moves, safe)

    def run(self) -> StopReason:
        """Plan until all is within thresholds, or the budget or the moves end.

        The moves are in the simulation.
        """
        while True:
            if not self._settings.exhaust and self._is_balanced():
                return StopReason.BALANCED
            if self._simulation.remaining <= 0:
                return StopReason.BUDGET
            if not (self.improve() or self._cross_plateau() or self._swap()):
                return StopReason.STUCK

    def has_unsafe_swap(self) -> bool:
        """Whether one would help that ``swap_moves = any`` allows alone.

        For the reason of a stall.
        """
        if self._settings.swap_moves is not SwapMoves.SAFE:
            return False
        if self._simulation.remaining < 2:
            return False
        return (
            PlateauSearch(self._simulation, self._moves, False).swap()
            is not None
        )

    def _is_balanced(self) -> bool:
        return not self._utilization.over_threshold().any()

    def improve(self) -> bool:
        move = self._moves.improving()
        if move is None:
            return False
        self._simulation.move(*move)
        return True

    def _cross_plateau(self) -> bool:
        """Plateau moves up to an improvement, or to where none is needed.

        None at all if they lead to neither within the budget.
        """
        if not self._settings.plateau_moves:
            return False
        start = len(self._simulation.steps)
        while self._simulation.remaining > 0:
            move = self._stalls.plateau(self._relevant())
            if move is None:
                break
            self._simulation.move(*move)
            is_enough = not self._settings.exhaust and self._is_balanced()
            if is_enough or (
                self._simulation.remaining > 0 and self.improve()
            ):
                return True
        while len(self._simulation.steps) > start:
            self._simulation.take_back()
        return False

    def _relevant(self) -> BoolArray:
        """The policies for whose sake a plateau is crossed."""
        if self._settings.exhaust:
            return np.ones(len(self._utilization.policies), dtype=bool)
        return self._utilization.over_threshold()

    def _swap(self) -> bool:
        none = self._settings.swap_moves is SwapMoves.NONE
        swap = (
            None
            if none or self._simulation.remaining < 2
            else self._stalls.swap()
        )
        if swap is None:
            return False
        first, second = swap
        self._simulation.move(*first)
        self._simulation.move(*second, requires=first[0])
        return True
