# SPDX-License-Identifier: Apache-2.0
"""Is a weighing fresh, quick and never in trouble (W2, W4, W5)?"""

import os
import random
import sys
import threading

import requests

from kronos.weighers import cache
from tests.unit.weighers import build
from tests.unit.weighers.build import (
    PATIENCE_SECONDS,
    SECRET,
    URL,
    aggregate,
    mode,
    policy,
    state,
    states,
)

LOADS = {'a': 0.2, 'b': 0.5, 'c': 0.9}
WEIGHTS = {'a': 0.8, 'b': 0.5, 'c': 0.1}
NEUTRAL = dict.fromkeys(WEIGHTS, 0.0)
WARNING = 'does not have all it needs'
WELL = 'has all it needs again'


class CacheTestCase(build.WeigherTestCase):
    def setUp(self):
        super().setUp()
        self.give(LOADS)

    def fill(self):
        """A cache that knows a, b and c."""
        self.meet(*LOADS)
        self.all_weigh(WEIGHTS)

    def all_weigh(self, weights):
        self.assertEqual(weights, self.weigh(*LOADS))


class TestScores(CacheTestCase):
    def test_nothing_is_known_at_first(self):
        """W4: neutral, and nobody waits."""
        self.all_weigh(NEUTRAL)
        self.assertEqual([], self.prometheus.asked)
        self.turns.start()
        self.all_weigh(WEIGHTS)
        self.assertEqual({}, self.weigh())

    def test_refreshed(self):
        self.fill()
        self.give({'a': 0.9, 'b': 0.5, 'c': 0.2})
        self.all_weigh(WEIGHTS)
        self.refresh()
        self.all_weigh({'a': 0.1, 'b': 0.5, 'c': 0.8})

    def test_no_request_asks(self):
        """W4: however many there are."""
        self.fill()
        for _ in range(1000):
            self.weigh(*LOADS)
        self.assertEqual(['cpu'], self.prometheus.asked)
        self.assertEqual(1, len(self.turns.works))

    def test_jitter(self):
        """W4: many schedulers do not ask together."""
        self.set(refresh_seconds=30.0)
        self.fill()
        self.refresh()
        gaps = [self.refresh() for _ in range(10)]
        self.assertLessEqual(26.9, min(gaps))
        self.assertGreaterEqual(33.1, max(gaps))
        self.assertGreater(len(set(gaps)), 5)

    def test_the_first_gap_is_any(self):
        """W4: processes that start together drift apart at once."""
        gaps = []
        self.addCleanup(random.seed)
        for seed in range(10):
            random.seed(seed)
            self.cache = self.new_cache()
            self.meet(*LOADS)
            gaps.append(self.refresh())
            self.turns.stop()
        self.assertLess(min(gaps), 10.0)
        self.assertGreater(max(gaps), 20.0)
        self.assertLessEqual(max(gaps), 30.0)

    def test_another_interval(self):
        """Options are read at each refresh."""
        self.fill()
        self.set(refresh_seconds=100.0)
        self.refresh()
        self.assertGreater(self.refresh(), 89.0)


