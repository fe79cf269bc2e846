# SPDX-License-Identifier: Apache-2.0
"""What has been planned so far, and what may still be?

The phases work on one draft, one after the other: each starts from the
state that the one before left, and they share one budget (G7, H9, H10).
"""

import math
from dataclasses import dataclass, field

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.constraints.constraint_set import Constraints
from kronos.engine.simulation.utilization import Undo, Utilization
from kronos.engine.types import Begun, MigrationPhase, StopReason


@dataclass
class PlannedMove:
    """A move that was made, with the imbalances [P] around it."""

    phase: MigrationPhase
    undo: Undo
    before: FloatArray
    after: FloatArray
    requires: int | None = None
    """The instance whose move this one is pointless without."""


@dataclass
class PhaseResult:
    """How a phase ended."""

    stopped: StopReason
    reason: str
    """``stopped`` as a sentence, with its numbers."""
    stayed: dict[int, str] = field(default_factory=dict)
    """Instance position to the reason why this phase left it; those that
    are not movable have theirs from elsewhere."""
    warnings: list[str] = field(default_factory=list)
    begun: list[Begun] = field(default_factory=list)


class Simulation:
    """A growing plan.

    :param state: the scores and the placement; every move changes them
    :param budget: how many moves may be planned; None: any number
    """

    def __init__(self, state: Utilization, budget: int | None) -> None:
        self.state = state
        self.budget = budget
        self.made: list[PlannedMove] = []
        self.phase = MigrationPhase.SPREAD
        self.constraints = Constraints([])
        self.movable: BoolArray = np.zeros(0, dtype=bool)
        """[V]; what may be planned in the phase under way"""
        self._may_repeat = False

    def begin(
        self,
        phase: MigrationPhase,
        constraints: Constraints,
        movable: BoolArray,
        may_repeat: bool = False,
    ) -> None:
        """Enter a phase.

        :param constraints: its rules, as of before the first move of all;
            they are led through the moves made so far
        :param movable: [V]; instances that earlier phases moved are left
            out by themselves
        :param may_repeat: whether this phase may move an instance twice
        """
        self.phase = phase
        self.constraints = constraints
        self.movable = movable.copy()
        self._may_repeat = may_repeat
        for made in self.made:
            undo = made.undo
            constraints.follow(undo.instance, undo.source, undo.destination)
            self.movable[undo.instance] = False

    @property
    def left(self) -> float:
        """How many more moves may be planned; infinite without budget."""
        if self.budget is None:
            return math.inf
        return self.budget - len(self.made)

    def on(self, host: int) -> IntArray:
        """The movable instances on a host."""
        there = np.equal(self.state.host_of, host)
        return np.flatnonzero(there & self.movable)

    def make(
        self, instance: int, destination: int, requires: int | None = None
    ) -> None:
        """Plan a move; that it is legal is the caller's business."""
        before = self.state.imbalances
        undo = self.state.move(instance, destination)
        self.constraints.follow(instance, undo.source, destination)
        self.movable[instance] = self._may_repeat
        self.made.append(
            PlannedMove(
                self.phase, undo, before, self.state.imbalances, requires
            )
        )

    def take_back(self) -> None:
        """Undo the last move, which this phase made."""
        undo = self.made.pop().undo
        self.state.take_back(undo)
        self.constraints.follow(undo.instance, undo.destination, undo.source)
        self.movable[undo.instance] = True
