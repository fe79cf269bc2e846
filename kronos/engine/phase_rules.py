# SPDX-License-Identifier: Apache-2.0
"""The phase rules: what holds in which phase, one table for all who ask.

Planner, explanation, live-migration action and weigher read it; nobody
derives it again.
"""

from dataclasses import dataclass
from enum import StrEnum

from kronos.engine.settings import Settings, SoftRules
from kronos.engine.types import MigrationPhase
from kronos.policies.models import Mode


class SoftGroups(StrEnum):
    """What the rule of a soft server group means to a move."""

    VETO = 'veto'
    """As much as that of a hard one."""
    PRICED = 'priced'
    """It costs ``soft_rule_penalty``, in combined imbalance."""


@dataclass(frozen=True)
class PhaseRules:
    """What holds in one phase."""

    phase: MigrationPhase
    from_draining: bool
    """Whether instances on hosts that are drained may move."""
    from_counting: bool
    """Whether those on hosts that count may."""
    ceilings: bool
    """Whether destinations stay below ``capacity_threshold``."""
    return_guard: bool
    """Whether an instance stays away from where it was moved away."""
    thresholds_object: bool
    """Whether a policy's objection forbids a move: its imbalance grows and
    ends above its threshold."""
    soft_groups: SoftGroups
    """To moves that gain; those of a plateau and swaps never break any."""
    may_repeat: bool
    """Whether an instance may move twice in the phase."""


def rules_of(
    phase: MigrationPhase, mode: Mode, settings: Settings
) -> PhaseRules:
    """The row of a phase.

    :param mode: of the policies: pack knows no threshold to object by
    """
    evacuates = phase is MigrationPhase.EVACUATE
    repairs = phase is MigrationPhase.AFFINITY
    spreads = phase is MigrationPhase.SPREAD
    return PhaseRules(
        phase=phase,
        from_draining=evacuates or repairs,
        from_counting=not evacuates,
        ceilings=not spreads,
        return_guard=not (evacuates or repairs),
        thresholds_object=mode is Mode.SPREAD
        and not (evacuates and settings.drain_may_exceed_threshold),
        soft_groups=soft_groups(
            phase, mode, settings.soft_rules, settings.enforce_soft_affinity
        ),
        may_repeat=settings.repeat_moves,
    )


def soft_groups(
    phase: MigrationPhase,
    mode: Mode,
    soft_rules: SoftRules,
    enforce_soft_affinity: bool,
) -> SoftGroups:
    """What soft groups mean in a phase, for who has no settings at hand.

    Rules that are repaired veto: else spread would break by a price what
    the next audit mends again, for ever.
    """
    priced = (
        soft_rules is SoftRules.PENALTY
        and not enforce_soft_affinity
        and mode is Mode.SPREAD
        and phase in (MigrationPhase.SPREAD, MigrationPhase.EVACUATE)
    )
    return SoftGroups.PRICED if priced else SoftGroups.VETO
