# SPDX-License-Identifier: Apache-2.0
"""The bounds of a plan: how good any other one could be."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

UNNOTICED = 1e-4
"""Combined imbalances that differ by no more are shown as one number."""
LEAST = 1e-9
"""Where no plan can remove more than that, there is nothing to share in."""


class Bound(StrEnum):
    """How it was found out what no plan gets below."""

    COUNTING = 'counting'
    """By how many instances must leave or enter hosts, at least."""
    EXACT = 'exact'
    """By a solver that knows what may go where."""


@dataclass
class Certificate:
    """What no plan that spreads by so many migrations gets below.

    It starts from where the spreading started: drains and repairs before
    it are as they are.
    """

    migrations: int
    """So many could be planned."""
    bound: float
    """Combined imbalance; no plan ends below it."""
    reached: float
    """Combined imbalance after the plan."""
    found_by: Bound
    is_proven: bool = False
    """Whether the solver has seen that what is below cannot be reached."""
    ask: Callable[[], float] | None = field(
        default=None, repr=False, compare=False
    )
    """Has a solver look for a higher bound; None if that is not worth it."""
    before: float = 0.0
    """Combined imbalance where the spreading started."""

    @property
    def gap(self) -> float:
        """What is above the bound of what is left, as a ratio."""
        if self.reached <= 0.0:
            return 0.0
        return max(0.0, (self.reached - self.bound) / self.reached)

    @property
    def share(self) -> float | None:
        """What the plan removes at least, of what any plan could remove.

        As a ratio; None where no plan could remove anything.
        """
        bound = self.bound
        if self.is_proven:
            bound = max(bound, self.reached - UNNOTICED)
        possible = self.before - bound
        if possible <= LEAST:
            return None
        return min(1.0, max(0.0, self.before - self.reached) / possible)

    @property
    def is_optimal(self) -> bool:
        """Whether no plan is better, but for what nobody would notice."""
        return self.is_proven or self.reached - self.bound <= UNNOTICED


@dataclass
class PackingBound:
    """How many hosts no plan of so many migrations empties more of.

    It starts from where the packing started, and is about plans that fill
    no empty host, as pack does.
    """

    migrations: int | None
    """So many could be planned; None: any number."""
    emptied: int
    """Hosts that the plan empties."""
    at_most: int
    """So many hosts can be emptied."""
    in_use: int
    """So many hosts could be asked for: those in use, less those that are
    kept."""

    @property
    def is_optimal(self) -> bool:
        """Whether no plan empties more hosts."""
        return self.emptied >= self.at_most

    @property
    def says_something(self) -> bool:
        """Whether it is about more than the number of hosts."""
        return self.is_optimal or self.at_most < self.in_use
