# SPDX-License-Identifier: Apache-2.0
"""Does a table show what limits a plan?"""

from oslotest import base

from kronos.engine.types import AggregateResult, StopReason
from kronos.reports import limits
from tests.builders import limited


class TestSentences(base.BaseTestCase):
    def test_all(self) -> None:
        self.assertEqual(
            [
                'Window: open until 2027-01-15 10:00 (UTC)',
                'Moves by project_budget: 1 used, 3 free, 2 planned',
                'Moves by group_budget: 0 used, 1 free, 1 planned',
                'Consent: unknown 1, drain 1; 2 servers stay because of it',
            ],
            limits.sentences(limited.scope()),
        )

    def test_none(self) -> None:
        scope = AggregateResult('alpha', StopReason.BALANCED, 'balanced')
        self.assertEqual([], limits.sentences(scope))
