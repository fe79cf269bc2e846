# SPDX-License-Identifier: Apache-2.0
"""The limits of a plan: how disruption budgets and consent stand."""

from dataclasses import dataclass, field

from kronos.common.names.name_marks import ProjectName, Uuid


@dataclass
class FullBudget:
    """A budget that leaves servers out of a plan."""

    key: str
    """Id of the project, uuid of the group or of the server."""
    reason: str
    """That it is used up, and when it is free again."""
    free_at: float | None
    """Unix seconds at which a move may start again; None: when one ends."""
    instances: int
    """Servers of the scope that it leaves out."""


@dataclass
class BudgetStanding:
    """All budgets of one kind that the servers of a scope count in."""

    kind: str
    """``project``, ``group`` or ``instance``."""
    used: int = 0
    """Moves that use them up before the plan."""
    free: int = 0
    """Moves that they leave before the plan, summed."""
    planned: int = 0
    """Moves of the plan that count in them."""
    full: list[FullBudget] = field(default_factory=list)
    """The one that leaves out most servers first."""


@dataclass
class ConsentStanding:
    """The servers of one project with the same consent."""

    kind: str
    """``any``, ``window``, ``drain``, ``never`` or ``unknown``."""
    project: ProjectName
    """Id; '' if it is not known."""
    instances: int = 0
    staying: list[Uuid] = field(default_factory=list)
    """Those that stay because of it."""
