# SPDX-License-Identifier: Apache-2.0
"""Is so much waited for as it should be, and no more?"""

import logging

import fixtures

from kronos.actions.core import slots, turn_wait
from kronos.actions.core.context import Patience
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from tests.unit.actions.live import base

BUSY = faults.error(Fault.INSTANCE_BUSY, 'it has a task')
CLOSED = faults.error(Fault.DESTINATION_DISABLED, 'h2 is disabled')
AWAY = exceptions.NovaClientError('away', transient=True)
REFUSED = exceptions.PreFlightError('refused for now', transient=True)


class TurnWaitTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.looks = []
        """When somebody looked whether the move may begin."""

    def wait(self, *answers, **more):
        """Wait for a turn.

        :param answers: what look after look gives; the last one again
        """
        left = list(answers)

        def step():
            self.looks.append(self.clock())
            self.assertLess(len(self.looks), 50, 'it waits for ever')
            found = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(found, Exception):
                raise found
            return found

        patience = Patience(
            lambda: self.cancelled,
            self.told.append,
            self.clock,
            self.clock,
            self.clock.sleep,
        )
        self.turn = turn_wait.TurnWait(self.settings, patience, self.slots)
        self.turn.until(step, **more)

    def refused(self, error, words, *answers, **more):
        return self.fails(
            error, words, run=lambda: self.wait(*answers, **more)
        )

    def cancel(self):
        self.cancelled = True


class TimeTestCase(TurnWaitTestCase):
    def test_at_once(self):
        self.wait('')
        self.assertEqual([1000.0], self.looks)
        self.assertEqual([''], self.told)

    def test_not_before(self):
        """Nobody looks before its time."""
        self.settings.not_before = 1100.0
        self.wait('')
        self.assertEqual([1100.0], self.looks)
        self.assertEqual(
            ['waits: not before 1970-01-01T00:18:20Z'] * 2 + [''], self.told
        )

    def test_no_turn_in_time(self):
        self.settings.timing.queue_timeout = 100
        error = self.refused(
            exceptions.StaleTask, 'no turn within 100 s: others', 'others'
        )
        self.assertEqual('no_turn', error.kwargs['fault'])
        self.assertEqual([1000.0, 1050.0, 1100.0], self.looks)

    def test_patience_begins_with_its_time(self):
        self.settings.timing.queue_timeout = 100
        self.settings.not_before = 1100.0
        self.refused(exceptions.StaleTask, 'no turn', 'others')
        self.assertEqual([1100.0, 1150.0, 1200.0], self.looks)

    def test_its_own_plan_takes_its_time(self):
        """It counts from when it had not to be waited for any more."""
        self.settings.timing.queue_timeout = 100
        self.clock.at(1100, lambda: self.turn.put_off())
        self.refused(exceptions.StaleTask, 'no turn', 'others')
        self.assertEqual(1200.0, self.looks[-1])

    def test_a_turn_at_the_last_moment(self):
        self.settings.timing.queue_timeout = 100
        self.wait('others', 'others', '')
        self.assertEqual(1100.0, self.clock.now)


class TellTestCase(TurnWaitTestCase):
    def test_the_reason(self):
        """The log has each one once, the status as long as it holds."""
        log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.wait('others', 'others', 'the stagger', '')
        self.assertEqual(
            [
                'waits: others',
                'waits: others',
                'waits: the stagger',
                '',
            ],
            self.told,
        )
        self.assertEqual(
            [
                f'Instance {base.UUID} waits: others',
                f'Instance {base.UUID} waits: the stagger',
            ],
            log.output.splitlines(),
        )


class HindranceTestCase(TurnWaitTestCase):
    def test_passes(self):
        self.wait(BUSY, '')
        self.assertEqual(1050.0, self.clock.now)
        self.assertEqual(['waits: it has a task', ''], self.told)

    def test_stays(self):
        """It is waited for as long as ``preflight_wait``."""
        error = self.refused(exceptions.PreFlightError, 'it has a task', BUSY)
        self.assertEqual('instance_busy', error.kwargs['fault'])
        self.assertEqual([1000.0, 1050.0, 1100.0], self.looks)

    def test_comes_back(self):
        """Each is waited for anew."""
        self.wait(BUSY, BUSY, 'others', BUSY, BUSY, '')
        self.assertEqual(1250.0, self.clock.now)

    def test_that_does_not_pass(self):
        self.refused(exceptions.PreFlightError, 'h2 is disabled', CLOSED, '')
        self.assertEqual([1000.0], self.looks)

    def test_a_refusal_is_tried_again_by_a_further_try_alone(self):
        self.refused(exceptions.PreFlightError, 'for now', REFUSED, '')
        self.assertEqual([1000.0], self.looks)
        self.wait(REFUSED, '', is_further_try=True)
        self.assertEqual([1000.0, 1030.0], self.looks[1:])


class ServiceTestCase(TurnWaitTestCase):
    def test_away_for_a_while(self):
        self.wait(AWAY, AWAY, '')
        self.assertEqual([1000.0, 1030.0, 1090.0], self.looks)
        self.assertEqual('tries again in 30 s: away', self.told[0])
        self.assertEqual('', self.told[-1])

    def test_away_for_good(self):
        self.refused(exceptions.NovaClientError, 'away', AWAY)
        self.assertEqual([1000.0, 1030.0, 1090.0, 1210.0], self.looks)

    def test_tries_are_counted_anew_after_an_answer(self):
        self.wait(AWAY, AWAY, AWAY, 'others', AWAY, '')
        self.assertEqual(1000.0 + 210 + 50 + 30, self.clock.now)

    def test_another_delivery_took_it_over(self):
        """It does not look any more."""
        self.slots.replaced = [slots.Replaced(reason='by another')]
        self.refused(slots.Replaced, 'by another', '')
        self.assertEqual([], self.looks)


class CancelTestCase(TurnWaitTestCase):
    def stops(self, *answers):
        error = self.refused(
            exceptions.MigrationCancelled, 'its plan was cancelled', *answers
        )
        self.assertEqual('plan_cancelled', error.kwargs['fault'])

    def test_before_it_looks(self):
        self.cancel()
        self.stops('')
        self.assertEqual([], self.looks)

    def test_before_its_time(self):
        self.settings.not_before = 5000.0
        self.clock.at(1100, self.cancel)
        self.stops('')
        self.assertEqual(1100.0, self.clock.now)
        self.assertEqual([], self.looks)

    def test_before_its_turn(self):
        self.clock.at(1100, self.cancel)
        self.stops('others')
        self.assertEqual([1000.0, 1050.0], self.looks)

    def test_while_it_is_hindered(self):
        self.clock.at(1050, self.cancel)
        self.stops(BUSY)
        self.assertEqual([1000.0], self.looks)

    def test_before_a_further_try(self):
        self.settings.retry_backoff = 400
        self.clock.at(1100, self.cancel)
        self.stops(AWAY)
        self.assertEqual(1100.0, self.clock.now)
        self.assertEqual([1000.0], self.looks)
