# SPDX-License-Identifier: Apache-2.0
"""What is a host worth to one more server?"""

import math
import random

from oslotest import base

from kronos.engine.scoring import host_weights, scorecard
from kronos.engine.scoring.host_weights import FULL, LEAST, HostWeight, Size
from kronos.engine.settings import Settings
from kronos.engine.types import PolicyReadings
from kronos.policies.models import Mode
from tests.builders import policies as build


def places(policies, scores, sizes=None, capacity=None, **settings):
    """By host.

    :param scores: policy to host to value
    :param sizes: host to (vCPUs, those in use)
    :param capacity: policy to host to capacity in use
    """
    snapshot = build.snapshot(scores)
    for name, values in (capacity or {}).items():
        snapshot.readings[name] = PolicyReadings(
            build.reading(scores[name]), capacity=build.reading(values)
        )
    card = scorecard.score(snapshot, policies, Settings(**settings))
    sizes = {host: Size(*one) for host, one in (sizes or {}).items()}
    return host_weights.places(card, policies, sizes)


def packing(name='cpu', weight=1.0, **fields):
    values = {'capacity_query': 'c', 'capacity_threshold': 0.8, **fields}
    return build.policy(name, weight, mode='pack', **values)


class TestSpread(base.BaseTestCase):
    def test_one_less_weighted_utilization(self):
        """Each policy has its say."""
        found = places(
            [build.policy('cpu', 0.75), build.policy('ram', 0.25)],
            {'cpu': {'a': 0.4, 'b': 0.0}, 'ram': {'a': 0.8, 'b': 1.0}},
        )
        self.assertAlmostEqual(0.5, found['a'].weight(Mode.SPREAD))
        self.assertAlmostEqual(0.75, found['b'].weight(Mode.SPREAD))

    def test_the_scale_is_absolute(self):
        """What is close stays close, whatever the others do."""
        scores = {'a': 0.50, 'b': 0.51}
        for more in ({}, {'c': 0.0, 'd': 1.0}):
            found = places([build.policy()], {'cpu': scores | more})
            apart = found['a'].weight(Mode.SPREAD) - found['b'].weight(
                Mode.SPREAD
            )
            self.assertAlmostEqual(0.01, apart)

    def test_the_order_is_the_scorecards(self):
        """Over many clusters."""
        dice = random.Random(5)
        for _ in range(50):
            hosts = [f'h{n}' for n in range(dice.randint(2, 30))]
            scores = {
                name: {host: dice.random() for host in hosts}
                for name in ('cpu', 'ram')
            }
            policies = [build.policy('cpu', 0.6), build.policy('ram', 0.4)]
            found = places(policies, scores)
            self.assertEqual(
                sorted(
                    hosts,
                    key=lambda h: (
                        0.6 * scores['cpu'][h] + 0.4 * scores['ram'][h]
                    ),
                ),
                sorted(hosts, key=lambda h: -found[h].weight(Mode.SPREAD)),
            )

    def test_what_is_placed_counts(self):
        """As much per vCPU as the scope shows, by size of the host."""
        found = places(
            [build.policy()],
            {'cpu': {'a': 0.5, 'b': 0.25}},
            # 8 + 8 of 48 vCPUs are busy, and 32 are in use.
            {'a': (16, 12), 'b': (32, 20)},
        )
        self.assertAlmostEqual(0.5 / 16, found['a'].rate)
        self.assertAlmostEqual(0.5 / 32, found['b'].rate)
        self.assertAlmostEqual(0.375, found['a'].weight(Mode.SPREAD, 4))
        self.assertAlmostEqual(0.5625, found['a'].weight(Mode.SPREAD, -2))
        for vcpus, weight in ((10**6, 0.0), (-(10**6), 1.0)):
            self.assertEqual(weight, found['a'].weight(Mode.SPREAD, vcpus))

    def test_sizes_that_are_not_known(self):
        found = places(
            [build.policy()],
            {'cpu': {'a': 0.5, 'b': 0.25, 'c': 0.25, 'd': 0.1}},
            {'a': (16, 8), 'b': (16, None), 'c': (0, 4)},
        )
        self.assertAlmostEqual(8 / 12 / 16, found['a'].rate)
        self.assertAlmostEqual(8 / 12 / 16, found['b'].rate)
        for host in 'cd':
            self.assertEqual(0.0, found[host].rate)
            self.assertEqual(math.inf, found[host].free_vcpus)

    def test_few_or_none_in_use(self):
        """A vCPU takes no more than a core, and may take that much."""
        for used in (0, 1, 2):
            found = places(
                [build.policy()],
                {'cpu': {'a': 0.5, 'b': 0.25}},
                {'a': (16, used), 'b': (8, used)},
            )
            self.assertAlmostEqual(1 / 16, found['a'].rate)
            self.assertAlmostEqual(1 / 8, found['b'].rate)

    def test_steps(self):
        """What is about alike is alike, and the ends stay ends."""
        for step in (0.01, 0.05, 0.3, 1.0):
            for load in (0.0, 0.123, 0.5, 0.999, 1.0):
                weight = HostWeight(load, 0.0, 1.0).weight(
                    Mode.SPREAD, 0, step
                )
                self.assertLessEqual(abs(1 - load - weight), step / 2 + 1e-9)
                self.assertTrue(0.0 <= weight <= 1.0)
        alike = {
            HostWeight(load, 0.0, 1.0).weight(Mode.SPREAD, 0, 0.01)
            for load in (0.4967, 0.5, 0.5049)
        }
        self.assertEqual({0.5}, alike)