class TestHosts(CacheTestCase):
    def test_a_new_one(self):
        """W4: the mean of the others, until the next tick."""
        self.give({**LOADS, 'd': 0.4})
        self.fill()
        found = self.weigh('a', 'd', 'c')
        self.assertEqual({'a': 0.8, 'd': 0.45, 'c': 0.1}, found)
        self.turns.tick()
        self.assertEqual(0.6, self.weigh('a', 'd', 'c')['d'])
        self.assertEqual(['cpu'], self.prometheus.asked)

    def test_one_without_a_sample(self):
        """W4: the mean of those that are weighed with it."""
        self.set(min_host_coverage=0.5)
        self.meet(*LOADS, 'd')
        self.assertEqual({**WEIGHTS, 'd': 0.466667}, self.weigh(*LOADS, 'd'))
        self.assertEqual({'d': 0.8, 'a': 0.8}, self.weigh('d', 'a'))
        self.assertEqual({'d': 0.0, 'e': 0.0}, self.weigh('d', 'e'))
        self.assertIn('no value for d', self.log.output)

    def test_ironic(self):
        """W2: one host of many nodes, all of them neutral."""
        nodes = [
            state('ironic', used, kind='ironic', node=f'node{used}')
            for used in range(3)
        ]
        self.meet(*LOADS, *nodes)
        for _ in range(3):
            found = self.weigh(*LOADS, *nodes)
            self.turns.tick()
            for node in nodes:
                self.assertEqual(0.466667, found[node.nodename])
        self.assertEqual(0, self.told(WARNING))

    def test_a_dead_one(self):
        """W4: the others, of whom too few are left, go on without it."""
        self.fill()
        self.give({'a': 0.2, 'b': 0.5})
        self.weigh('a', 'b')
        self.refresh()
        self.assertEqual({'a': 0.0, 'b': 0.0}, self.weigh('a', 'b'))
        for _ in range(4):
            self.pass_by(cache.FORGET_SECONDS / 2)
            self.weigh('a', 'b')
        self.assertEqual({'a': 0.8, 'b': 0.5}, self.weigh('a', 'b'))
        self.assertEqual(1, self.told(WARNING))
        self.assertEqual(1, self.told(WELL))
        # When it is back, it is scored like a new one.
        self.give(LOADS)
        self.refresh()
        self.all_weigh({**WEIGHTS, 'c': 0.65})
        self.turns.tick()
        self.all_weigh(WEIGHTS)

    def test_none_is_dead_in_a_quiet_cloud(self):
        self.fill()
        self.give({'a': 0.2})
        self.pass_by(10 * cache.FORGET_SECONDS)
        self.give(LOADS)
        self.refresh()
        self.all_weigh(WEIGHTS)

    def test_aggregates_that_change(self):
        """W3: at the next tick, and new policies at the next refresh."""
        self.fill()
        off = [state('a', aggregates=[mode('off')]), *states('b', 'c')]
        self.assertEqual(WEIGHTS, self.weigh(*off))
        self.turns.tick()
        self.assertEqual({'a': 0.3, 'b': 0.5, 'c': 0.1}, self.weigh(*off))
        pack = [mode('pack')]
        full = [state('a', aggregates=pack), state('c', aggregates=pack)]
        self.weigh(*full)
        self.refresh()
        self.assertEqual({'a': 0.2, 'c': 0.0}, self.weigh(*full))
        self.weigh(*LOADS)
        self.turns.tick()
        self.all_weigh(WEIGHTS)
        self.assertEqual(0, self.told(WARNING))

    def test_modes_that_do_not_fit(self):
        """W3: neutral, and told."""
        both = state('a', aggregates=[mode('pack'), mode('spread')])
        self.meet(both, 'b', 'c')
        self.assertEqual(0.3, self.weigh(both, 'b', 'c')['a'])
        self.assertIn(
            'a: neutral, since kronos_mode of their', self.log.output
        )
        self.assertEqual(1, self.told(WARNING))

    def test_hosts_that_come_while_it_looks(self):
        """W5: requests go on meanwhile."""
        outer = self

        class Meddler(dict):
            def get(self, key, *default):
                outer.weigh(f'new{random.random()}')
                return super().get(key, *default)

        meddling = aggregate('x')
        meddling.metadata = Meddler()
        self.meet(state('a', aggregates=[meddling]), 'b', 'c')
        self.assertEqual(['cpu'], self.prometheus.asked)
        self.assertNotIn('RuntimeError', self.log.output)

    def test_pack(self):
        """W2: to the ceiling, which what is placed may reach."""
        self.write('policies.yaml', policy(mode='pack'))
        loads = {'a': 0.7, 'b': 0.1, 'c': 0.0, 'd': 0.85}
        self.give(loads)
        self.give(loads, 'cpu_in_use')
        hosts = states(*loads, used=8)
        self.meet(*hosts)
        found = self.weigh(*hosts)
        self.assertEqual(list('abcd'), sorted(found, key=lambda h: -found[h]))
        self.assertEqual(0.0, found['d'])
        self.assertEqual(0.0, self.weigh(state('a', 12), *hosts[1:])['a'])


