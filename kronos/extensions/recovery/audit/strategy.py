# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_recover: it closes hosts at fault, and drains them."""

import dataclasses
from typing import Any

from kronos.engine import types
from kronos.engine.settings import PlanMode
from kronos.extensions.recovery.extension import RECOVERY
from kronos.strategies import base, goals
from kronos.strategies.outcome import status_messages
from kronos.strategies.parameters import Parameters


class Recover(base.KronosStrategy):
    """Close the hosts that are at fault, and move away what is well there.

    Made for EVENT audits that kronos-instance-monitor triggers; CONTINUOUS
    ones find the same. It takes policies of either mode, does not wait for
    the cooldown of a scope, and plans whole hosts unless the audit gives
    ``max_migrations``.
    """

    NAME = 'kronos_recover'
    DISPLAY_NAME = 'Kronos: recover'
    PLAN_MODE = PlanMode.RECOVER
    GOAL = goals.Recovery
    PARAMETERS = ()

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Parameters:
        return dataclasses.replace(super().parse(raw), extension=RECOVERY)

    @classmethod
    def summary(cls, scope: types.AggregateResult) -> str:
        return status_messages.recovered(scope)
