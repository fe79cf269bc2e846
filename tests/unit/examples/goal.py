# SPDX-License-Identifier: Apache-2.0
"""The goal kronos_calm: few instances move."""

from typing import ClassVar

from kronos.engine.types import CycleReport
from kronos.strategies import goals
from kronos.strategies.efficacy import Measure, Share


def _instances(report: CycleReport) -> set[str]:
    return {uuid for scope in report.scopes for uuid in scope.instances}


class Calm(goals.Goal):
    """As many instances as can be stay where they are."""

    NAME = 'kronos_calm'
    DISPLAY_NAME = 'Kronos: few migrations'
    MEASURES: ClassVar = (
        Measure(
            'instances',
            'Instances of the scopes.',
            lambda report: len(_instances(report)),
        ),
        Measure(
            'instances_staying',
            'Instances that the plan leaves where they are.',
            lambda report: len(
                _instances(report) - {step.instance for step in report.steps}
            ),
        ),
    )
    SHARE = Share(
        'instances_moved',
        'Share of the instances that the plan moves.',
        before='instances',
        after='instances_staying',
    )
