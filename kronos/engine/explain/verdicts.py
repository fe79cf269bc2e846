# SPDX-License-Identifier: Apache-2.0
"""A verdict on one instance and one host at a moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kronos.engine.extension import ReasonCode
from kronos.engine.reasons import Reason
from kronos.engine.types import MigrationStep, Phase

if TYPE_CHECKING:
    from kronos.engine.explain.blockers import Blocked
    from kronos.engine.explain.scenario import PlanningMoment


@dataclass
class Verdict:
    """What became of one instance and one host."""

    instance: str
    source: str
    """Where the instance is at that moment."""
    destination: str
    code: ReasonCode
    text: str
    reasons: list[Reason] = field(default_factory=list)
    """All that forbid it, the first of them with ``code``; without any of
    them it would be legal."""
    phase: Phase | None = None
    """The phase that asks, or asked, for the move; None if none runs."""
    after: int = 0
    """So many steps of the plan are made at that moment."""
    repairing: str = ''
    """Uuid of the server group for whose sake it would be."""
    gain: float | None = None
    """How far the combined imbalance would fall; None if not known."""
    widths: dict[str, float] = field(default_factory=dict)
    """Per policy the imbalance that it would leave, where known."""
    before: dict[str, float] = field(default_factory=dict)
    """The same without it."""
    of_rest: bool = False
    """Whether gain and widths are of the hosts that are not set aside."""
    price: float = 0.0
    """What the soft rules cost that it breaks, in combined imbalance."""
    heard: bool = False
    """Whether the policies were asked for objections."""
    better: int | None = None
    """Number of the step that was better, from 1."""

    @property
    def also(self) -> list[Reason]:
        """What forbids it besides the first reason."""
        return self.reasons[1:]


@dataclass
class Place:
    """When and for what an instance is judged."""

    blocked: Blocked
    moment: PlanningMoment
    after: int
    step: MigrationStep | None = None
    """Its own move, if it has one."""
    number: int = 0
    repairs: dict[int, str] = field(default_factory=dict)
    """Hosts where it would bring a group closer to its rule."""
    waits: dict[int, str] = field(default_factory=dict)
    is_asked: bool = True
    """Whether the phase asks for moves of it at all."""
