# SPDX-License-Identifier: Apache-2.0
"""The settings: what an operator sets beside the policies.

Here, too, is what each mode of planning decides itself, so that an audit
and an offline replay in the same mode plan the same.
"""

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TypeVar

from kronos.common.names.name_marks import HostName
from kronos.engine.extension import PLAIN, Extension
from kronos.options.choices import ConsentRule as ConsentRule
from kronos.options.choices import EffectUse as EffectUse
from kronos.options.choices import HostMatch as HostMatch
from kronos.options.choices import PartialAnswers as PartialAnswers
from kronos.options.choices import SearchName as SearchName
from kronos.options.choices import SoftRules as SoftRules
from kronos.options.choices import SwapMoves as SwapMoves
from kronos.options.choices import TieBreak as TieBreak
from kronos.options.choices import UnexplainedLoad as UnexplainedLoad
from kronos.options.choices import VetoReference as VetoReference
from kronos.options.disruption import DisruptionOptions
from kronos.options.planning import PlanningOptions
from kronos.policies.models import Mode

T = TypeVar('T')
OUT_OF_HOST = 1
INTO_HOST = 2
"""So many live migrations a host sends and takes at a time."""


class PlanMode(StrEnum):
    """What is planned: each has a row in :data:`PHASES_OF_MODE`."""

    SPREAD = 'spread'
    PACK = 'pack'
    EVACUATE = 'evacuate'
    AFFINITY = 'affinity'
    RECOVER = 'recover'
    CELL_DRAIN = 'cell_drain'

    @property
    def strategy(self) -> str:
        """The strategy that plans so, where it is one of Kronos' own."""
        return f'kronos_{self.value}'


class When(Enum):
    """In which case a mode does something."""

    ALWAYS = 'always'
    IF_ASKED = 'if asked'
    NEVER = 'never'

    def applies(self, is_chosen: bool) -> bool:
        return self is When.ALWAYS or (self is When.IF_ASKED and is_chosen)


@dataclass(frozen=True)
class ModePhases:
    """What a mode plans, and what of it an audit may choose."""

    policies: Mode | None = None
    """The mode of the policies that it takes; None: either."""
    evacuate: When = When.NEVER
    enforce_hard_affinity: When = When.NEVER
    enforce_soft_affinity: When = When.NEVER
    rebalance: bool = False
    """Whether spread or pack follows."""
    drains_named_hosts: bool = False
    """Whether an audit may say which hosts are drained."""
    unlimited: bool = False
    """Whether there is no budget unless the audit gives one."""
    waits_for_cooldown: bool = True
    """Whether it leaves alone a scope that has just moved."""
    is_extended: bool = False
    """Whether it is that of an extension, which the audit brings along."""


PHASES_OF_MODE = {
    PlanMode.SPREAD: ModePhases(
        policies=Mode.SPREAD,
        evacuate=When.IF_ASKED,
        enforce_hard_affinity=When.IF_ASKED,
        enforce_soft_affinity=When.IF_ASKED,
        rebalance=True,
    ),
    PlanMode.PACK: ModePhases(
        policies=Mode.PACK,
        evacuate=When.IF_ASKED,
        enforce_hard_affinity=When.IF_ASKED,
        enforce_soft_affinity=When.IF_ASKED,
        rebalance=True,
    ),
    PlanMode.EVACUATE: ModePhases(
        evacuate=When.ALWAYS,
        drains_named_hosts=True,
        unlimited=True,
        waits_for_cooldown=False,
    ),
    PlanMode.AFFINITY: ModePhases(
        enforce_hard_affinity=When.ALWAYS,
        enforce_soft_affinity=When.IF_ASKED,
    ),
    PlanMode.RECOVER: ModePhases(
        evacuate=When.ALWAYS,
        unlimited=True,
        waits_for_cooldown=False,
        is_extended=True,
    ),
    PlanMode.CELL_DRAIN: ModePhases(
        evacuate=When.ALWAYS,
        waits_for_cooldown=False,
        is_extended=True,
    ),
}
"""What a strategy, a replay and kronos-test-config plan in each mode."""


