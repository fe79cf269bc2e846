# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_recover: it closes hosts at fault, and drains them."""

import dataclasses
from typing import TYPE_CHECKING, Any

from kronos.engine.settings import PlanMode, Settings
from kronos.extensions.recovery.audit import additions, goal
from kronos.extensions.recovery.extension import RECOVERY
from kronos.snapshots.reader import Reader
from kronos.strategies import base
from kronos.strategies.parameters import Parameters

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess


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
    GOAL = goal.RecoveredServers
    PARAMETERS = ()
    ADDITIONS = additions.RecoveryAdditions()
    summary = staticmethod(additions.summary)

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Parameters:
        return dataclasses.replace(super().parse(raw), extension=RECOVERY)

    @classmethod
    def reader(
        cls, settings: Settings, conf: Any, clients: 'HostProcess'
    ) -> Reader:
        from kronos.extensions.recovery.audit import history
        from kronos.extensions.recovery.readings.reader import RecoveryReader

        return RecoveryReader.of(conf.kronos, settings, history.restarts)
