# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_spread: it keeps the hosts of an aggregate even."""

from kronos.engine.settings import PlanMode
from kronos.strategies import base, goals, parameters
from kronos.strategies.outcome import status_messages


class Spread(base.KronosStrategy):
    """Move instances from the busiest hosts to the least busy ones.

    It takes policies of mode ``spread`` and stops when every one of them
    is at or below its threshold.
    """

    NAME = 'kronos_spread'
    DISPLAY_NAME = 'Kronos: spread'
    PLAN_MODE = PlanMode.SPREAD
    GOAL = goals.Balance
    PARAMETERS = parameters.PHASES
    summary = staticmethod(status_messages.imbalance)
