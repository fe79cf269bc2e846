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


@dataclass(frozen=True)
class PhaseRow:
    """The rules of one phase, whatever the policies and the settings are.

    What the fields mean, :class:`PhaseRules` says.
    """

    from_draining: bool
    from_counting: bool
    ceilings: bool
    return_guard: bool
    may_price_soft_groups: bool
    """Whether soft groups are priced where the settings ask for that."""
    is_drain: bool = False
    """Whether ``drain_may_exceed_threshold`` is about it."""
    always_prices_soft_groups: bool = False
    """Whether they are priced whatever the settings ask for."""
    spares_young: bool = False


TABLE: dict[Phase, PhaseRow] = {
    MigrationPhase.EVACUATE: PhaseRow(
        from_draining=True,
        from_counting=False,
        ceilings=True,
        return_guard=False,
        may_price_soft_groups=True,
        is_drain=True,
    ),
    MigrationPhase.AFFINITY: PhaseRow(
        from_draining=True,
        from_counting=True,
        ceilings=True,
        return_guard=False,
        may_price_soft_groups=False,
    ),
    MigrationPhase.RELIEVE: PhaseRow(
        from_draining=False,
        from_counting=True,
        ceilings=True,
        return_guard=True,
        may_price_soft_groups=False,
    ),
    MigrationPhase.SPREAD: PhaseRow(
        from_draining=False,
        from_counting=True,
        ceilings=False,
        return_guard=True,
        may_price_soft_groups=True,
        spares_young=True,
    ),
    MigrationPhase.PACK: PhaseRow(
        from_draining=False,
        from_counting=True,
        ceilings=True,
        return_guard=True,
        may_price_soft_groups=False,
        spares_young=True,
    ),
}


LIVE = [*TABLE]
"""The phases of live migrations."""


@dataclass(frozen=True)
class PhaseRules:
    """The rules of one phase."""

    phase: Phase
    from_draining: bool
    """Whether instances on hosts that are drained may move."""
    from_counting: bool
    """Whether those on hosts that count may."""
    ceilings: bool
    """Whether destinations stay below ``capacity_threshold``."""
    return_guard: bool
    """Whether an instance stays away from where it was moved away."""
    spares_young: bool
    """Whether an instance below ``min_age`` stays where it is."""
    thresholds_object: bool
    """Whether a policy's objection forbids a move: its imbalance grows and
    ends above its threshold."""
    soft_groups: SoftGroups
    """To moves that gain; those of a plateau and swaps never break any."""
    may_repeat: bool
    """Whether an instance may move twice in the phase."""


def rules_of(phase: Phase, mode: Mode, settings: Settings) -> PhaseRules:
    """The row of a phase, with what policies and settings make of it.

    :param mode: of the policies: pack knows no threshold to object by
    """
    own = settings.extension.phases.get(phase)
    row = own.row if own else TABLE[phase]
    return PhaseRules(
        phase=phase,
        from_draining=row.from_draining,
        from_counting=row.from_counting,
        ceilings=row.ceilings,
        return_guard=row.return_guard,
        spares_young=row.spares_young,
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
