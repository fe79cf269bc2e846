# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_affinity: it repairs server groups."""

from typing import Any

from kronos.engine import modes, types
from kronos.engine.settings import Settings
from kronos.strategies import (
    base,
    goals,
    outcomes,
    parameters,
    status_messages,
)


class Affinity(base.KronosStrategy):
    """Move members of server groups whose rule is broken.

    Hard rules in any case, soft ones if the audit or the configuration
    says so. It takes policies of either mode.
    """

    DISPLAY_NAME = 'Kronos: affinity'
    GOAL = goals.AFFINITY
    PARAMETERS = parameters.AFFINITY

    @classmethod
    def get_name(cls) -> str:
        return 'kronos_affinity'

    @classmethod
    def adjust(
        cls, settings: Settings, asked: parameters.Parameters, kronos: Any
    ) -> None:
        modes.adjust(
            settings,
            modes.PlanMode.AFFINITY,
            modes.PhaseSelection(
                enforce_soft_affinity=parameters.either(
                    asked.enforce_soft_affinity, kronos.enforce_soft_affinity
                ),
                cooldown_seconds=kronos.cooldown,
            ),
        )

    @classmethod
    def indicators(cls, report: types.CycleReport) -> dict[str, float]:
        return outcomes.affinity(report)

    @classmethod
    def outcome(cls, scope: types.AggregateResult) -> str:
        return status_messages.repaired(scope)
