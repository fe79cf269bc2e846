# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_affinity, as it declares itself."""

from oslotest import base

from kronos.engine import types
from kronos.strategies import affinity
from tests.unit.strategies import declared
from tests.unit.strategies.outcome.test_status_messages import scope


class AffinityTestCase(base.BaseTestCase):
    def test_it_repairs_and_does_no_more(self):
        """Hard rules in any case."""
        found = declared.settings(
            affinity.Affinity,
            {},
            cooldown=900,
            enforce_hard_affinity=False,
            evacuate_disabled_hosts=True,
        )
        self.assertTrue(found.enforce_hard_affinity)
        self.assertFalse(found.enforce_soft_affinity)
        self.assertFalse(found.rebalance or found.evacuate or found.unlimited)
        self.assertEqual(900, found.cooldown_seconds)

    def test_soft_rules_where_that_is_asked_for(self):
        asked = {'enforce_soft_affinity': 'true'}
        for given, options in (
            (asked, {}),
            ({}, {'enforce_soft_affinity': True}),
        ):
            found = declared.settings(affinity.Affinity, given, **options)
            self.assertTrue(found.enforce_soft_affinity)

    def test_outcome(self):
        one = scope(violations_before=['x', 'y'], violations_after=['y'])
        self.assertEqual(
            'broken server groups 2 -> 1, y', affinity.Affinity.summary(one)
        )
        self.assertEqual(
            2,
            affinity.Affinity.indicators(types.CycleReport([one]))[
                'violations_before'
            ],
        )
