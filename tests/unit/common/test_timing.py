# SPDX-License-Identifier: Apache-2.0
"""Is it noted how long a part took, unless it failed?"""

from unittest import mock

from oslotest import base

from kronos.common import timing


class TestTimed(base.BaseTestCase):
    def test_a_part(self):
        timings = {'load': 1.0}
        with (
            mock.patch('time.monotonic', side_effect=[10.0, 12.5]),
            timing.timed(timings, 'propose'),
        ):
            pass
        self.assertEqual({'load': 1.0, 'propose': 2.5}, timings)

    def test_one_that_fails(self):
        timings = {}

        def fails():
            with timing.timed(timings, 'propose'):
                raise KeyError

        self.assertRaises(KeyError, fails)
        self.assertEqual({}, timings)


class TestCountdown(base.BaseTestCase):
    def test_remaining(self):
        with mock.patch('time.monotonic', side_effect=[10.0, 12.5, 15.5]):
            countdown = timing.Countdown(5.0)
            self.assertEqual(2.5, countdown.remaining())
            self.assertEqual(-0.5, countdown.remaining())
