# SPDX-License-Identifier: Apache-2.0
"""Does each weighing see one refresh whole, whoever else is at work?"""

import concurrent.futures
import contextlib
import sys
import threading

from tests.builders.caches import (
    PATIENCE_SECONDS,
    WeigherTestCase,
    states,
)

HOSTS = [f'host-{n:02}' for n in range(40)]
FEW = HOSTS[:3]
THREADS = 64
REFRESHES = 20


class ConcurrencyTestCase(WeigherTestCase):
    """Every refresh has scores of its own."""

    def setUp(self):
        super().setUp()
        self.set(refresh_seconds=1.0)
        self.number = 0
        self.prometheus.before = self._next
        self.whole = {}
        """Weights of all hosts to the number of their refresh."""

    def _next(self):
        self.number += 1
        loads = [
            self.number / 1000 + nth / 100 for nth in range(len(self.hosts))
        ]
        self.give(dict(zip(self.hosts, loads, strict=True)))
        self.whole[tuple(round(1 - load, 6) for load in loads)] = self.number

    def begin(self, hosts):
        self.hosts = hosts
        self.cache.weigh(states(*hosts))

    def weigh_all(self):
        """The number of the refresh whose weights they are; None: none."""
        weights = self.cache.weigh(states(*self.hosts))
        return self.whole.get(tuple(round(weight, 6) for weight in weights))


class TestThreads(ConcurrencyTestCase):
    def test_many_weighings_during_refreshes(self):
        """Each list of weights is of one refresh, the last or this."""
        self.begin(HOSTS)
        self.turns.start()
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            for _ in range(REFRESHES):
                futures = []

                def weigh_and_go_on(futures=futures):
                    futures += [
                        pool.submit(self.weigh_all) for _ in range(THREADS)
                    ]
                    self._next()

                self.prometheus.before = weigh_and_go_on
                last = self.number
                self.refresh()
                numbers = {
                    future.result(PATIENCE_SECONDS) for future in futures
                }
                self.assertEqual(THREADS, len(futures))
                self.assertEqual(set(), numbers - {last, last + 1})
                self.assertEqual(last + 1, self.weigh_all())


class TestLines(ConcurrencyTestCase):
    """One goes on to its end between any two lines of the other.

    It could not if it needed a lock that the other one holds.
    """

    @contextlib.contextmanager
    def asker(self, numbers):
        """Give a function that has another thread weigh all, and waits."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:

            def weigh():
                future = pool.submit(self.weigh_all)
                numbers.append(future.result(PATIENCE_SECONDS))

            yield weigh

    def test_a_weighing_in_the_middle_of_a_refresh(self):
        """It waits for nothing, and sees all or nothing of it."""
        self.begin(FEW)
        numbers = []
        with self.asker(numbers) as weigh:
            weigh()
            numbers.clear()
            before = threading.gettrace()
            threading.settrace(_between_lines(weigh))
            try:
                self.turns.start()
            finally:
                threading.settrace(before)
            self.assertEqual({None, 1}, set(numbers))
            numbers.clear()
            self.refresh()
            self.turns.stop()
        self.assertGreater(len(numbers), 100)
        self.assertEqual(sorted(numbers), numbers)
        self.assertEqual({1, 2}, set(numbers))

    def test_refreshes_in_the_middle_of_a_weighing(self):
        """It stays with the scores that it began with."""
        self.begin(FEW)
        self.turns.start()
        before = sys.gettrace()
        sys.settrace(_between_lines(self.refresh))
        try:
            weights = self.cache.weigh(states(*self.hosts))
        finally:
            sys.settrace(before)
        self.assertGreater(self.number, 20)
        number = self.whole[tuple(round(weight, 6) for weight in weights)]
        self.assertLess(number, self.number)
        self.assertEqual(self.number, self.weigh_all())

    def test_weighings_in_the_middle_of_a_weighing(self):
        """None waits for another one."""
        self.begin(FEW)
        self.turns.start()
        numbers = []
        with self.asker(numbers) as weigh:
            before = sys.gettrace()
            sys.settrace(_between_lines(weigh))
            try:
                weights = self.cache.weigh(states(*self.hosts))
            finally:
                sys.settrace(before)
        self.assertGreater(len(numbers), 20)
        self.assertEqual({1}, set(numbers))
        self.assertIn(
            tuple(round(weight, 6) for weight in weights), self.whole
        )

    def test_first_weighings_in_the_middle_of_a_first_weighing(self):
        """Each weighs by the look that is there, and asks nobody."""
        self.hosts = FEW
        self.cache.begin(is_asked=True)
        self.turns.start()
        numbers = []
        with self.asker(numbers) as weigh:
            before = sys.gettrace()
            sys.settrace(_between_lines(weigh))
            try:
                weights = self.cache.weigh(states(*self.hosts))
            finally:
                sys.settrace(before)
        self.assertGreater(len(numbers), 20)
        self.assertEqual({1}, set(numbers))
        self.assertIn(
            tuple(round(weight, 6) for weight in weights), self.whole
        )
        self.assertEqual(1, self.number)

    def test_a_refresh_in_the_middle_of_a_first_weighing(self):
        """What is newer is not replaced by what is older."""
        self.hosts = FEW
        self.cache.begin(is_asked=True)
        self.turns.start()
        before = sys.gettrace()
        # While the rows of the new hosts are made, and not after that.
        where = '/kronos/weighers/host_scores.py'
        sys.settrace(_between_lines(self.refresh, where))
        try:
            self.cache.weigh(states(*self.hosts))
        finally:
            sys.settrace(before)
        self.assertGreater(self.number, 20)
        self.assertEqual(self.number, self.weigh_all())


def _between_lines(work, where='/kronos/weighers/'):
    """A trace function that does it before each line of the weigher."""

    def trace(frame, event, _):
        if where not in frame.f_code.co_filename:
            return None
        if event == 'line':
            work()
        return trace

    return trace
