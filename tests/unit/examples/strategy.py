# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_quiet: it spreads by policies of its own."""

from typing import Any

from kronos.engine import types
from kronos.engine.settings import PlanMode
from kronos.strategies import base, goals
from kronos.strategies.outcome import status_messages


class Quiet(base.KronosStrategy):
    """Spread by the policies of a second file, which ask for less."""

    NAME = 'kronos_quiet'
    DISPLAY_NAME = 'Kronos: quiet'
    PLAN_MODE = PlanMode.SPREAD
    GOAL = goals.Balance
    PARAMETERS = ()

    @classmethod
    def policies_file(cls, kronos: Any) -> str:
        return f'{kronos.policies_file}.quiet'

    @classmethod
    def summary(cls, scope: types.AggregateResult) -> str:
        return status_messages.imbalance(scope)
