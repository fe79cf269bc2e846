# SPDX-License-Identifier: Apache-2.0
"""The phase rules: which rules apply in which phase, in one table.

Planner, explanation, live-migration action and weigher read it; nobody
derives it again.
"""

from dataclasses import dataclass
from enum import StrEnum

from kronos.engine.settings import Settings, SoftRules
from kronos.engine.types import MigrationPhase, Phase
from kronos.policies.models import Mode


class SoftGroups(StrEnum):
    """What the rule of a soft server group means to a move."""

    VETO = 'veto'
    """As much as that of a hard one."""
    PRICED = 'priced'
    """It costs ``soft_rule_penalty``, in combined imbalance."""


@dataclass(frozen=True, kw_only=True)
class PhaseRow:
    """The rules of one phase, whatever the policies and the settings are."""

    from_draining: bool = False
    """Whether instances on hosts that are drained may move."""
    from_counting: bool = False
    """Whether those on hosts that count may."""
    ceilings: bool = False
    """Whether destinations stay below ``capacity_threshold``."""
    return_guard: bool = False
    """Whether an instance stays away from where it was moved away."""
    may_price_soft_groups: bool = False
    """Whether soft groups are priced where the settings ask for that."""
    is_balance: bool = False
    """Whether its moves are for the load of hosts alone."""
    is_drain: bool = False
    """Whether it empties hosts: ``drain_may_exceed_threshold`` and the
    ``drain-overrides`` of ``consent`` are about it."""
    always_prices_soft_groups: bool = False
    """Whether they are priced whatever the settings ask for."""
    spares_moved: bool = False
    """Whether an instance that moved stays for all of
    ``instance_cooldown``."""
    spares_young: bool = False
    """Whether an instance below ``min_age`` stays where it is."""


TABLE: dict[Phase, PhaseRow] = {
    MigrationPhase.EVACUATE: PhaseRow(
        from_draining=True,
        ceilings=True,
        may_price_soft_groups=True,
        is_drain=True,
    ),
    MigrationPhase.AFFINITY: PhaseRow(
        from_draining=True, from_counting=True, ceilings=True
    ),
    MigrationPhase.RELIEVE: PhaseRow(
        from_counting=True,
        is_balance=True,
        ceilings=True,
        return_guard=True,
        spares_moved=True,
    ),
    MigrationPhase.SPREAD: PhaseRow(
        from_counting=True,
        is_balance=True,
        return_guard=True,
        may_price_soft_groups=True,
        spares_moved=True,
        spares_young=True,
    ),
    MigrationPhase.PACK: PhaseRow(
        from_counting=True,
        is_balance=True,
        ceilings=True,
        return_guard=True,
        spares_moved=True,
        spares_young=True,
    ),
}


def row_of(phase: str) -> PhaseRow:
    """The row of a phase by its name; one without rules if it is unknown."""
    is_known = phase in list(MigrationPhase)
    return TABLE[MigrationPhase(phase)] if is_known else PhaseRow()


LIVE = [*TABLE]
"""The phases of live migrations."""


@dataclass(frozen=True, kw_only=True)
class PhaseRules(PhaseRow):
    """The row of a phase, with what policies and settings make of it."""

    phase: Phase
    thresholds_object: bool
    """Whether a policy's objection forbids a move: its imbalance grows and
    ends above its threshold."""
    soft_groups: SoftGroups
    """To moves that gain; those of a plateau and swaps never break any."""
    may_repeat: bool
    """Whether an instance may move twice in the phase."""


def rules_of(phase: Phase, mode: Mode, settings: Settings) -> PhaseRules:
    """The rules of a phase.

    :param mode: of the policies: pack knows no threshold to object by
    """
    own = settings.extension.phases.get(phase)
    row = own.row if own else TABLE[phase]
    return PhaseRules(
        **vars(row),
        phase=phase,
        thresholds_object=mode is Mode.SPREAD
        and not (row.is_drain and settings.drain_may_exceed_threshold),
        soft_groups=_soft_groups(
            row, mode, settings.soft_rules, settings.enforce_soft_affinity
        ),
        may_repeat=settings.repeat_moves,
    )


def soft_groups(
    phase: Phase,
    mode: Mode,
    soft_rules: SoftRules,
    enforce_soft_affinity: bool,
) -> SoftGroups:
    """What soft groups mean in a phase, for who has no settings at hand.

    Rules that are repaired veto: else spread would break by a price what
    the next audit repairs again, for ever.
    """
    return _soft_groups(TABLE[phase], mode, soft_rules, enforce_soft_affinity)


def _soft_groups(
    row: PhaseRow,
    mode: Mode,
    soft_rules: SoftRules,
    enforce_soft_affinity: bool,
) -> SoftGroups:
    priced = row.always_prices_soft_groups or (
        soft_rules is SoftRules.PENALTY
        and not enforce_soft_affinity
        and mode is Mode.SPREAD
        and row.may_price_soft_groups
    )
    return SoftGroups.PRICED if priced else SoftGroups.VETO
