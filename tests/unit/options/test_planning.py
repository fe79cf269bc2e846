# SPDX-License-Identifier: Apache-2.0
"""Do recordings that lack an option mean what they meant?"""

from oslotest import base

from kronos.options.planning import PlanningOptions
from tests.unit.options.differing import differing


class TestPlanning(base.BaseTestCase):
    def test_where_operators_have_another_default(self) -> None:
        found = differing(PlanningOptions)
        ([], specs) = found.pop('allowed_extra_specs')
        self.assertIn('hw:cpu_policy=shared', specs)
        self.assertEqual(
            {
                'unexplained_load': ('ignored', 'follows'),
                'require_headroom': (False, True),
                'cooldown_seconds': (0, 600),
                'instance_cooldown_seconds': (0, 21600),
                'quarantine_seconds': (0, 3600),
                'return_guard_seconds': (0, 86400),
                'search': ('greedy', 'best'),
                'min_age_seconds': (0, 3600),
                'min_gain': (0.0, 0.0005),
                'min_plan_gain': (0.0, 0.04),
                'cost_weight': (0.0, 0.001),
            },
            found,
        )
