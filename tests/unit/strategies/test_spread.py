# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_spread, as it declares itself."""

from oslotest import base

from kronos.engine import types
from kronos.strategies import spread
from tests.unit.strategies import declared
from tests.unit.strategies.outcome.test_status_messages import scope


class SpreadTestCase(base.BaseTestCase):
    def test_an_audit_chooses_what_comes_first(self):
        found = declared.settings(spread.Spread, {})
        self.assertTrue(found.rebalance)
        self.assertFalse(found.evacuate or found.enforces)
        found = declared.settings(
            spread.Spread,
            {'evacuate_disabled_hosts': 'true', 'max_migrations': 3},
            enforce_hard_affinity=True,
            enforce_soft_affinity=True,
        )
        self.assertTrue(found.rebalance and found.evacuate)
        self.assertTrue(found.enforce_hard_affinity)
        self.assertTrue(found.enforce_soft_affinity)
        self.assertEqual(3, found.max_migrations)

    def test_an_audit_goes_before_the_configuration(self):
        found = declared.settings(
            spread.Spread,
            {'restrict_to_az': False, 'enforce_hard_affinity': 'False'},
            restrict_to_az=True,
            enforce_hard_affinity=True,
        )
        self.assertFalse(found.restrict_to_az or found.enforce_hard_affinity)

    def test_its_cooldown_is_the_configured_one(self):
        found = declared.settings(spread.Spread, {}, cooldown=77)
        self.assertEqual(77, found.cooldown_seconds)

    def test_outcome(self):
        self.assertEqual(
            'combined imbalance 0.50 -> 0.10 (balanced)',
            spread.Spread.summary(
                scope(combined_before=0.5, combined_after=0.1)
            ),
        )
        self.assertEqual(
            0.0,
            spread.Spread.indicators(types.CycleReport())[
                'combined_imbalance_before'
            ],
        )
