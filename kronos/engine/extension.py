# SPDX-License-Identifier: Apache-2.0
"""The extension: what an audit wants instead of the plan, or beside it.

The trunk plans live migrations for balance, packing, drains and groups. Where
something else may hold, it asks the extension of its settings. The answers of
this class are "nothing": an extension is a class derived from it, which
answers what matters to it. It imports nothing, since all rooms ask it; types
of the rooms above are for the checker alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from kronos.engine.constraints.base import Constraint
    from kronos.engine.edits import Relaxation
    from kronos.engine.eligibility.instances import Rule
    from kronos.engine.planning.phase_input import PhasePlan, PlanScope
    from kronos.engine.reasons import Reason
    from kronos.engine.settings import Settings
    from kronos.engine.types import (
        AggregateResult,
        Closing,
        EarlierMove,
        Host,
        Instance,
        PlanningInput,
        Snapshot,
        Stop,
    )
    from kronos.snapshots.cloud import CloudInventory
    from kronos.snapshots.scopes import ScopeRequest


class Phase(StrEnum):
    """A phase of a plan: one of the trunk's, or of an extension's own."""


class ReasonCode(StrEnum):
    """A code of a reason: one of the trunk's, or of an extension's own.

    A member is its text, what it means, and its remedy.
    """

    means: str
    """The code as a sentence."""
    remedy: str
    """What an operator may do about it; empty: there is nothing to do."""

    def __new__(cls, value: str, means: str, remedy: str = '') -> Self:
        code = str.__new__(cls, value)
        code._value_ = value
        code.means = means
        code.remedy = remedy
        return code


@dataclass(frozen=True)
class Extension:
    """The questions of the trunk, each answered with "nothing".

    One class, since an extension answers them all.
    """

    asked: object = None
    """What an audit asks of it, in words of its own."""

    name: ClassVar[str] = ''
    """Under which a snapshot and a result keep what is its own."""
    asks: ClassVar[type | None] = None
    """The dataclass of what an audit asks of it; None: plain values. Its
    texts have marks of names (``name_marks``), as those of the next have."""
    keeps: ClassVar[type | None] = None
    """The dataclass of what a snapshot keeps for it; None: nothing."""
    cannot: ClassVar[str] = 'be live-migrated'
    """What instances cannot on a host that cannot be emptied."""
    phases: ClassVar[Mapping[Phase, PhasePlan]] = {}
    """What it plans instead of the trunk's phases, in this order. The key may
    be a phase of the trunk, which it then plans by another search."""
    relaxations: ClassVar[Mapping[ReasonCode, Relaxation]] = {}
    """What lifts those of its reasons that no constraint gives."""
    stops: ClassVar[Collection[Stop]] = ()
    """Ends of its own that :meth:`stopped` has the codes of."""
    remedies: ClassVar[Mapping[ReasonCode, Mapping[str, str]]] = {}
    """Options of ``[kronos]``, with a value each, that lift a reason."""

    @property
    def closes_hosts(self) -> bool:
        """Whether it closes the hosts that it empties, by itself."""
        return False

    def prepare(self, settings: Settings) -> None:
        """Set what it decides of the settings, whatever the audit says."""

    def cut(
        self,
        snapshot: Snapshot,
        inventory: CloudInventory,
        request: ScopeRequest,
    ) -> object:
        """What a snapshot keeps under the name of this, of all it read.

        :returns: None: nothing
        """
        return inventory.beside.get(self.name)

    def stopped(self, snapshot: Snapshot, settings: Settings) -> Reason | None:
        """Why nothing may be planned in a scope; None if it may."""
        return None

    def host_reasons(self, host: Host, settings: Settings) -> list[Reason]:
        """What keeps a host from taking any instance, in a fixed order."""
        return []

    def to_empty(
        self, snapshot: Snapshot, settings: Settings
    ) -> Collection[str] | None:
        """The hosts that instances are to leave; None: as the audit says."""
        return None

    def movable(self, snapshot: Snapshot, settings: Settings) -> Rule | None:
        """Who may move; None: who can be live-migrated."""
        return None

    def demand(
        self, instance: Instance, snapshot: Snapshot, settings: Settings
    ) -> dict[str, int] | None:
        """What an instance takes at its destination, by resource class.

        :returns: None: what it takes where it is
        """
        return None

    def under_way(self, snapshot: Snapshot, settings: Settings) -> set[str]:
        """Instances on their way by what only it knows of, by uuid."""
        return set()

    def constraints(
        self, trunk: tuple[type[Constraint], ...]
    ) -> tuple[type[Constraint], ...]:
        """Those that hold in its plan, in the order of their reasons.

        :param trunk: those that hold without it
        """
        return trunk

    def closings(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> list[Closing]:
        """Hosts that are closed before anything leaves them.

        :param result: with its steps
        """
        return []

    def note(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> None:
        """Add what is its own to the result of a scope."""

    def checking(self, report: Mapping[str, Any]) -> Self | None:
        """The extension that checks the proofs of a report, and plans nothing.

        Where one holds, the scope is ``done``; its reason has the words.

        :param report: the document of a replay
        :returns: None: its plans have no proofs that prices hold
        :raises ConfigurationError: a proof is of another format
        """
        return None

    def follow(
        self,
        case: PlanningInput,
        result: AggregateResult,
        planner: PlanScope,
    ) -> list[EarlierMove]:
        """Plan what follows the steps of a scope, and add it to its result.

        :param case: with those steps among the earlier ones
        :returns: moves that scopes planned later have to know
        """
        return []

    def answer(self, result: AggregateResult, uuid: str) -> dict[str, Any]:
        """What becomes of an instance, beside moves: keys of an answer."""
        return {}

    def host_answer(
        self, result: AggregateResult, name: str
    ) -> dict[str, Any]:
        """What becomes of a host, beside moves: keys of an answer."""
        return {}


PLAIN = Extension()
"""Of an audit that wants no more than the trunk plans."""
