# SPDX-License-Identifier: Apache-2.0
"""Is what was placed reckoned with until samples show it?"""

from tests.builders.caches import (
    LOADS,
    CacheTestCase,
    policy,
    state,
    states,
)


class TestPlaced(CacheTestCase):
    """No herd between two looks at Prometheus."""

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
        self.assertEqual([18] * 4, [host.vcpus_used for host in hosts])

    def test_across_refreshes(self):
        """And less and less of it over settling_seconds."""
        self.begin()
        self.used(20)
        self.refresh()
        noted, seen = self.turns.now, []
        while self.turns.now < noted + 120.0:
            remaining = 4 * max(0.0, 1 - (self.turns.now - noted) / 100)
            # The samples are those of all the others.
            self.is_as_with(remaining, 20, rate=1 / (36 - remaining))
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
        """Its scores come from the same look, and loses nothing."""
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
        """What is about alike is alike."""
        self.set(score_step=0.01)
        self.give({'a': 0.5004, 'b': 0.4998, 'c': 0.51})
        self.meet(*LOADS)
        self.all_weigh({'a': 0.5, 'b': 0.5, 'c': 0.49})


class TestCeilings(CacheTestCase):
    """Nothing is lifted above a ceiling where hosts are filled."""

    def test_by_the_new_server_itself(self):
        rows = [policy('cpu', 1.0, 'pack', capacity_threshold=0.8)]
        self.set(policies_file=self.write('pack.yaml', *rows))
        loads = {'a': 0.75, 'b': 0.5}
        self.give(loads, 'cpu')
        self.give(loads, 'cpu_in_use')
        hosts = states('a', 'b', used=16)
        self.meet(*hosts)
        # A vCPU takes 0.625 of one of 16: 0.04 of a host.
        for vcpus, best in ((0, 'a'), (1, 'a'), (2, 'b'), (4, 'b')):
            weights = dict(
                zip('ab', self.cache.weigh(hosts, vcpus), strict=True)
            )
            self.assertEqual(best, max(weights, key=weights.get), vcpus)
            self.assertAlmostEqual(0.5, weights['b'])
