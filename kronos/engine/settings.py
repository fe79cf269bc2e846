# SPDX-License-Identifier: Apache-2.0
"""What may an operator set beside the policies?"""

from dataclasses import dataclass, field
from enum import StrEnum


class HostMatch(StrEnum):
    """How a label value finds its Nova host (B18)."""

    EXACT = 'exact'
    SHORT = 'short'
    """Without ``:port`` and domain, where that is unambiguous."""


class TieBreak(StrEnum):
    """Which of several equally good moves is taken."""

    FIRST = 'first'
    """By instance uuid, then destination name: the literal rule."""
    VARIANCE = 'variance'
    """The one that lowers the variance most."""
    VARIANCE_PER_GIB = 'variance_per_gib'


@dataclass
class Settings:
    """What the operator set beside the policies (``[kronos]``)."""

    max_migrations: int | None = None
    """None: the largest ``max_migrations_per_cycle`` in force (H10)."""
    restrict_to_az: bool = False
    require_all_policies: bool = False
    min_host_coverage: float = 0.9
    host_match: HostMatch = HostMatch.EXACT
    check_disk: bool = False
    require_headroom: bool = False
    """Whether a host without a Placement view is no destination."""
    allowed_extra_specs: list[str] = field(default_factory=list)
    """Keys, or prefixes that end in ``*``, that do not pin an instance."""
    cooldown_seconds: float = 0.0
    plateau_moves: bool = True
    swap_moves: bool = True
    tie_break: TieBreak = TieBreak.VARIANCE
    repeat_moves: bool = False
    """Whether spread may move an instance that it moved already in this
    scope; the literal rule (B9) does. Never across scopes (A10)."""
    exhaust: bool = False
    """Go on when every policy is content, until the budget is used."""
