# SPDX-License-Identifier: Apache-2.0
"""The goal kronos_calm: few instances move."""

from typing import ClassVar

from kronos.engine.types import CycleReport
from kronos.strategies import goals


class Calm(goals.Goal):
    """As many instances as can be stay where they are."""

    NAME = 'kronos_calm'
    DISPLAY_NAME = 'Kronos: few migrations'
    INDICATORS: ClassVar = {
        'instances': 'Instances of the scopes.',
        'instances_staying': 'Instances that the plan leaves where they are.',
    }
    SHARE = goals.Share(
        'instances_moved',
        'Share of the instances that the plan moves.',
        before='instances',
        after='instances_staying',
    )

    @classmethod
    def indicators(cls, report: CycleReport) -> dict[str, float]:
        there = {uuid for one in report.scopes for uuid in one.instances}
        moved = {one.instance for one in report.steps}
        return {
            'instances': len(there),
            'instances_staying': len(there - moved),
        }
