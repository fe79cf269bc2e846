# SPDX-License-Identifier: Apache-2.0
"""The rules of a step: what the phase's constraints say of each move.

Moves are made in the simulation as they are ordered, so that each is judged
by the scope as the moves before it leave it.
"""

from dataclasses import dataclass, field

from kronos.engine.arrays import EPSILON
from kronos.engine.simulation.simulation import Simulation
from kronos.extensions.room.room import RoomRequest


@dataclass
class StepRules:
    """The constraints of the phase, and the moves in the simulation."""

    simulation: Simulation
    request: RoomRequest
    moves: int = 0
    position: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.position = self.simulation.utilization.index.instance

    def allows(self, server: str, destination: int) -> bool:
        simulation, instance = self.simulation, self.position[server]
        if not simulation.movable[instance]:
            return False
        if simulation.constraints.why_not(instance, destination):
            return False
        ceiling = self.request.max_imbalance
        if ceiling is None:
            return True
        before = simulation.utilization.combined()
        simulation.move(instance, destination)
        after = simulation.utilization.combined()
        simulation.take_back()
        return after <= max(ceiling, before) + EPSILON

    def make(self, server: str, destination: int) -> None:
        self.simulation.move(self.position[server], destination)
        self.moves += 1

    def take_back_last(self) -> None:
        self.simulation.take_back()
        self.moves -= 1

    def take_back(self) -> None:
        for _ in range(self.moves):
            self.simulation.take_back()
        self.moves = 0
