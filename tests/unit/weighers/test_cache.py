# SPDX-License-Identifier: Apache-2.0
"""Is a weighing quick, and of fresh scores?"""

import random

from kronos.weighers import cache
from tests.builders.caches import (
    FIRST,
    LOADS,
    NEUTRAL,
    SAMPLES,
    WARNING,
    WEIGHTS,
    WELL,
    CacheTestCase,
    aggregate,
    mode,
    policy,
    state,
    states,
)


class TestScores(CacheTestCase):
    def test_nothing_is_known_at_first(self):
        """Neutral, and nobody waits."""
        self.all_weigh(NEUTRAL)
        self.assertEqual([], self.prometheus.queries)
        self.turns.start()
        self.all_weigh(WEIGHTS)
        self.assertEqual({}, self.weigh())

    def test_before_the_first_weighing(self):
        """It looks by itself, and the first server is weighed."""
        self.cache.begin()
        self.turns.start()
        self.turns.now += cache.START_SECONDS[1]
        self.refresh()
        self.assertEqual((1, 0), (self.logged(SAMPLES), self.logged(FIRST)))
        self.all_weigh(WEIGHTS)
        self.assertEqual(['cpu'], self.prometheus.queries)
        self.turns.tick()
        self.assertEqual((1, 1), (self.logged(SAMPLES), self.logged(FIRST)))
        self.assertEqual(1, len(self.turns.works))

    def test_a_weighing_while_it_waits_to_begin(self):
        """Then it looks at once."""
        self.cache.begin()
        self.turns.start()
        self.assertEqual([], self.prometheus.queries)
        self.all_weigh(NEUTRAL)
        self.turns.tick()
        self.assertEqual(['cpu'], self.prometheus.queries)
        self.all_weigh(WEIGHTS)

    def test_not_all_begin_at_once(self):
        """Many workers start together."""
        waits = []
        for seed in range(10):
            random.seed(seed)
            self.cache = self.new_cache()
            self.cache.begin()
            self.turns.start()
            waits.append(self.refresh())
            self.turns.stop()
        self.assertGreater(len({round(seconds, 1) for seconds in waits}), 5)
        low, high = cache.START_SECONDS
        self.assertLess(max(waits), high + cache.TICK)
        self.assertGreaterEqual(min(waits), low)

    def test_it_says_when_there_are_scores(self):
        """Once, and only then."""
        self.give({})
        self.meet(*LOADS)
        self.assertEqual(0, self.logged(FIRST))
        self.give(LOADS)
        self.refresh()
        self.assertEqual(1, self.logged(FIRST))
        self.refresh()
        self.assertEqual(1, self.logged(FIRST))

    def test_it_counts_the_hosts_that_have_one(self):
        self.set(min_host_coverage=0.0)
        self.give({'a': 0.1})
        self.meet(*LOADS)
        self.refresh()
        self.assertEqual(2, self.logged(f', for 1 of {len(LOADS)} hosts'))

    def test_none_has_one(self):
        """An option leaves no host with a score, and that is said."""
        self.set(hypervisor_types=['ironic'])
        self.cache.begin()
        self.turns.start()
        self.turns.now += cache.START_SECONDS[1]
        self.refresh()
        self.all_weigh(NEUTRAL)
        self.turns.tick()
        self.assertEqual(0, self.logged(FIRST))
        self.assertEqual(1, self.logged(WARNING))
        none = f'none of {len(LOADS)} hosts has a score: their hypervisor'
        self.assertEqual(1, self.logged(none))
        self.assertEqual(1, self.logged(f', for 0 of {len(LOADS)} hosts'))

    def test_every_mode_before_hosts_are_known(self):
        """Of which aggregates ask is not known yet."""
        path = self.write('pack.yaml', policy('ram', mode='pack'))
        self.set(pack_policies_file=path)
        self.cache.begin()
        self.turns.start()
        self.refresh()
        self.assertEqual(
            ['cpu', 'ram', 'ram_in_use'], sorted(self.prometheus.queries)
        )

    def test_refreshed(self):
        self.fill()
        self.give({'a': 0.9, 'b': 0.5, 'c': 0.2})
        self.all_weigh(WEIGHTS)
        self.refresh()
        self.all_weigh({'a': 0.1, 'b': 0.5, 'c': 0.8})

    def test_no_request_asks(self):
        """However many there are."""
        self.fill()
        for _ in range(1000):
            self.weigh(*LOADS)
        self.assertEqual(['cpu'], self.prometheus.queries)
        self.assertEqual(1, len(self.turns.works))

    def test_jitter(self):
        """Many schedulers do not ask together."""
        self.set(refresh_seconds=30.0)
        self.fill()
        self.refresh()
        gaps = [self.refresh() for _ in range(10)]
        self.assertLessEqual(26.9, min(gaps))
        self.assertGreaterEqual(33.1, max(gaps))
        self.assertGreater(len(set(gaps)), 5)

    def test_the_first_gap_is_any(self):
        """Processes that start together drift apart at once."""
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
        """Weighed at once, and nobody is asked."""
        self.give({**LOADS, 'd': 0.4})
        self.fill()
        for _ in range(2):
            result = self.weigh('a', 'd', 'c')
            self.assertEqual({'a': 0.8, 'd': 0.6, 'c': 0.1}, result)
            self.turns.tick()
        self.assertEqual(['cpu'], self.prometheus.queries)

    def test_many_new_ones_after_one(self):
        """The first request may be a migration to a named host."""
        self.give({**LOADS, 'd': 0.4})
        self.meet('c')
        self.all_weigh(WEIGHTS)
        self.assertEqual(0.6, self.weigh('d')['d'])
        self.assertEqual(['cpu'], self.prometheus.queries)

    def test_what_new_ones_change(self):
        """The load per vCPU of the others, at the next tick."""
        self.give({'a': 0.5, 'b': 0.1})
        self.meet(state('a', 8))
        self.weigh(state('b', 8))
        self.assertEqual(0.375, self.weigh(state('a', 10))['a'])
        self.turns.tick()
        # Two vCPUs that no sample shows, of 0.6 of a's 16 cores each.
        self.assertEqual(0.425, self.weigh(state('a', 10))['a'])

    def test_one_without_a_sample(self):
        """The mean of those that are weighed with it."""
        self.set(min_host_coverage=0.5)
        self.meet(*LOADS, 'd')
        self.assertEqual({**WEIGHTS, 'd': 0.466667}, self.weigh(*LOADS, 'd'))
        self.assertEqual({'d': 0.8, 'a': 0.8}, self.weigh('d', 'a'))
        self.assertEqual({'d': 0.0, 'e': 0.0}, self.weigh('d', 'e'))
        self.assertIn('no value for d', self.log.output)

    def test_ironic(self):
        """One host of many nodes, all of them neutral."""
        nodes = [
            state('ironic', used, kind='ironic', node=f'node{used}')
            for used in range(3)
        ]
        self.meet(*LOADS, *nodes)
        for _ in range(3):
            result = self.weigh(*LOADS, *nodes)
            self.turns.tick()
            for node in nodes:
                self.assertEqual(0.466667, result[node.nodename])
        self.assertEqual(0, self.logged(WARNING))

    def test_a_dead_one(self):
        """The others, of whom too few are left, go on without it."""
        self.fill()
        self.give({'a': 0.2, 'b': 0.5})
        self.weigh('a', 'b')
        self.refresh()
        self.assertEqual({'a': 0.0, 'b': 0.0}, self.weigh('a', 'b'))
        for _ in range(4):
            self.pass_by(cache.FORGET_SECONDS / 2)
            self.weigh('a', 'b')
        self.assertEqual({'a': 0.8, 'b': 0.5}, self.weigh('a', 'b'))
        self.assertEqual(1, self.logged(WARNING))
        self.assertEqual(1, self.logged(WELL))
        # When it is back, it is scored like a new one.
        self.give(LOADS)
        self.refresh()
        self.all_weigh(WEIGHTS)

    def test_none_is_dead_in_a_quiet_cloud(self):
        self.fill()
        self.give({'a': 0.2})
        self.pass_by(10 * cache.FORGET_SECONDS)
        self.give(LOADS)
        self.refresh()
        self.all_weigh(WEIGHTS)

    def test_aggregates_that_change(self):
        """At the next tick, and new policies at the next refresh."""
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
        self.assertEqual(0, self.logged(WARNING))

    def test_modes_that_do_not_fit(self):
        """Neutral, and told."""
        both = state('a', aggregates=[mode('pack'), mode('spread')])
        self.meet(both, 'b', 'c')
        self.assertEqual(0.3, self.weigh(both, 'b', 'c')['a'])
        self.assertIn(
            'a: neutral, because kronos_mode of their', self.log.output
        )
        self.assertEqual(1, self.logged(WARNING))

    def test_hosts_that_come_while_it_looks(self):
        """Requests go on meanwhile."""
        outer = self

        class Meddler(dict):
            def get(self, key, *default):
                outer.weigh(f'new{random.random()}')
                return super().get(key, *default)

        meddling = aggregate('x')
        meddling.metadata = Meddler()
        self.meet(state('a', aggregates=[meddling]), 'b', 'c')
        self.assertEqual(['cpu'], self.prometheus.queries)
        self.assertNotIn('RuntimeError', self.log.output)

    def test_pack(self):
        """To the ceiling, which what is placed may reach."""
        self.write('policies.yaml', policy(mode='pack'))
        loads = {'a': 0.7, 'b': 0.1, 'c': 0.0, 'd': 0.85}
        self.give(loads)
        self.give(loads, 'cpu_in_use')
        hosts = states(*loads, used=8)
        self.meet(*hosts)
        result = self.weigh(*hosts)
        self.assertEqual(
            list('abcd'), sorted(result, key=lambda h: -result[h])
        )
        self.assertEqual(0.0, result['d'])
        self.assertEqual(0.0, self.weigh(state('a', 12), *hosts[1:])['a'])
