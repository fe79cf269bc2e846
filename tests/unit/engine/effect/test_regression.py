# SPDX-License-Identifier: Apache-2.0
"""Tests of the ratio, and of how much noise it bears."""

import random
import re
import unittest

from kronos.engine.effect import measurement, regression
from kronos.engine.effect.measurement import (
    HostChange,
    PastMove,
    PolicyEffect,
    Unmeasured,
)
from kronos.engine.types import EffectRatio, Shares
from tests import dashboards

HOSTS = [f'h{number:02}' for number in range(20)]


def plan(chance, truth, noise):
    """A plan of six moves in a scope of twenty hosts that drifts."""
    before = {host: 0.5 for host in HOSTS}
    drift = chance.uniform(-0.05, 0.05)
    after = {
        host: value + drift + chance.gauss(0.0, noise)
        for host, value in before.items()
    }
    moves = []
    ends = chance.sample(HOSTS, 12)
    for source, destination in zip(ends[:6], ends[6:], strict=True):
        share = chance.uniform(0.03, 0.12)
        shares = {'cpu': Shares(share, share)}
        moves.append(PastMove('server', source, destination, shares, True))
        after[source] -= truth * share
        after[destination] += truth * share
    return measurement.measure('cpu', moves, before, after)


def spread_of(truth, noise, number=3, runs=400):
    """The 5 %, 50 % and 95 % quantiles of the ratio over many scopes."""
    chance = random.Random(f'{truth} {noise} {number}')
    ratios = sorted(
        regression.ratio(
            'cpu', [plan(chance, truth, noise) for _ in range(number)]
        ).ratio
        for _ in range(runs)
    )
    return [ratios[int(runs * part)] for part in (0.05, 0.5, 0.95)]


def effect(predicted, realised):
    return PolicyEffect('cpu', [HostChange('h1', predicted, realised)])


class FiguresTest(unittest.TestCase):
    """Three plans tell a ratio of 0.5 from 1."""

    def assert_within(self, expected, truth, noise, number=3):
        figures = spread_of(truth, noise, number)
        for figure, limit in zip(figures, expected, strict=True):
            self.assertAlmostEqual(limit, figure, delta=0.06)

    def test_half_of_what_was_promised(self):
        self.assert_within([0.46, 0.52, 0.59], 0.5, 0.02)

    def test_half_and_much_noise(self):
        self.assert_within([0.36, 0.53, 0.70], 0.5, 0.05)

    def test_what_was_promised(self):
        self.assert_within([0.94, 1.00, 1.07], 1.0, 0.02)

    def test_what_was_promised_and_much_noise(self):
        self.assert_within([0.85, 1.01, 1.17], 1.0, 0.05)

    def test_twice_what_was_promised(self):
        self.assert_within([1.89, 1.96, 2.02], 2.0, 0.02)

    def test_nothing_of_it(self):
        self.assert_within([-0.02, 0.05, 0.12], 0.0, 0.02)

    def test_one_plan_alone(self):
        self.assert_within([0.74, 1.02, 1.30], 1.0, 0.05, number=1)

    def test_noise_alone_is_no_lack_of_trust(self):
        chance = random.Random('a hundred audits of noise')
        plans = []
        for _ in range(100):
            plans.insert(0, plan(chance, 1.0, 0.05))
            ratio = regression.ratio('cpu', plans[:10])
            self.assertGreaterEqual(ratio.trust, regression.TRUSTED)


class AlertTest(unittest.TestCase):
    """Ratios beside the limits of the alert KronosMovesWithoutEffect."""

    def setUp(self):
        super().setUp()
        rule = next(
            rule
            for rule in dashboards.alerts()
            if rule['alert'] == 'KronosMovesWithoutEffect'
        )
        query = rule['expr']
        self.ratio = float(re.search(r'_ratio\) < ([\d.]+)', query)[1])
        self.plans = int(re.search(r'_plans\) >= (\d+)', query)[1])

    def fires(self, truth, noise, audits, seed):
        """Whether it fires in one of the audits, each with a new plan."""
        chance = random.Random(f'{truth} {noise} {seed}')
        plans = []
        for _ in range(audits):
            plans.insert(0, plan(chance, truth, noise))
            result = regression.ratio('cpu', plans[:10])
            if result.plans >= self.plans and result.ratio < self.ratio:
                return True
        return False

    def number(self, truth, noise, audits, scopes):
        return sum(
            self.fires(truth, noise, audits, seed) for seed in range(scopes)
        )

    def test_profile_says_twice_the_truth(self):
        """It fires with the second audit, but for much noise of the hosts."""
        self.assertEqual(100, self.number(0.5, 0.02, 2, 100))
        self.assertGreater(self.number(0.5, 0.03, 2, 100), 95)
        self.assertGreater(self.number(0.5, 0.05, 2, 100), 90)

    def test_moves_have_no_effect(self):
        self.assertEqual(100, self.number(0.0, 0.05, 2, 100))

    def test_not_with_the_first_plan(self):
        self.assertEqual(0, self.number(0.0, 0.05, 1, 10))

    def test_never_by_noise(self):
        """In a hundred audits of each scope."""
        for noise in (0.03, 0.05):
            self.assertEqual(0, self.number(1.0, noise, 100, 20))


class RatioTest(unittest.TestCase):
    def test_without_a_plan_it_is_one(self):
        ratio = regression.ratio('cpu', [])
        self.assertEqual(
            (1.0, 1.0, 0), (ratio.ratio, ratio.trust, ratio.plans)
        )

    def test_newer_plans_weigh_more(self):
        kept, broken = effect(0.5, 0.5), effect(0.5, 0.0)
        self.assertGreater(
            regression.ratio('cpu', [kept, broken]).ratio,
            regression.ratio('cpu', [broken, kept]).ratio,
        )

    def test_too_much_is_not_trusted_either(self):
        self.assertAlmostEqual(
            0.0, regression.ratio('cpu', [effect(5.0, 15.0)]).trust, delta=0.01
        )

    def test_plans_of_a_former_query_are_on_record(self):
        former = PolicyEffect('cpu', unmeasured=Unmeasured.FORMER_QUERY)
        ratio = regression.ratio('cpu', [effect(0.1, 0.1), former, former])
        self.assertEqual((1, 2), (ratio.plans, ratio.former))
        self.assertEqual(3, regression.plans([ratio]))

    def test_what_is_not_measurable_otherwise_is_not(self):
        lost = PolicyEffect('cpu', unmeasured=Unmeasured.NO_SAMPLES)
        ratio = regression.ratio('cpu', [lost])
        self.assertEqual((1.0, 0), (ratio.ratio, regression.plans([ratio])))

    def test_a_scope_is_trusted_as_its_worst_policy(self):
        ratios = [
            EffectRatio('cpu', 0.9),
            EffectRatio('memory', 0.4),
        ]
        self.assertAlmostEqual(0.4, regression.trust(ratios))
        self.assertEqual(1.0, regression.trust([]))
