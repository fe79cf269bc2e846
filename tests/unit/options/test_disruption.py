# SPDX-License-Identifier: Apache-2.0
"""Do the limits of disruption mean the same to old recordings?"""

from oslotest import base

from kronos.options.disruption import DisruptionOptions
from tests.unit.options.differing import differing


class TestDisruption(base.BaseTestCase):
    def test_operators_have_the_same_defaults(self) -> None:
        self.assertEqual({}, differing(DisruptionOptions))

    def test_limits_are_off(self) -> None:
        limits = DisruptionOptions()
        budgets = (limits.project_budget, limits.group_budget)
        self.assertEqual(('', ''), budgets)
        self.assertEqual([], limits.windows)
