# SPDX-License-Identifier: Apache-2.0
"""Are recordings that lack an option planned as they were?"""

from oslotest import base

from kronos.options.searching import SearchOptions
from tests.unit.options.differing import differing


class TestSearching(base.BaseTestCase):
    def test_where_operators_have_another_default(self) -> None:
        self.assertEqual(
            {
                'search': ('greedy', 'best'),
                'min_gain': (0.0, 0.0005),
                'min_plan_gain': (0.0, 0.04),
                'cost_weight': (0.0, 0.001),
            },
            differing(SearchOptions),
        )
