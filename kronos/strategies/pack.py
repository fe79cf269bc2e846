# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_pack: it empties hosts by filling others."""

from typing import Any

from kronos.engine import types
from kronos.strategies import (
    base,
    goals,
    outcomes,
    parameters,
    status_messages,
)


class Pack(base.Rebalancing):
    """Move the instances of the least busy hosts to the fullest ones.

    It takes policies of mode ``pack``, from ``pack_policies_file`` where
    that is set, and keeps every one of them below its capacity_threshold.
    """

    MODE = 'pack'
    DISPLAY_NAME = 'Kronos: pack'
    GOAL = goals.CONSOLIDATE
    PARAMETERS = parameters.PACK

    @classmethod
    def get_name(cls) -> str:
        return 'kronos_pack'

    @classmethod
    def policies_file(cls, kronos: Any) -> str:
        path: str = kronos.pack_policies_file or kronos.policies_file
        return path

    @classmethod
    def indicators(cls, report: types.CycleReport) -> dict[str, float]:
        return outcomes.consolidate(report)

    @classmethod
    def outcome(cls, scope: types.AggregateResult) -> str:
        return status_messages.hosts_in_use(scope)
