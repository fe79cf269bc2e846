# SPDX-License-Identifier: Apache-2.0
"""Does a move wait for its time and its turn, and not for ever?

Whatever kind of move it is: what it looks at is given.
"""

import logging

import fixtures

from kronos.actions.migration.context import Patience
from kronos.actions.migration.turn import slots, turn_wait
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from tests.unit.actions.migration import base

BUSY = faults.error(Fault.INSTANCE_BUSY, 'it has a task')
LOCKED = faults.error(Fault.INSTANCE_LOCKED, 'it is locked')
AWAY = exceptions.NovaClientError(reason='away', transient=True)


class TurnWaitTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5
        self.looks = 0

    def until(self, *answers, further=False):
        """Wait; each look gives the next answer, then the last one again."""
        left = list(answers)

        def step():
            self.looks += 1
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        patience = Patience(
            is_cancelled=lambda: self.cancelled,
            tell=self.told.append,
            clock=self.clock,
            wall=self.clock,
            sleep=self.clock.sleep,
        )
        wait = turn_wait.TurnWait(self.settings, patience, self.slots)
        wait.until(step, is_further_try=further)
        return self.clock.now - 1000

    def refused(self, error, *answers, **more):
        raised = self.assertRaises(error, self.until, *answers, **more)
        self.assertIs(error, type(raised))
        return str(raised)


class TestWait(TurnWaitTestCase):
    def test_at_once(self):
        self.assertEqual(0, self.until(''))
        self.assertEqual([''], self.told)

    def test_as_long_as_there_is_a_reason(self):
        self.assertEqual(10, self.until('others move', 'others move', ''))
        self.assertEqual(['waits: others move'] * 2 + [''], self.told)

    def test_each_reason_is_logged_once(self):
        log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.until('one', 'one', 'two', 'two', '')
        self.assertEqual(1, log.output.count('waits: one'))
        self.assertEqual(1, log.output.count('waits: two'))

    def test_not_before_its_time(self):
        """Nothing is asked until then."""
        self.settings.not_before = 1100.0
        self.assertEqual(100, self.until(''))
        self.assertEqual(1, self.looks)
        self.assertEqual(
            'waits: not before 1970-01-01T00:18:20Z', self.told[0]
        )

    def test_not_for_ever(self):
        self.settings.timing.queue_timeout = 60
        self.assertEqual(
            'no turn within 60 s: others move',
            self.refused(exceptions.StaleTask, 'others move'),
        )
        self.assertEqual(1060.0, self.clock.now)

    def test_its_patience_begins_with_its_time(self):
        self.settings.timing.queue_timeout = 60
        self.settings.not_before = 1100.0
        self.refused(exceptions.StaleTask, 'others move')
        self.assertEqual(1160.0, self.clock.now)

    def test_cancelled(self):
        def cancel():
            self.cancelled = True

        self.clock.at(1010, cancel)
        self.refused(exceptions.MigrationCancelled, 'others move')
        self.assertEqual(1010.0, self.clock.now)

    def test_it_says_that_it_waits(self):
        """Else another delivery would take it for dead."""
        self.slots.replaced = [slots.Replaced('another one')]
        self.assertRaises(slots.Replaced, self.until, '')
        self.assertEqual(0, self.looks)


class TestErrors(TurnWaitTestCase):
    def test_what_passes_by_itself(self):
        self.assertEqual(15, self.until(BUSY, BUSY, BUSY, ''))
        self.assertEqual('waits: it has a task', self.told[0])

    def test_what_does_not_pass(self):
        self.refused(exceptions.PreFlightError, BUSY)
        self.assertEqual(1060.0, self.clock.now)

    def test_the_wait_begins_anew(self):
        """With each time that something stands in the way."""
        answers = [*[BUSY] * 10, 'others move', *[BUSY] * 10, '']
        self.assertEqual(105, self.until(*answers))

    def test_what_never_passes(self):
        self.assertEqual(
            'it is locked', self.refused(exceptions.PreFlightError, LOCKED)
        )
        self.assertEqual(1000.0, self.clock.now)

    def test_a_service_that_is_away(self):
        self.assertEqual(30 + 60, self.until(AWAY, AWAY, ''))

    def test_a_service_that_stays_away(self):
        self.settings.max_retries = 2
        self.refused(exceptions.NovaClientError, AWAY)
        self.assertEqual(3, self.looks)

    def test_a_host_that_is_down(self):
        """It is tried again only where Nova was asked before."""
        down = faults.error(Fault.SOURCE_NOT_UP, 'it is down')
        self.settings.preflight_wait = 10
        self.refused(exceptions.PreFlightError, down)
        self.assertEqual(10, self.clock.now - 1000)

    def test_a_host_that_is_down_between_two_tries(self):
        down = faults.error(Fault.SOURCE_NOT_UP, 'it is down')
        self.settings.preflight_wait = 0
        self.assertEqual(30, self.until(down, '', further=True))