class TestPlaced(CacheTestCase):
    """W2: no herd between two looks at Prometheus."""

    def begin(self):
        """Hosts a and b of 16 vCPUs, all in use, half of them busy."""
        self.set(refresh_seconds=10.0, settling_seconds=100.0)
        self.give({'a': 0.25, 'b': 0.75, 'new': 0.0})
        self.meet(*states('a', 'b', used=16))
        self.is_as_with(0, 16)

    def used(self, a):
        """The weight of a with so many vCPUs in use."""
        return self.weigh(state('a', a), state('b', 16))['a']

    def is_as_with(self, more, used, rate=0.5 / 16):
        self.assertAlmostEqual(0.75 - more * rate, self.used(used), places=5)

    def test_within_one_request(self):
        self.begin()
        for more in range(8):
            self.is_as_with(more, 16 + more)

    def test_20_at_once(self):
        """As Nova does it: choose, consume, weigh again."""
        self.give(dict.fromkeys('abcd', 0.2))
        hosts = states(*'abcd', used=8)
        self.meet(*hosts)
        for _ in range(20):
            weights = self.cache.weigh(hosts)
            best = max(range(4), key=lambda n: weights[n])
            hosts[best].vcpus_used += 2
        self.assertEqual([18] * 4, [one.vcpus_used for one in hosts])

    def test_across_refreshes(self):
        """And less and less of it over settling_seconds."""
        self.begin()
        self.used(20)
        self.refresh()
        noted, seen = self.turns.now, []
        while self.turns.now < noted + 120.0:
            left = 4 * max(0.0, 1 - (self.turns.now - noted) / 100)
            # The samples are those of all the others.
            self.is_as_with(left, 20, rate=1 / (36 - left))
            seen.append(self.used(20))
            self.refresh()
        self.assertEqual(sorted(seen), seen)
        self.assertGreater(len(set(seen)), 5)
        self.assertEqual(0.75, seen[-1])

    def test_across_refreshes_that_fail(self):
        self.begin()
        self.used(20)
        self.prometheus.fault = (503, '')
        for _ in range(5):
            self.refresh()
            self.is_as_with(4, 20)

    def test_a_new_host_meanwhile(self):
        """Its board comes from the same look, and loses nothing."""
        self.begin()
        self.used(20)
        self.weigh('new')
        self.turns.tick()
        self.is_as_with(4, 20)
        self.is_as_with(6, 22)

    def test_after_a_quiet_hour(self):
        """The first burst is remembered like any other."""
        self.begin()
        self.pass_by(3600.0)
        self.is_as_with(0, 16)
        self.is_as_with(8, 24)
        self.refresh()
        self.is_as_with(8, 24)

    def test_servers_that_leave(self):
        self.begin()
        self.is_as_with(-4, 12)
        self.refresh()
        self.is_as_with(-4, 12)

    def test_requests_at_the_same_time(self):
        """Each is answered by what it sees itself."""
        self.begin()
        for _ in range(3):
            self.is_as_with(4, 20)
            self.is_as_with(0, 16)
        self.refresh()
        self.is_as_with(0, 16)

    def test_steps(self):
        """W2: what is about alike is alike."""
        self.set(score_step=0.01)
        self.give({'a': 0.5004, 'b': 0.4998, 'c': 0.51})
        self.meet(*LOADS)
        self.all_weigh({'a': 0.5, 'b': 0.5, 'c': 0.49})


