# SPDX-License-Identifier: Apache-2.0
"""Does a cache begin in each worker of nova-scheduler?"""

import os
import sys
import types

import fixtures

from kronos.weighers import workers
from tests.builders.caches import CacheTestCase


class WorkersTestCase(CacheTestCase):
    def green(self, is_patched):
        """Have it look as if eventlet were there."""
        patcher = types.SimpleNamespace(
            is_monkey_patched=lambda name: is_patched and name == 'thread'
        )
        modules = {**sys.modules, 'eventlet.patcher': patcher}
        self.useFixture(fixtures.MonkeyPatch('sys.modules', modules))

    def begun(self, work=lambda: None):
        """How many threads a child has begun when it does this."""
        child = os.fork()
        if not child:
            code = 99
            try:
                work()
                code = len(self.turns.works)
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class TestThreads(WorkersTestCase):
    def setUp(self):
        super().setUp()
        self.green(False)

    def test_each_child_begins(self):
        workers.begin_in_each(self.cache, lambda: 1)
        self.assertEqual([1, 1], [self.begun(), self.begun()])
        self.assertEqual([], self.turns.works)

    def test_the_first_weighing_begins_no_other_one(self):
        workers.begin_in_each(self.cache, lambda: 2)
        self.assertEqual(1, self.begun(lambda: self.weigh('a')))

    def test_what_a_worker_forks_is_no_worker(self):
        workers.begin_in_each(self.cache, lambda: 1)

        def fork():
            self.turns.works.clear()
            if self.begun():
                os._exit(98)

        self.assertEqual(0, self.begun(fork))

    def test_no_thread_to_be_had(self):
        """The worker starts nevertheless, and tries again."""
        tries = []

        def refuse(work):
            tries.append(work)
            raise RuntimeError("can't start new thread")

        self.cache = self.new_cache(spawn=refuse)
        workers.begin_in_each(self.cache, lambda: 1)

        def weigh():
            self.assertEqual(1, len(tries))
            self.assertRaises(RuntimeError, self.weigh, 'a')
            self.turns.works += tries

        self.assertEqual(2, self.begun(weigh))

    def test_a_cache_that_is_gone(self):
        workers.begin_in_each(self.new_cache(), lambda: 1)
        self.assertEqual(0, self.begun())


class TestEventlet(WorkersTestCase):
    def setUp(self):
        super().setUp()
        self.green(True)

    def test_a_single_worker_is_this_process(self):
        workers.begin_in_each(self.cache, lambda: 1)
        self.assertEqual(1, len(self.turns.works))

    def test_several_begin_with_their_first_weighing(self):
        """No thread may start before the child has a hub of its own."""
        workers.begin_in_each(self.cache, lambda: 2)
        self.assertEqual(0, self.begun())
        self.assertEqual(1, self.begun(lambda: self.weigh('a')))
        self.assertEqual([], self.turns.works)
