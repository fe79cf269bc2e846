# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_spread: it keeps the hosts of an aggregate even."""

from kronos.engine import types
from kronos.strategies import (
    base,
    goals,
    outcomes,
    parameters,
    status_messages,
)


class Spread(base.Rebalancing):
    """Move instances from the busiest hosts to the least busy ones.

    It takes policies of mode ``spread`` and stops when every one of them
    is at or below its threshold.
    """

    MODE = 'spread'
    DISPLAY_NAME = 'Kronos: spread'
    GOAL = goals.BALANCE
    PARAMETERS = parameters.SPREAD

    @classmethod
    def get_name(cls) -> str:
        return 'kronos_spread'

    @classmethod
    def indicators(cls, report: types.CycleReport) -> dict[str, float]:
        return outcomes.balance(report)

    @classmethod
    def outcome(cls, scope: types.AggregateResult) -> str:
        return status_messages.imbalance(scope)
