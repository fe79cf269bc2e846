# SPDX-License-Identifier: Apache-2.0
"""Do threads and processes get on with the cache?"""

import os
import threading

from kronos.weighers import cache
from tests.builders.caches import (
    LOADS,
    PATIENCE_SECONDS,
    URL,
    WEIGHTS,
    CacheTestCase,
    state,
)


class TestProcesses(CacheTestCase):
    def test_nothing_happens_before_the_first_weighing(self):
        """Workers fork after construction."""
        threads = threading.active_count()
        cache.Cache(self.source)
        self.assertEqual(threads, threading.active_count())
        self.assertEqual([], self.turns.works)
        self.assertEqual([], self.prometheus.queries)

    def test_64_first_weighings(self):
        """One of them starts the thread."""
        gate = threading.Barrier(64)

        def work():
            gate.wait(PATIENCE_SECONDS)
            self.weigh(*LOADS)

        self.at_once(64, work)
        self.assertEqual(1, len(self.turns.works))

    def test_a_refresh_within_a_weighing(self):
        """It is answered by one snapshot."""
        outer = self

        class Meddler:
            nodename, aggregates, vcpus_used = 'b', [], 0

            @property
            def host(self):
                outer.refresh()
                return 'b'

        self.fill()
        self.give(dict.fromkeys(LOADS, 0.3))
        self.assertEqual(
            WEIGHTS, self.weigh(state('a'), Meddler(), state('c'))
        )
        self.all_weigh(dict.fromkeys(LOADS, 0.7))

    def test_64_weighings_during_refreshes(self):
        """Each sees one of them, and none fails."""
        hosts = [f'h{n}' for n in range(50)]
        self.set(refresh_seconds=1.0)
        self.give(dict.fromkeys(hosts, 0.0))
        self.meet(*hosts)
        seen, is_over, weighed = set(), threading.Event(), threading.Event()

        def work():
            while not is_over.wait(0.02):
                before = len(seen)
                seen.add(tuple(set(self.weigh(*hosts).values())))
                if len(seen) > before:
                    weighed.set()

        def refresh():
            try:
                for nth in range(1, 15):
                    self.give(dict.fromkeys(hosts, nth / 50))
                    weighed.clear()
                    self.refresh()
                    self.assertTrue(weighed.wait(PATIENCE_SECONDS))
            finally:
                is_over.set()

        self.at_once(64, work, refresh)
        self.assertEqual({1}, {len(weights) for weights in seen})
        self.assertGreater(len(seen), 1)

    def at_once(self, number, work, also=None):
        """Run it in so many threads; fail if one does."""
        errors = []

        def run():
            try:
                work()
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=run) for _ in range(number)]
        for thread in threads:
            thread.start()
        try:
            if also:
                also()
        finally:
            for thread in threads:
                thread.join(PATIENCE_SECONDS)
        self.assertEqual([], errors)
        self.assertFalse(any(thread.is_alive() for thread in threads))

    def test_the_thread(self):
        """A daemon, which does not keep nova-scheduler from ending."""
        seen = []

        def sleep(seconds):
            seen.append(threading.current_thread())
            raise SystemExit

        self.cache = self.new_cache(spawn=None, sleep=sleep)
        self.weigh(*LOADS)
        for thread in threading.enumerate():
            if thread.name == 'kronos-weigher':
                thread.join(PATIENCE_SECONDS)
        self.assertEqual(
            [('kronos-weigher', True)],
            [(thread.name, thread.daemon) for thread in seen],
        )

    def test_no_thread_to_be_had(self):
        """The next weighing tries again."""

        def refuse(work):
            raise RuntimeError("can't start new thread")

        self.cache = self.new_cache(spawn=refuse)
        for _ in range(2):
            self.assertRaises(RuntimeError, self.weigh, *LOADS)

    def test_after_a_fork(self):
        """The child has a thread of its own, the parent keeps its."""
        self.fill()
        child = os.fork()
        if not child:
            code = 1
            try:
                self.give({**LOADS, 'a': 0.7})
                self.all_weigh(WEIGHTS)
                self.turns.start()
                self.all_weigh({**WEIGHTS, 'a': 0.3})
                code = len(self.turns.works)
            finally:
                os._exit(10 + code)
        status = os.waitpid(child, 0)[1]
        self.assertEqual(12, os.waitstatus_to_exitcode(status))
        self.assertEqual(1, len(self.turns.works))
        self.give({**LOADS, 'a': 0.6})
        self.refresh()
        self.all_weigh({**WEIGHTS, 'a': 0.4})

    def test_it_says_how_often(self):
        self.fill()
        self.refresh()
        self.assertEqual(1, self.logged(f'sends {URL} 1 queries every 30 s'))
