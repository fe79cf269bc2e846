# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_affinity: it repairs server groups."""

from kronos.engine.settings import PlanMode
from kronos.strategies import base, goals
from kronos.strategies.outcome import status_messages


class Affinity(base.KronosStrategy):
    """Move members of server groups whose rule is broken.

    Hard rules in any case, soft ones if the audit or the configuration
    says so. It takes policies of either mode.
    """

    NAME = 'kronos_affinity'
    DISPLAY_NAME = 'Kronos: affinity'
    PLAN_MODE = PlanMode.AFFINITY
    GOAL = goals.Affinity
    PARAMETERS = ('enforce_soft_affinity',)
    summary = staticmethod(status_messages.repaired)