class TestPack(base.BaseTestCase):
    def weights(self, scores, policies=None, capacity=None, step=0.0, **more):
        capacity = capacity or {'cpu': scores}
        found = places(
            policies or [packing()], {'cpu': scores}, capacity=capacity, **more
        )
        return {h: one.weight(Mode.PACK, 0, step) for h, one in found.items()}

    def test_fullest_below_the_ceiling_first(self):
        """And those above it last, after an empty one."""
        scores = {'a': 0.79, 'b': 0.3, 'c': 0.8, 'd': 0.95, 'e': 0.0}
        for step in (0.0, 0.01, 0.1):
            found = self.weights(scores, step=step)
            self.assertEqual(
                list('abe'),
                sorted('abe', key=lambda host: -found[host]),
            )
            self.assertEqual((FULL, FULL), (found['c'], found['d']))
            self.assertGreaterEqual(found['e'], step or LEAST)
            self.assertGreater(found['e'], FULL)

    def test_every_ceiling(self):
        """One that is reached is enough, whatever its weight."""
        scores = {
            'cpu': {'a': 0.7, 'b': 0.2},
            'ram': {'a': 0.85, 'b': 0.2},
        }
        found = places(
            [packing('cpu', 1.0), packing('ram', 0.0)],
            scores,
            capacity=scores,
        )
        self.assertEqual(FULL, found['a'].weight(Mode.PACK))
        self.assertAlmostEqual(0.2, found['b'].weight(Mode.PACK))

    def test_the_ceiling_is_of_capacity_query(self):
        """Not of what the hosts are ranked by."""
        found = self.weights(
            {'a': 0.1, 'b': 0.9}, capacity={'cpu': {'a': 0.9, 'b': 0.1}}
        )
        self.assertEqual(FULL, found['a'])
        self.assertAlmostEqual(0.9, found['b'])

    def test_a_host_without_capacity_is_not_judged(self):
        found = self.weights(
            {'a': 0.1, 'b': 0.9},
            capacity={'cpu': {'a': 0.1}},
            min_host_coverage=0.5,
        )
        self.assertEqual(['a'], list(found))

    def test_it_fills_up(self):
        """To the ceiling, by what a vCPU takes, and frees it again."""
        scores = {'a': 0.7, 'b': 0.3}
        found = places(
            [packing()],
            {'cpu': scores},
            {'a': (10, 20), 'b': (10, 20)},
            {'cpu': scores},
        )
        # 10 of 20 vCPUs are busy, and 40 in use: 0.025 of a host each.
        self.assertAlmostEqual(4.0, found['a'].free_vcpus)
        self.assertAlmostEqual(0.75, found['a'].weight(Mode.PACK, 2))
        self.assertEqual(FULL, found['a'].weight(Mode.PACK, 5))
        self.assertAlmostEqual(0.775, found['b'].weight(Mode.PACK, 19))

    def test_servers_that_leave_a_full_host(self):
        scores = {'a': 0.9, 'b': 0.1}
        found = places(
            [packing()],
            {'cpu': scores},
            {'a': (10, 20), 'b': (10, 20)},
            {'cpu': scores},
        )
        self.assertEqual(FULL, found['a'].weight(Mode.PACK, -3))
        self.assertAlmostEqual(0.775, found['a'].weight(Mode.PACK, -5))
        unknown = places([packing()], {'cpu': scores}, {}, {'cpu': scores})
        self.assertEqual(FULL, unknown['a'].weight(Mode.PACK, -5))


class TestWhatCannotBeJudged(base.BaseTestCase):
    def test_a_policy_that_cannot_be_used(self):
        """The others are scaled to 1."""
        found = places(
            [build.policy('cpu', 0.5), build.policy('ram', 0.5)],
            {'cpu': {'a': 0.4, 'b': 0.2}, 'ram': {'a': 37.0, 'b': 0.2}},
        )
        self.assertAlmostEqual(0.6, found['a'].weight(Mode.SPREAD))
        self.assertEqual(
            {},
            places(
                [build.policy('cpu', 0.5), build.policy('ram', 0.5)],
                {'cpu': {'a': 0.4, 'b': 0.2}, 'ram': {'a': 37.0, 'b': 0.2}},
                require_all_policies=True,
            ),
        )

    def test_no_policy_at_all(self):
        for values in ({'a': 1e308, 'b': 0.2}, {'a': math.nan}):
            self.assertEqual({}, places([build.policy()], {'cpu': values}))
        self.assertEqual({}, places([], {}))

    def test_a_host_without_a_sample(self):
        found = places(
            [build.policy()],
            {'cpu': {'a': 0.4, 'b': math.nan, 'c': 0.1}},
            min_host_coverage=0.5,
        )
        self.assertEqual(['a', 'c'], sorted(found))

    def test_one_host_is_enough(self):
        """It is weighed beside those of other scopes."""
        found = places([build.policy()], {'cpu': {'a': 0.4}})
        self.assertAlmostEqual(0.6, found['a'].weight(Mode.SPREAD))
