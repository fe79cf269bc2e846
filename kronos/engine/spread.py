# SPDX-License-Identifier: Apache-2.0
"""Which moves make a scope more even?

Greedy (B9): the best improving move, again and again. In a stall, plateau
moves and swaps, where they are allowed (``stalls``). Plateau moves are only
kept if they lead to an improvement within the budget.
"""

from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray
from kronos.engine.constraints import Constraints
from kronos.engine.moves import Moves
from kronos.engine.settings import Settings
from kronos.engine.stalls import Stalls
from kronos.engine.state import State, Undo
from kronos.engine.types import StopReason


@dataclass
class Made:
    """A move that was made, with the imbalances [P] around it."""

    undo: Undo
    before: FloatArray
    after: FloatArray
    requires: int | None = None
    """The instance whose move this one is pointless without."""


class Spread:
    """The search in one scope; it changes what it is given.

    :param movable: [V]; instances that may be planned, on hosts that count
    :param budget: how many moves may still be planned
    """

    def __init__(
        self,
        state: State,
        constraints: Constraints,
        movable: BoolArray,
        budget: int,
        settings: Settings,
    ) -> None:
        self._state = state
        self._constraints = constraints
        self._budget = budget
        self._settings = settings
        self._moves = Moves(state, constraints, movable, settings.tie_break)
        self._stalls = Stalls(state, constraints, self._moves)
        self.made: list[Made] = []

    def run(self) -> StopReason:
        """Plan until all are content, the budget is used or nothing helps.

        The moves are in ``made`` (B10).
        """
        while True:
            if not self._settings.exhaust and self._is_balanced():
                return StopReason.BALANCED
            if self._left() <= 0:
                return StopReason.BUDGET
            if not (self._improve() or self._cross_plateau() or self._swap()):
                return StopReason.STUCK

    def _left(self) -> int:
        return self._budget - len(self.made)

    def _is_balanced(self) -> bool:
        return not self._state.over_threshold().any()

    def _improve(self) -> bool:
        move = self._moves.improving()
        if move is None:
            return False
        self._make(*move)
        return True

    def _cross_plateau(self) -> bool:
        """Plateau moves up to an improvement, or until all are content.

        None at all if they lead to neither within the budget.
        """
        if not self._settings.plateau_moves:
            return False
        start = len(self.made)
        while self._left() > 0:
            move = self._stalls.plateau(self._relevant())
            if move is None:
                break
            self._make(*move)
            content = not self._settings.exhaust and self._is_balanced()
            if content or (self._left() > 0 and self._improve()):
                return True
        while len(self.made) > start:
            self._take_back()
        return False

    def _relevant(self) -> BoolArray:
        """The policies for whose sake a plateau is crossed."""
        if self._settings.exhaust:
            return np.ones(len(self._state.policies), dtype=bool)
        return self._state.over_threshold()

    def _swap(self) -> bool:
        if not self._settings.swap_moves or self._left() < 2:
            return False
        swap = self._stalls.swap()
        if swap is None:
            return False
        first, second = swap
        self._make(*first)
        self._make(*second)
        self.made[-1].requires = first[0]
        return True

    def _make(self, instance: int, destination: int) -> None:
        before = self._state.imbalances
        undo = self._state.move(instance, destination)
        self._constraints.follow(instance, undo.source, destination)
        if not self._settings.repeat_moves:
            self._moves.movable[instance] = False
        self.made.append(Made(undo, before, self._state.imbalances))

    def _take_back(self) -> None:
        undo = self.made.pop().undo
        self._state.take_back(undo)
        self._constraints.follow(undo.instance, undo.destination, undo.source)
        self._moves.movable[undo.instance] = True
