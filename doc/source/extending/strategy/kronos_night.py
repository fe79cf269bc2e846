# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_night: it spreads, and at night it asks for more."""

import datetime
import os
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
        """That with ``.night`` at night, if it is there."""
        path: str = kronos.policies_file
        hour = datetime.datetime.now(datetime.UTC).hour
        is_night = hour >= BEGINS or hour < ENDS
        at_night = f'{path}.night'
        return at_night if is_night and os.path.exists(at_night) else path

    @classmethod
    def summary(cls, scope: types.AggregateResult) -> str:
        """What the status message of an audit says of a scope."""
        return status_messages.imbalance(scope)
