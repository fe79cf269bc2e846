# SPDX-License-Identifier: Apache-2.0
"""Is work waited for as long as said, and does it end without effect?"""

import threading

from oslotest import base

from kronos.common import deadline

LONG = 60.0


class DeadlineTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.go_on = threading.Event()
        self.addCleanup(self.go_on.set)
        self.ended = threading.Event()
        self.done = []

    def test_in_time(self):
        self.assertEqual(7, deadline.within(LONG, lambda check: 7))
        self.assertIsNone(deadline.within(LONG, lambda check: check()))

    def test_an_error_is_the_callers(self):
        def work(check):
            raise KeyError('x')

        self.assertRaises(KeyError, deadline.within, LONG, work)

    def test_late_work_has_no_effect(self):
        def work(check):
            try:
                self.go_on.wait(LONG)
                check()
                self.done.append(True)
            finally:
                self.ended.set()

        self.assertRaises(deadline.DeadlinePassed, deadline.within, 0.05, work)
        self.go_on.set()
        self.assertTrue(self.ended.wait(LONG))
        self.assertEqual([], self.done)

    def test_what_has_begun_to_last_is_waited_for(self):
        def work(check):
            check()
            self.go_on.wait(LONG)
            return 7

        # It ends in the second half of the time that it is given.
        timer = threading.Timer(3.0, self.go_on.set)
        timer.start()
        self.addCleanup(timer.join)
        self.assertEqual(7, deadline.within(2.0, work))

    def test_but_not_for_ever(self):
        def work(check):
            check()
            self.go_on.wait(LONG)

        self.assertRaises(deadline.DeadlinePassed, deadline.within, 0.05, work)