class TestFaults(CacheTestCase):
    def test_prometheus_away_or_another_server(self):
        """W4: last good scores, then neutral; told once; then well again."""
        self.set('kronos_prometheus', bearer_token=SECRET)
        self.fill()
        faults = (
            (503, SECRET),
            (200, f'<html>{SECRET}</html>'),
            (200, ''),
            (200, '[]'),
            (200, '{"status": "success", "data": {"resultType": "vector"}}'),
            (400, '{"status": "error", "error": "parse error"}'),
            (404, SECRET),
            requests.ConnectionError(SECRET),
            requests.ConnectTimeout(),
            requests.ReadTimeout(),
            requests.exceptions.ChunkedEncodingError(),
            RecursionError(),
            MemoryError(),
        )
        for nth, fault in enumerate(faults):
            self.prometheus.fault = fault
            self.refresh()
            self.all_weigh(WEIGHTS)
            self.assertEqual((nth + 1, nth), self.pairs(), fault)
            self.pass_by(300.0)
            self.all_weigh(NEUTRAL)
            self.prometheus.fault = None
            self.refresh()
            self.all_weigh(WEIGHTS)
            self.assertEqual((nth + 1, nth + 1), self.pairs(), fault)
        self.assertNotIn(SECRET, self.log.output)

    def pairs(self):
        return self.told(WARNING), self.told(WELL)

    def test_from_the_start(self):
        """W4: and it says that there are no scores yet."""
        self.prometheus.fault = requests.ConnectionError()
        self.meet(*LOADS)
        self.all_weigh(NEUTRAL)
        self.assertIn('its scores are not there yet', self.log.output)
        self.prometheus.fault = None
        self.refresh()
        self.all_weigh(WEIGHTS)

    def test_numbers_that_are_none(self):
        """W4, B4, L8: neutral at once, since that is known to be wrong."""
        self.fill()
        for values, told in (
            (dict.fromkeys('abc', 'NaN'), '0 of 3'),
            ({**LOADS, 'a': '+Inf', 'b': '-Inf'}, '1 of 3'),
            ({**LOADS, 'a': 1e308}, 'a is at 1e+308'),
            ({**LOADS, 'a': -0.5}, 'a is at -0.5'),
            ([*LOADS.items(), ('a', 0.3)], 'two series for host a'),
            ({}, '0 of 3'),
        ):
            self.give(values)
            self.refresh()
            self.all_weigh(NEUTRAL)
            self.assertIn(told, self.log.output)
            self.give(LOADS)
            self.refresh()
            self.all_weigh(WEIGHTS)
            self.pass_by(cache.NEW_SECONDS)

    def test_one_host_without_a_number(self):
        """W4: the others are judged."""
        self.set(min_host_coverage=0.6)
        self.give({**LOADS, 'b': 'NaN'})
        self.meet(*LOADS)
        self.all_weigh({'a': 0.8, 'b': 0.45, 'c': 0.1})

    def test_old_samples(self):
        """W4, L5."""
        self.fill()
        self.prometheus.age = 301.0
        self.refresh()
        self.all_weigh(NEUTRAL)
        self.assertIn('staleness_threshold is 300 s', self.log.output)

    def test_as_old_as_the_question(self):
        """W4: an answer that takes long is of when it was asked for."""
        self.prometheus.before = lambda: self.turns.sleep_through(200.0)
        self.fill()
        self.turns.now += 99.0
        self.all_weigh(WEIGHTS)
        self.turns.now += 2.0
        self.all_weigh(NEUTRAL)

    def test_the_policies_file(self):
        """W4: what it said last is kept as well."""
        self.fill()
        path = self.folder / 'policies.yaml'
        good = path.read_text()
        for bad in ('policies: 5', '[', ''):
            path.write_text(bad)
            self.pass_by(60.0)
            self.all_weigh(WEIGHTS)
        path.unlink()
        self.pass_by(300.0)
        self.all_weigh(NEUTRAL)
        self.assertIn(str(path), self.log.output)
        path.write_text(good)
        self.pass_by(60.0)
        self.all_weigh(WEIGHTS)

    def test_an_option(self):
        """A15: refused by name; the file may be repaired meanwhile."""
        self.set(refresh_seconds=float('nan'))
        self.meet(*LOADS)
        self.all_weigh(NEUTRAL)
        self.assertIn('[kronos] refresh_seconds: nan is not', self.log.output)
        self.set(refresh_seconds=30.0)
        self.pass_by(60.0)
        self.all_weigh(WEIGHTS)


