# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_night: it spreads, and at night it asks for more."""

import datetime
from typing import Any

from kronos.engine import types
from kronos.engine.settings import PlanMode
from kronos.strategies import base, goals
from kronos.strategies.outcome import status_messages

BEGINS, ENDS = 22, 6
"""Hours of the day, in UTC."""


class Night(base.KronosStrategy):
    """Spread by the policies of a second file from 22 to 6 o'clock."""

    NAME = 'kronos_night'
    DISPLAY_NAME = 'Kronos: spread, at night by policies of its own'
    PLAN_MODE = PlanMode.SPREAD
    GOAL = goals.Balance
    PARAMETERS = ('evacuate_disabled_hosts',)

    @classmethod
    def policies_file(cls, kronos: Any) -> str:
        """The one of the option by day, and that with ``.night`` at night."""
        hour = datetime.datetime.now(datetime.UTC).hour
        is_night = hour >= BEGINS or hour < ENDS
        return f'{kronos.policies_file}{".night" if is_night else ""}'

    @classmethod
    def summary(cls, scope: types.AggregateResult) -> str:
        """What the status message of an audit says of a scope."""
        return status_messages.imbalance(scope)
