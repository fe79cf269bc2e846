# SPDX-License-Identifier: Apache-2.0
"""The simulation: a scope while its plan grows."""

import math
from dataclasses import dataclass, field

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.phase_rules import PhaseRules
from kronos.engine.reasons import Reason
from kronos.engine.simulation.placement import Placement
from kronos.engine.simulation.utilization import Undo, Utilization
from kronos.engine.types import (
    Begun,
    Certificate,
    PackingBound,
    Phase,
    Rest,
    StopReason,
)


@dataclass
class SimulatedMove:
    """A move that was made, with the imbalances [P] around it.

    Those that it was made for: of the hosts that the policies were judged by.
    """

    phase: Phase
    undo: Undo
    before: FloatArray
    after: FloatArray
    whole_after: FloatArray
    """[P]: of all hosts that count."""
    requires: int | None = None
    """The instance whose move this one is pointless without."""


@dataclass
class PhaseResult:
    """How a phase ended."""

    stopped: StopReason
    reason: str
    """``stopped`` as a sentence, with its numbers."""
    stayed: dict[int, Reason] = field(default_factory=dict)
    """Instance position to the reason why this phase left it; those that
    are not movable have theirs from elsewhere."""
    warnings: list[str] = field(default_factory=list)
    begun: list[Begun] = field(default_factory=list)
    searched_by: str = ''
    """The search that planned it, where there is a choice."""
    certificate: Certificate | None = None
    rest: Rest | None = None
    packing: PackingBound | None = None
    beside: object = None
    """What an extension keeps of it in the result, under its name."""


class Simulation:
    """A scope while its plan grows: placement, scores and the steps so far.

    The phases work on one simulation, one after the other: each starts from
    what the one before left, and they share one budget.

    :param budget: how many moves may be planned; None: any number
    """

    def __init__(
        self,
        placement: Placement,
        utilization: Utilization,
        budget: int | None,
    ) -> None:
        self.placement = placement
        self.utilization = utilization
        self.budget = budget
        self.canary: int | None = None
        """``canary_moves``, if it and not the budget of the plan limits the
        phase under way."""
        self.steps: list[SimulatedMove] = []
        self.movable: BoolArray = np.zeros(len(placement.host_of), dtype=bool)
        """[V]; what may be planned in the phase under way"""
        self._rules: PhaseRules | None = None

    @property
    def rules(self) -> PhaseRules:
        """The rules of the current phase.

        :raises ValueError: no phase has begun
        """
        if self._rules is None:
            raise ValueError('no phase has begun')
        return self._rules

    @property
    def constraints(self) -> ConstraintSet:
        """Those of the phase under way."""
        return self.placement.constraints

    def begin(
        self, rules: PhaseRules, constraints: ConstraintSet, movable: BoolArray
    ) -> None:
        """Enter a phase.

        :param constraints: those of the phase, as of before the first move
            of all; they are led through the moves made so far
        :param movable: [V]; instances that earlier phases moved are left
            out by themselves
        """
        self._rules = rules
        self.placement.constraints = constraints
        self.movable = movable.copy()
        for step in self.steps:
            undo = step.undo
            constraints.follow(undo.instance, undo.source, undo.destination)
            self.movable[undo.instance] = False

    @property
    def remaining(self) -> float:
        """How many more moves may be planned; infinite without budget."""
        if self.budget is None:
            return math.inf
        return self.budget - len(self.steps)

    def limit(self, number: str) -> str:
        """What limits the moves, as text: ``budget of 5 migrations``.

        :param number: the budget, as the sentence has it
        """
        if self.canary is None:
            return f'budget of {number}'
        moves = wording.counted(self.canary, 'migration')
        return f'limit of {moves} by canary_moves'

    def on(self, host: int) -> IntArray:
        """The movable instances on a host."""
        on_host = np.equal(self.placement.host_of, host)
        return np.flatnonzero(on_host & self.movable)

    def move(
        self, instance: int, destination: int, requires: int | None = None
    ) -> None:
        """Plan a move; that it is legal is the caller's business."""
        self.movable[instance] = self.rules.may_repeat
        source = int(self.placement.host_of[instance])
        undo = self.utilization.move(instance, source, destination)
        self.placement.move(instance, destination)
        self.steps.append(
            SimulatedMove(
                self.rules.phase,
                undo,
                undo.ends.widths,
                self.utilization.imbalances,
                self.utilization.whole.widths,
                requires,
            )
        )

    def take_back(self) -> None:
        """Undo the last move, which this phase made."""
        undo = self.steps.pop().undo
        self.utilization.take_back(undo)
        self.placement.move(undo.instance, undo.source)
        self.movable[undo.instance] = True
