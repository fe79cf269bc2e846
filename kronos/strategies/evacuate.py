# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_evacuate: it drains hosts."""

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


class Evacuate(base.KronosStrategy):
    """Move the instances away from disabled hosts, or from those named.

    It takes policies of either mode, does not wait for the cooldown of a
    scope, and plans whole hosts unless the audit gives ``max_migrations``.
    """

    DISPLAY_NAME = 'Kronos: evacuate'
    GOAL = goals.DRAIN
    PARAMETERS = parameters.EVACUATE

    @classmethod
    def get_name(cls) -> str:
        return 'kronos_evacuate'

    @classmethod
    def adjust(
        cls, settings: Settings, asked: parameters.Parameters, kronos: Any
    ) -> None:
        modes.adjust(
            settings,
            modes.PlanMode.EVACUATE,
            modes.PhaseSelection(drain_hosts=asked.hosts),
        )

    @classmethod
    def indicators(cls, report: types.CycleReport) -> dict[str, float]:
        return outcomes.drain(report)

    @classmethod
    def outcome(cls, scope: types.AggregateResult) -> str:
        return status_messages.drained(scope)
