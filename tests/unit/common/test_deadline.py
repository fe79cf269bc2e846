# SPDX-License-Identifier: Apache-2.0
"""Is work waited for as long as said, and does it end without effect?"""

import threading
import time

import fixtures
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

    def test_a_further_try_has_an_end(self):
        """It is not made if the caller has gone meanwhile."""
        begun = threading.Semaphore(0)

        def work(check):
            try:
                for _ in range(2):
                    check.again()
                    check()
                    begun.release()
                    self.go_on.wait(LONG)
            finally:
                self.ended.set()

        self.assertRaises(deadline.DeadlinePassed, deadline.within, 0.05, work)
        self.go_on.set()
        self.assertTrue(self.ended.wait(LONG))
        self.assertTrue(begun.acquire(blocking=False))
        self.assertFalse(begun.acquire(blocking=False))

    def test_a_further_try_has_no_effect_yet(self):
        """The caller waits no second time for what begins anew."""

        def work(check):
            check()
            check.again()
            self.go_on.wait(LONG)
            check()
            self.done.append(True)

        self.assertRaises(deadline.DeadlinePassed, deadline.within, 0.05, work)
        self.assertEqual([], self.done)


class QueueTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.queue = deadline.Queue()
        self.go_on = threading.Event()
        self.addCleanup(self.go_on.set)
        self.threads = []

    def hang(self, check):
        self.threads.append(threading.current_thread())
        self.go_on.wait(LONG)
        check()

    def hangs(self, seconds=0.01):
        self.assertRaises(
            deadline.DeadlinePassed, self.queue.within, seconds, self.hang
        )

    def end(self):
        self.go_on.set()
        for thread in self.threads:
            thread.join(LONG)
            self.assertFalse(thread.is_alive())

    def test_no_more_threads_however_long_it_lasts(self):
        for _ in range(100):
            self.hangs()
        self.assertEqual(deadline.MOST, len(self.threads))

    def test_no_more_threads_however_many_callers(self):
        callers = [threading.Thread(target=self.hangs) for _ in range(30)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(LONG)
        self.assertEqual(deadline.MOST, len(self.threads))

    def test_one_that_hangs_holds_up_no_other(self):
        self.hangs()
        self.assertEqual(7, self.queue.within(LONG, lambda check: 7))
        self.assertEqual(8, self.queue.within(LONG, lambda check: 8))

    def test_all_is_well_afterwards(self):
        for _ in range(3):
            self.hangs()
        self.end()
        for number in range(5):
            self.assertEqual(
                number, self.queue.within(LONG, lambda check, n=number: n)
            )

    def test_who_waits_goes_on_at_once(self):
        for _ in range(deadline.MOST):
            self.hangs()
        results = []
        waiting = threading.Thread(
            target=lambda: results.append(
                self.queue.within(LONG, lambda check: 7)
            )
        )
        waiting.start()
        self.end()
        waiting.join(LONG)
        self.assertEqual([7], results)

    def test_an_error_leaves_the_queue(self):
        def fail(check):
            raise KeyError('x')

        for _ in range(5):
            self.assertRaises(KeyError, self.queue.within, LONG, fail)

    def test_one_after_another(self):
        running, most = set(), []

        def work(check):
            running.add(threading.current_thread())
            time.sleep(0.002)
            most.append(len(running))
            running.discard(threading.current_thread())

        callers = [
            threading.Thread(target=self.queue.within, args=(LONG, work))
            for _ in range(20)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(LONG)
        self.assertEqual([1] * 20, most)

    def test_no_thread_can_be_started(self):
        def fail(thread):
            raise RuntimeError("can't start new thread")

        with fixtures.MonkeyPatch('threading.Thread.start', fail):
            for _ in range(3):
                self.assertRaises(RuntimeError, self.queue.within, 1, fail)
        self.assertEqual(7, self.queue.within(LONG, lambda check: 7))
