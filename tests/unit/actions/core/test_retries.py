# SPDX-License-Identifier: Apache-2.0
"""Is a move tried again as often as it may be, and no sooner?"""

from kronos.actions.core import retries
from kronos.actions.core.context import Patience
from kronos.common import exceptions
from tests.unit.actions.live import base


def passing(**more):
    return exceptions.NovaClientError(reason='503', transient=True, **more)


class RetriesTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.max_retries = 3
        self.settings.retry_backoff = 30.0
        self.patience = Patience(
            is_cancelled=lambda: self.cancelled,
            tell=self.told.append,
            clock=self.clock,
            wall=self.clock,
            sleep=self.clock.sleep,
        )


class TestNextTry(RetriesTestCase):
    def delays(self, *errors):
        return [
            retries.next_try(self.settings, error, failures)
            for failures, error in enumerate(errors)
        ]

    def test_twice_as_long_each_time(self):
        self.assertEqual(
            [30.0, 60.0, 120.0, None], self.delays(*[passing()] * 4)
        )

    def test_as_long_as_nova_asks(self):
        self.assertEqual(
            [90.0, 60.0],
            self.delays(passing(retry_after=90), passing(retry_after=10)),
        )

    def test_no_longer_than_anybody_waits(self):
        self.settings.timing.queue_timeout = 100
        self.assertEqual([30.0, 60.0, 100.0], self.delays(*[passing()] * 3))
        self.assertEqual([None], self.delays(passing(retry_after=101)))

    def test_what_does_not_pass(self):
        error = exceptions.NovaClientError(reason='404')
        self.assertEqual([None], self.delays(error))


class TestBackOff(RetriesTestCase):
    def test_in_small_steps(self):
        """So that a cancel is seen."""
        self.settings.timing.poll_interval = 20
        retries.back_off(self.settings, self.patience, passing(), 50)
        self.assertEqual(1050.0, self.clock.now)
        self.assertEqual(['tries again in 50 s: Nova: 503'], self.told)

    def test_cancelled_meanwhile(self):
        self.settings.timing.poll_interval = 20
        self.clock.at(1020.0, lambda: setattr(self, 'cancelled', True))
        self.assertRaises(
            exceptions.MigrationCancelled,
            retries.back_off,
            self.settings,
            self.patience,
            passing(),
            50,
        )
        self.assertEqual(1020.0, self.clock.now)


class TestReach(RetriesTestCase):
    def reach(self, *answers):
        left = list(answers)

        def connect():
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return retries.reach(self.settings, self.patience, connect)

    def test_away_for_a_moment(self):
        self.assertEqual('nova', self.reach(passing(), passing(), 'nova'))
        self.assertEqual(1090.0, self.clock.now)

    def test_away_for_longer(self):
        self.assertRaises(
            exceptions.NovaClientError, self.reach, *[passing()] * 4
        )

    def test_a_fault_of_the_program(self):
        """Nothing is tried again."""
        self.assertRaises(KeyError, self.reach, KeyError(), 'nova')


class TestGivenUp(RetriesTestCase):
    def test_with_what_is_to_be_said(self):
        found = retries.given_up(self.settings, passing(), '', 'tried 3 times')
        self.assertEqual('Nova: 503; tried 3 times', str(found))
        self.assertIs(exceptions.NovaClientError, type(found))
        self.assertTrue(found.kwargs['transient'])

    def test_who_asked_for_too_much(self):
        error = passing(retry_after=3600)
        found = retries.given_up(self.settings, error)
        self.assertEqual('Nova: 503; it requires a wait of 1 h', str(found))

    def test_joined(self):
        for parts, text in (
            ((), ''),
            (('', 'a', ''), 'a'),
            (('a', 'b'), 'a; b'),
        ):
            self.assertEqual(text, retries.joined(*parts))