class TestWarnings(CacheTestCase):
    def test_what_lasts(self):
        """W4: once in ten minutes, with the age of the scores."""
        self.fill()
        self.prometheus.fault = (503, 'busy')
        self.pass_by(3600.0)
        self.assertIn(self.told(WARNING), (6, 7))
        self.assertRegex(self.log.output, r'are [56]\d\d s old, .*: busy')

    def test_what_comes_and_goes(self):
        """W4: once in a minute at most."""
        self.set(refresh_seconds=5.0)
        self.fill()
        for nth in range(400):
            self.prometheus.fault = None if nth % 2 else (503, 'busy')
            self.refresh()
        minutes = (self.turns.now - 1000.0) / 60.0
        self.assertLessEqual(self.told(WARNING), minutes + 1)
        self.assertGreater(self.told(WARNING), minutes / 3)
        self.assertLessEqual(self.told(WELL), self.told(WARNING))

    def test_a_new_host_does_not_make_it_well(self):
        self.fill()
        self.prometheus.fault = (503, 'busy')
        self.refresh()
        self.weigh('new')
        self.turns.tick()
        self.assertEqual((1, 0), (self.told(WARNING), self.told(WELL)))

    def test_requests_are_silent(self):
        """W4: however stale the scores are."""
        self.fill()
        self.turns.now += 1000.0
        before = self.log.output
        for _ in range(100):
            self.all_weigh(NEUTRAL)
        self.assertEqual(before, self.log.output)

    def test_a_weighing_that_failed(self):
        """W4: told by the thread, with its place, now and then."""
        self.fill()
        for _ in range(60):
            try:
                self.cache.weigh([None])
            except AttributeError as error:
                self.cache.note_fault(error)
            self.turns.tick()
        self.assertEqual(1, self.told('A weighing of Kronos failed'))
        self.assertIn('Traceback', self.log.output)
        self.assertEqual(0, self.told(WARNING))


class TestProcesses(CacheTestCase):
    def test_nothing_happens_before_the_first_weighing(self):
        """W5: workers fork after construction."""
        threads = threading.active_count()
        cache.Cache(self.source)
        self.assertEqual(threads, threading.active_count())
        self.assertEqual([], self.turns.works)
        self.assertEqual([], self.prometheus.asked)

    def test_64_first_weighings(self):
        """W5: one of them starts the thread."""
        gate = threading.Barrier(64)

        def work():
            gate.wait(PATIENCE_SECONDS)
            self.weigh(*LOADS)

        self.at_once(64, work)
        self.assertEqual(1, len(self.turns.works))

    def test_whole_snapshots(self):
        """W4: 64 weighings during refreshes see one of them each."""
        hosts = [f'h{n}' for n in range(50)]
        self.give(dict.fromkeys(hosts, 0.0))
        self.meet(*hosts)
        self.set(refresh_seconds=1.0)
        seen, is_over = set(), threading.Event()
        # The more often threads take turns, the more is seen in between.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)

        def work():
            while not is_over.is_set():
                seen.add(tuple(set(self.weigh(*hosts).values())))

        def refresh():
            for nth in range(1, 15):
                self.give(dict.fromkeys(hosts, nth / 50))
                self.refresh()
            is_over.set()

        self.at_once(64, work, refresh)
        self.assertEqual({1}, {len(one) for one in seen})
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
        for one in threads:
            one.start()
        try:
            if also:
                also()
        finally:
            for one in threads:
                one.join(PATIENCE_SECONDS)
        self.assertEqual([], errors)
        self.assertFalse(any(one.is_alive() for one in threads))

    def test_the_thread(self):
        """W5: a daemon, which does not keep nova-scheduler from ending."""
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
            [(one.name, one.daemon) for one in seen],
        )

    def test_no_thread_to_be_had(self):
        """W4: the next weighing tries again."""

        def refuse(work):
            raise RuntimeError("can't start new thread")

        self.cache = self.new_cache(spawn=refuse)
        for _ in range(2):
            self.assertRaises(RuntimeError, self.weigh, *LOADS)

    def test_after_a_fork(self):
        """W5: the child has a thread of its own, the parent keeps its."""
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
        """W4."""
        self.fill()
        self.refresh()
        self.assertEqual(1, self.told(f'asks {URL} 1 queries every 30 s'))
