# SPDX-License-Identifier: Apache-2.0
"""What does every strategy of Kronos say of itself to Watcher?"""

from oslotest import base as oslotest_base

from kronos.engine import types
from kronos.extensions.recovery.audit import strategy as recover
from kronos.strategies import base


class BaseTestCase(oslotest_base.BaseTestCase):
    def test_a_strategy_declares_what_it_is(self):
        one = recover.Recover
        self.assertTrue(issubclass(one, base.KronosStrategy))
        self.assertEqual('kronos_recover', one.get_name())
        self.assertEqual('kronos_recovery', one.get_goal_name())
        self.assertEqual('Kronos: recover', one.get_display_name())
        self.assertEqual([], one.get_config_opts())
        self.assertIn('aggregates', one.get_schema()['properties'])
        self.assertEqual(
            {row.name for row in one.GOAL.MEASURES},
            set(one.indicators(types.CycleReport())),
        )
