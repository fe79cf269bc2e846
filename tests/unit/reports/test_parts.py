# SPDX-License-Identifier: Apache-2.0
"""Do reports have what an extension adds to them, and nothing else?"""

from oslotest import base

from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, StopReason
from kronos.reports import parts
from kronos.reports.parts import ReportPart

SCOPE = AggregateResult('alpha', StopReason.BUDGET, 'the budget is used')


class TestReportPart(base.BaseTestCase):
    def test_nothing_is_added(self) -> None:
        part = ReportPart()
        self.assertEqual(
            ({}, {}), (part.settings(Settings()), part.scope(SCOPE))
        )
        self.assertEqual(([], ()), (part.answer_lines({}), part.uuids(SCOPE)))
        self.assertEqual([], part.lines(SCOPE, wording.ShortUuids(set())))

    def test_each_extension_of_kronos(self) -> None:
        self.assertLessEqual({'cells', 'recovery'}, parts.by_name().keys())

    def test_a_plan_of_the_trunk_has_nothing_to_say(self) -> None:
        """Their keys are there all the same, for programs."""
        for part in parts.every():
            row = part.settings(Settings()) | part.scope(SCOPE)
            self.assertFalse(any(row.values()), row)
            self.assertTrue(row)
            self.assertEqual([], part.lines(SCOPE, wording.ShortUuids(set())))
