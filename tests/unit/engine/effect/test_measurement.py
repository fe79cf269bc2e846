# SPDX-License-Identifier: Apache-2.0
"""Tests of the effect of one plan."""

import unittest

from kronos.engine.effect import measurement
from kronos.engine.effect.measurement import PastMove, Unmeasured
from kronos.engine.types import Shares

CALM = {'h3': 0.5, 'h4': 0.5, 'h5': 0.5}


def move(source='h1', destination='h2', leaving=0.2, arriving=0.1):
    shares = {'cpu': Shares(leaving, arriving)}
    return PastMove('server', source, destination, shares, True)


def measure(before, after, moves=None, disturbed=()):
    moves = [move()] if moves is None else moves
    return measurement.measure('cpu', moves, before, after, disturbed)


class MeasurementTest(unittest.TestCase):
    def test_a_plan_that_keeps_its_promise(self):
        effect = measure(
            {'h1': 0.8, 'h2': 0.3} | CALM, {'h1': 0.6, 'h2': 0.4} | CALM
        )
        self.assertAlmostEqual(1.0, effect.ratio)
        self.assertAlmostEqual(0.3, effect.predicted)
        self.assertAlmostEqual(0.3, effect.realised)

    def test_the_common_drift_does_not_count(self):
        before = {'h1': 0.8, 'h2': 0.3} | CALM
        after = {'h1': 0.7, 'h2': 0.5, 'h3': 0.6, 'h4': 0.6, 'h5': 0.9}
        effect = measure(before, after)
        self.assertAlmostEqual(0.1, effect.drift)
        self.assertAlmostEqual(1.0, effect.ratio)

    def test_two_untouched_hosts_tell_no_drift(self):
        before = {'h1': 0.8, 'h2': 0.3, 'h3': 0.5, 'h4': 0.5}
        after = {'h1': 0.6, 'h2': 0.4, 'h3': 0.9, 'h4': 0.9}
        effect = measure(before, after)
        self.assertEqual(0.0, effect.drift)
        self.assertAlmostEqual(1.0, effect.ratio)

    def test_disturbed_hosts_do_not_count(self):
        before = {'h1': 0.8, 'h2': 0.3} | CALM
        after = {'h1': 0.7, 'h2': 0.9} | CALM
        effect = measure(before, after, disturbed={'h2'})
        self.assertEqual(['h1'], [change.host for change in effect.changes])
        self.assertAlmostEqual(0.5, effect.ratio)

    def test_less_than_half_is_not_measurable(self):
        before = {'h1': 0.8, 'h2': 0.3} | CALM
        effect = measure(before, before, disturbed={'h1'})
        self.assertIs(Unmeasured.DISTURBED, effect.unmeasured)
        self.assertIsNone(effect.ratio)

    def test_disturbed_hosts_tell_no_drift(self):
        before = {'h1': 0.8, 'h2': 0.3} | CALM
        after = {'h1': 0.6, 'h2': 0.4} | dict.fromkeys(CALM, 0.9)
        self.assertEqual(0.0, measure(before, after, disturbed={'h3'}).drift)

    def test_hosts_without_samples(self):
        effect = measure({'h2': 0.3}, {'h1': 0.6, 'h2': 0.4})
        self.assertIs(Unmeasured.NO_SAMPLES, effect.unmeasured)

    def test_nothing_arrived(self):
        effect = measure(CALM, CALM, moves=[])
        self.assertIs(Unmeasured.NO_MOVES, effect.unmeasured)

    def test_nothing_was_predicted_for_the_policy(self):
        moves = [move(leaving=0.0, arriving=0.0)]
        effect = measure(CALM, CALM, moves=moves)
        self.assertIs(Unmeasured.NO_CHANGE, effect.unmeasured)

    def test_moves_that_pass_a_host_add_up(self):
        moves = [move('h1', 'h2', 0.2, 0.2), move('h2', 'h3', 0.1, 0.1)]
        changes = measurement.predicted(moves, 'cpu')
        self.assertAlmostEqual(0.1, changes['h2'])
