# SPDX-License-Identifier: Apache-2.0
"""Is a plan that was delivered twice carried out once?"""

import fixtures

from kronos.actions.migration.context import Patience
from kronos.actions.migration.turn import delivery, slots
from kronos.common import exceptions
from tests.unit.actions.migration import base

FREE, TAKEN, OVER = slots.Delivery
AWAY = exceptions.TurnUnknown('away', transient=True)


class DeliveryTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5

    def is_over(self, *entries):
        self.slots.entries = list(entries)
        patience = Patience(
            is_cancelled=lambda: self.cancelled,
            tell=self.told.append,
            clock=self.clock,
            wall=self.clock,
            sleep=self.clock.sleep,
        )
        return delivery.is_over(self.settings, patience, self.slots)

    def test_the_first_one(self):
        self.assertFalse(self.is_over(FREE))
        self.assertEqual(1000.0, self.clock.now)

    def test_another_one_has_done_it(self):
        self.assertTrue(self.is_over(OVER))

    def test_another_one_is_at_it(self):
        """It is waited for, and told once."""
        log = self.useFixture(fixtures.FakeLogger())
        self.assertTrue(self.is_over(TAKEN, TAKEN, TAKEN, OVER))
        self.assertEqual(1015.0, self.clock.now)
        self.assertEqual(1, log.output.count('delivered twice'))
        self.assertIn(base.UUID, log.output)

    def test_another_one_dies(self):
        self.assertFalse(self.is_over(TAKEN, FREE))

    def test_cancelled_while_it_waits(self):
        def cancel():
            self.cancelled = True

        self.clock.at(1010, cancel)
        self.assertRaises(
            exceptions.MigrationCancelled, self.is_over, *[TAKEN] * 9
        )
        self.assertEqual(1010.0, self.clock.now)

    def test_the_database_is_away_for_a_moment(self):
        self.assertFalse(self.is_over(AWAY, AWAY, FREE))
        self.assertEqual(1000.0 + 30 + 60, self.clock.now)
        self.assertIn('tries again in 30 s: away', self.told)

    def test_the_database_stays_away(self):
        self.settings.max_retries = 2
        self.assertRaises(exceptions.TurnUnknown, self.is_over, *[AWAY] * 9)
        self.assertEqual(6, len(self.slots.entries))

    def test_an_action_that_is_not_there(self):
        """No wait brings it back."""
        error = exceptions.TurnUnknown('no such action', transient=False)
        self.assertRaises(exceptions.TurnUnknown, self.is_over, error)
        self.assertEqual(1000.0, self.clock.now)
