# SPDX-License-Identifier: Apache-2.0
"""The input of a phase: what its search has besides the simulation.

Every search has one signature, :data:`Search`; :mod:`.phases` says which one
runs in which phase.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import BoolArray
from kronos.engine.eligibility.cooldown import Cooldowns
from kronos.engine.phase_rules import PhaseRow
from kronos.engine.reasons import Reason
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import AggregateResult, PlanningInput, Snapshot
from kronos.policies.models import Mode, Policy


@dataclass(frozen=True)
class PhaseInput:
    """What is the same in all phases of a scope."""

    snapshot: Snapshot
    """As earlier scopes leave it."""
    scorecard: Scorecard
    policies: Sequence[Policy]
    """Those in use, at least one."""
    cooldowns: Cooldowns
    fixed: Mapping[str, Reason]
    """Instance uuid to the reason why no phase may move it."""
    draining: BoolArray
    """[H]; hosts that are to be emptied, and do not count."""
    settings: Settings

    @property
    def mode(self) -> Mode:
        """Of the policies."""
        return self.policies[0].mode

    @property
    def packs(self) -> bool:
        """Whether the policies want hosts filled."""
        return self.mode is Mode.PACK

    @property
    def sources(self) -> list[int]:
        """Positions of the hosts that are to be emptied."""
        positions: list[int] = np.flatnonzero(self.draining).tolist()
        return positions


Search = Callable[[Simulation, PhaseInput], PhaseResult]
"""Plans a phase that the simulation is in.

Its moves are in the simulation afterwards. The result says why there are no
more of them, and of the movable instances that stay, why.
"""


@dataclass(frozen=True)
class PhasePlan:
    """How an extension plans a phase."""

    row: PhaseRow
    """What holds in it."""
    search: Search


PlanScope = Callable[[PlanningInput], AggregateResult]
"""Plans one scope, for who needs a part of a plan."""
