# SPDX-License-Identifier: Apache-2.0
"""Is a plan that came twice carried out once?"""

import logging

import fixtures

from kronos.actions.core import slots, turn_wait
from kronos.actions.core.context import Patience
from kronos.common import exceptions
from tests.unit.actions.live import base

FREE, TAKEN, OVER = (
    slots.DeliveryState.FREE,
    slots.DeliveryState.TAKEN,
    slots.DeliveryState.OVER,
)
AWAY = exceptions.TurnUnknown(reason='away', transient=True)


class DeliveryTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))

    def is_over(self):
        patience = Patience(
            lambda: self.cancelled,
            self.told.append,
            self.clock,
            self.clock,
            self.clock.sleep,
        )
        return turn_wait.is_over(self.settings, patience, self.slots)

    def refused(self, error, words):
        return self.fails(error, words, run=self.is_over)

    def cancel(self):
        self.cancelled = True


class TwiceTestCase(DeliveryTestCase):
    def test_free(self):
        self.assertFalse(self.is_over())
        self.assertEqual(1000.0, self.clock.now)
        self.assertEqual('', self.log.output)

    def test_over(self):
        self.slots.entries = [OVER]
        self.assertTrue(self.is_over())
        self.assertEqual(1000.0, self.clock.now)

    def test_taken_then_over(self):
        """The warning comes once, however long it waits."""
        self.slots.entries = [TAKEN, TAKEN, TAKEN, OVER]
        self.assertTrue(self.is_over())
        self.assertEqual(1150.0, self.clock.now)
        self.assertEqual(
            [
                f'Instance {base.UUID}: its plan was delivered twice; this '
                'delivery waits for the other one'
            ],
            self.log.output.splitlines(),
        )

    def test_taken_then_free(self):
        """The other delivery died; this one carries the move out."""
        self.slots.entries = [TAKEN, FREE, OVER]
        self.assertFalse(self.is_over())
        self.assertEqual([OVER], self.slots.entries)


class DatabaseTestCase(DeliveryTestCase):
    def test_away_for_a_while(self):
        self.slots.entries = [AWAY, AWAY, OVER]
        self.assertTrue(self.is_over())
        self.assertEqual(1000.0 + 30 + 60, self.clock.now)
        self.assertEqual('tries again in 30 s: away', self.told[0])

    def test_away_for_good(self):
        self.slots.entries = [AWAY] * 9
        self.refused(exceptions.TurnUnknown, 'away')
        self.assertEqual(5, len(self.slots.entries))
        self.assertEqual(1000.0 + 30 + 60 + 120, self.clock.now)

    def test_away_while_the_other_is_at_it(self):
        self.slots.entries = [TAKEN, AWAY, TAKEN, OVER]
        self.assertTrue(self.is_over())
        self.assertEqual(1, self.log.output.count('delivered twice'))

    def test_no_row(self):
        """No further try would find one."""
        self.slots.entries = [exceptions.TurnUnknown(reason='no row')]
        self.refused(exceptions.TurnUnknown, 'no row')
        self.assertEqual(1000.0, self.clock.now)


class CancelTestCase(DeliveryTestCase):
    def stops(self):
        error = self.refused(
            exceptions.MigrationCancelled, 'its plan was cancelled'
        )
        self.assertEqual('plan_cancelled', error.kwargs['fault'])

    def test_before_it_enters(self):
        self.cancel()
        self.slots.entries = [OVER]
        self.stops()
        self.assertEqual([OVER], self.slots.entries)

    def test_while_the_other_is_at_it(self):
        self.slots.entries = [TAKEN] * 9
        self.clock.at(1100, self.cancel)
        self.stops()
        self.assertEqual(1100.0, self.clock.now)
        self.assertEqual(7, len(self.slots.entries))

    def test_while_the_database_is_away(self):
        self.settings.retry_backoff = 400
        self.slots.entries = [AWAY] * 9
        self.clock.at(1100, self.cancel)
        self.stops()
        self.assertEqual(1100.0, self.clock.now)
        self.assertEqual(8, len(self.slots.entries))
