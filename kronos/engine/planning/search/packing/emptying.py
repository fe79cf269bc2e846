# SPDX-License-Identifier: Apache-2.0
"""An emptying: hosts that are emptied, and all that moves for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from kronos.engine.simulation.utilization import Utilization

Placed = tuple[int, int, int]
"""An instance, its source and its destination."""


@dataclass
class Emptying:
    """What a search has found; the moves are in their order."""

    hosts: list[int] = field(default_factory=list)
    moves: list[Placed] = field(default_factory=list)
    memory_mb: int = 0

    @classmethod
    def of(
        cls,
        utilization: Utilization,
        hosts: Sequence[int],
        moves: Sequence[Placed],
    ) -> Self:
        """With the memory of what moves."""
        memory = utilization.memory_mb[[instance for instance, _, _ in moves]]
        return cls(list(hosts), list(moves), int(memory.sum()))

    @property
    def rank(self) -> tuple[int, int, int]:
        """The lower, the better."""
        return -len(self.hosts), len(self.moves), self.memory_mb


def better(emptying: Emptying, other: Emptying) -> Emptying:
    """The one with more hosts, then fewer moves, then less memory."""
    return min(emptying, other, key=lambda choice: choice.rank)
