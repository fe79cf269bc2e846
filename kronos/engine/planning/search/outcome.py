# SPDX-License-Identifier: Apache-2.0
"""The outcome of a search that spreads: how it ended, and its notices.

:mod:`.registry` names the searches.
"""

from dataclasses import dataclass, field

from kronos.engine.types import StopReason


@dataclass
class SearchResult:
    """How a search ended; its moves are in the simulation."""

    stopped: StopReason
    """BALANCED, BUDGET or STUCK."""
    searched_by: str
    """Another one than was asked for where that could not do it."""
    notices: list[str] = field(default_factory=list)
    """What the plan is to say of it, as warnings."""
    bound: float = 0.0
    """Combined imbalance that no plan gets below, as far as it knows."""
    is_proven: bool = False
    """Whether it knows that no plan is lower than this one."""
    has_unsafe_swap: bool = False
    """Whether one would help that ``swap_moves = any`` allows alone."""
