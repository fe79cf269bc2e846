# SPDX-License-Identifier: Apache-2.0
"""The migrations that planning has to remember.

Events come from Nova's migrations and from the rows of Watcher's actions.
Both may tell of one move; the memory is the same whether they do or not.
"""

from dataclasses import dataclass
from enum import StrEnum

from kronos.common.names.name_marks import (
    HostName,
    ProjectName,
    ScopeName,
    Text,
    Uuid,
)


class Outcome(StrEnum):
    """How far a move got."""

    PLANNED = 'planned'
    """It waits in an action plan that was started, or is about to be."""
    UNDER_WAY = 'under_way'
    MOVED = 'moved'
    FAILED = 'failed'
    """It was tried and the instance is where it was."""


class Origin(StrEnum):
    """Who told."""

    WATCHER = 'watcher'
    NOVA = 'nova'


@dataclass
class Event:
    """A move of one instance."""

    instance: Uuid
    source: HostName
    destination: HostName
    outcome: Outcome
    at: float
    """Unix seconds: when it came to this outcome, or was last heard of."""
    origin: Origin
    scope: ScopeName = ''
    """Of the plan that it was part of; '' for a move made by hand."""
    error_type: Text = ''
    """Name of the exception's class, of a FAILED action of Kronos."""
    fault: Text = ''
    """Its code in :mod:`kronos.engine.faults`; '' of an older version."""
    status: Text = ''
    """In the words of who told: ``completed``, ``running``, ``FAILED``;
    ``DELETED``: its plan was deleted, and ``at`` is when. Of a PLANNED one
    the state of its plan, and ``at`` is when anything of that changed."""
    plan: Uuid = ''
    """Uuid of the action plan that it is part of; '' for Nova's."""
    began: float = 0.0
    """Unix seconds: when its action was created; 0 for Nova's, except in the
    history of an effect."""
    seconds: float = 0.0
    """How long it took, of a live migration that Nova calls completed; 0: not
    known."""
    phase: Text = ''
    """Of the plan that it was part of, in which it was planned; '' for a move
    made by hand, and of an older version."""
    is_resize: bool = False
    """Whether a tenant asked for it: tenants resize all the time, as they
    boot and delete servers."""


@dataclass(frozen=True)
class Disruption:
    """A move as disruption budgets count it, whoever requested it."""

    instance: Uuid
    project: ProjectName = ''
    """Id; '' if it is not known."""
    started: float | None = None
    """Unix seconds; None: it waits in an action plan that was started."""
    is_under_way: bool = False


@dataclass(frozen=True)
class Shares:
    """What a move takes from its source and brings to its destination.

    Both are shares of the host, in the unit of a policy's scores.
    """

    leaving: float
    arriving: float
    query: str = ''
    """Fingerprint of the queries that they follow from."""