def phases_of(mode: PlanMode | ModePhases) -> ModePhases:
    """What a mode plans: one of Kronos' own, or the row of an extension."""
    return mode if isinstance(mode, ModePhases) else PHASES_OF_MODE[mode]


@dataclass
class PhaseSelection:
    """What was asked for, by the audit or else by ``[kronos]``."""

    evacuate: bool = False
    enforce_hard_affinity: bool = False
    enforce_soft_affinity: bool = False
    drain_hosts: list[str] | None = None
    """Only a mode that drains named hosts looks at it."""
    cooldown_seconds: float = 0.0
    extension: Extension = PLAIN
    """Only a mode of an extension looks at it."""


@dataclass
class PlainSettings(PlanningOptions, DisruptionOptions):
    """What the operator, the audit and the mode set, in plain values.

    Recordings and reports have the fields as keys.
    """

    max_migrations: int | None = None
    """None: the largest ``max_migrations_per_cycle`` in force."""
    drain_hosts: list[HostName] | None = None
    """The hosts that are drained, where they are in the scope; None: every
    disabled one. Only with ``evacuate``."""
    rebalance: bool = True
    """Whether spread or pack follows the evacuation and the repair."""
    unlimited: bool = False
    """Whether there is no budget where ``max_migrations`` is None."""
    repeat_moves: bool = False
    """Whether spread may move an instance that it moved already in this
    scope; the literal rule does. Never across scopes."""
    exhaust: bool = False
    """Go on when every policy is within its threshold, until the budget is
    used."""


@dataclass
class Settings(PlainSettings):
    """All that is planned with, beside the policies."""

    extension: Extension = PLAIN
    """What else is planned, instead or beside."""
    beside: list[object] = field(default_factory=list)
    """Options of extensions, unless all are as by default."""

    def options(self, kind: type[T]) -> T:
        """Those of an extension, by their class."""
        options = (each for each in self.beside if isinstance(each, kind))
        return next(options, None) or kind()

    def set_options(self, options: object) -> None:
        """Set those of an extension."""
        kind = type(options)
        by_class = {type(each): each for each in self.beside}
        by_class[kind] = options
        self.beside = [
            by_class[each]
            for each in sorted(by_class, key=lambda each: each.__name__)
            if by_class[each] != each()
        ]

    def selection(self) -> PhaseSelection:
        """What ``[kronos]`` asks for, as long as no mode was set."""
        return PhaseSelection(
            evacuate=self.evacuate,
            enforce_hard_affinity=self.enforce_hard_affinity,
            enforce_soft_affinity=self.enforce_soft_affinity,
            cooldown_seconds=self.cooldown_seconds,
        )

    def set_mode(
        self, mode: PlanMode | ModePhases, selection: PhaseSelection
    ) -> None:
        """Set all that a mode decides, whatever it was before.

        :raises ValueError: it is a mode of an extension, and none is given
        """
        row = phases_of(mode)
        if row.is_extended and selection.extension == PLAIN:
            raise ValueError(f'an extension plans {mode}, and none is given')
        self.rebalance = row.rebalance
        self.evacuate = row.evacuate.applies(selection.evacuate)
        self.drain_hosts = (
            selection.drain_hosts if row.drains_named_hosts else None
        )
        self.extension = selection.extension if row.is_extended else PLAIN
        self.extension.prepare(self)
        self.unlimited = row.unlimited
        self.cooldown_seconds = (
            selection.cooldown_seconds if row.waits_for_cooldown else 0
        )
        self.enforce_hard_affinity = row.enforce_hard_affinity.applies(
            selection.enforce_hard_affinity
        )
        self.enforce_soft_affinity = row.enforce_soft_affinity.applies(
            selection.enforce_soft_affinity
        )

    @property
    def enforces(self) -> bool:
        """Whether server groups are repaired."""
        return self.enforce_hard_affinity or self.enforce_soft_affinity

    @property
    def uses_ceilings(self) -> bool:
        """Whether spread, too, needs the hosts' capacity readings."""
        return self.evacuate or self.enforces
