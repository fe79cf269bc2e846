# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_evacuate, as it declares itself."""

from oslotest import base

from kronos.common import exceptions
from kronos.engine import types
from kronos.strategies import evacuate
from tests.unit.strategies import declared
from tests.unit.strategies.outcome.test_status_messages import scope


class EvacuateTestCase(base.BaseTestCase):
    def test_it_drains_and_does_no_more(self):
        """Whatever is configured, at once, and whole hosts."""
        found = declared.settings(
            evacuate.Evacuate,
            {'hosts': 'h1,h2'},
            cooldown=900,
            enforce_hard_affinity=True,
            enforce_soft_affinity=True,
            evacuate_disabled_hosts=False,
        )
        self.assertTrue(found.evacuate and found.unlimited)
        self.assertFalse(found.rebalance or found.enforces)
        self.assertEqual(['h1', 'h2'], found.drain_hosts)
        self.assertEqual(0, found.cooldown_seconds)

    def test_it_takes_no_choice_of_phases(self):
        self.assertRaises(
            exceptions.ConfigurationError,
            declared.settings,
            evacuate.Evacuate,
            {'evacuate_disabled_hosts': True},
        )

    def test_outcome(self):
        drain = types.Drain('h1', 'off', 3, 2, {'u9': 'it is locked'})
        one = scope(drains=[drain])
        self.assertEqual(
            'h1: 2 leave, 1 stays (it is locked)',
            evacuate.Evacuate.summary(one),
        )
        self.assertEqual(
            1,
            evacuate.Evacuate.indicators(types.CycleReport([one]))[
                'instances_after'
            ],
        )
