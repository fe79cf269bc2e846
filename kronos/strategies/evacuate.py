# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_evacuate: it drains hosts."""

from kronos.engine.settings import PlanMode
from kronos.strategies import base, goals
from kronos.strategies.outcome import status_messages


class Evacuate(base.KronosStrategy):
    """Move the instances away from disabled hosts, or from those named.

    It takes policies of either mode, does not wait for the cooldown of a
    scope, and plans whole hosts unless the audit gives ``max_migrations``.
    """

    NAME = 'kronos_evacuate'
    DISPLAY_NAME = 'Kronos: evacuate'
    PLAN_MODE = PlanMode.EVACUATE
    GOAL = goals.Drain
    PARAMETERS = ('hosts',)
    summary = staticmethod(status_messages.drained)
