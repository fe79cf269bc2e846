# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_pack: it empties hosts by filling others."""

from typing import Any

from kronos.engine.settings import PlanMode
from kronos.strategies import base, goals, parameters
from kronos.strategies.outcome import status_messages


class Pack(base.KronosStrategy):
    """Move the instances of the least busy hosts to the fullest ones.

    It takes policies of mode ``pack``, from ``pack_policies_file`` where
    that is set, and keeps every one of them below its capacity_threshold.
    """

    NAME = 'kronos_pack'
    DISPLAY_NAME = 'Kronos: pack'
    PLAN_MODE = PlanMode.PACK
    GOAL = goals.Consolidate
    PARAMETERS = parameters.PHASES
    summary = staticmethod(status_messages.hosts_in_use)

    @classmethod
    def policies_file(cls, kronos: Any) -> str:
        path: str = kronos.pack_policies_file or kronos.policies_file
        return path
