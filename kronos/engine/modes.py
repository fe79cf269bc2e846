# SPDX-License-Identifier: Apache-2.0
"""The modes of planning: what each strategy decides itself.

An audit and an offline replay in the same mode thus plan the same.
"""

from dataclasses import dataclass
from enum import StrEnum

from kronos.engine.settings import Settings


class PlanMode(StrEnum):
    """What is planned: the strategy ``kronos_<mode>``."""

    SPREAD = 'spread'
    PACK = 'pack'
    EVACUATE = 'evacuate'
    AFFINITY = 'affinity'

    @property
    def strategy(self) -> str:
        return f'kronos_{self.value}'


@dataclass
class PhaseSelection:
    """What was asked for, by the audit or else by ``[kronos]``."""

    evacuate: bool = False
    enforce_hard_affinity: bool = False
    enforce_soft_affinity: bool = False
    drain_hosts: list[str] | None = None
    """Only ``evacuate`` looks at it."""
    cooldown_seconds: float = 0.0


def adjust(settings: Settings, mode: PlanMode, asked: PhaseSelection) -> None:
    """Set all that a mode decides, whatever it was before."""
    evacuates = mode is PlanMode.EVACUATE
    repairs = mode is PlanMode.AFFINITY
    settings.rebalance = not evacuates and not repairs
    settings.evacuate = evacuates or (settings.rebalance and asked.evacuate)
    settings.drain_hosts = asked.drain_hosts if evacuates else None
    settings.unlimited = evacuates
    settings.cooldown_seconds = 0 if evacuates else asked.cooldown_seconds
    settings.enforce_hard_affinity = repairs or (
        settings.rebalance and asked.enforce_hard_affinity
    )
    settings.enforce_soft_affinity = (
        not evacuates and asked.enforce_soft_affinity
    )
