# SPDX-License-Identifier: Apache-2.0
"""Tests of the effect of the plans of a scope."""

import unittest

from kronos.engine.effect.measurement import (
    HostChange,
    PolicyEffect,
    Unmeasured,
)
from kronos.snapshots.past import scope_effects
from kronos.snapshots.past.effects import PlanEffect
from tests.unit.snapshots.past.test_past_plans import plan, row


def effect(realised=0.1, policy='cpu'):
    changes = [
        HostChange('h1', -0.2, -realised),
        HostChange('h2', 0.2, realised),
    ]
    return PolicyEffect(policy, changes)


def started(*effects, **more):
    return PlanEffect(plan(row(**more)), list(effects), 55.0)


def not_started(*effects):
    rows = row('CANCELLED'), row('CANCELLED')
    return PlanEffect(plan(*rows, state='SUPERSEDED'), list(effects))


LOST = started(PolicyEffect('cpu', unmeasured=Unmeasured.FORMER_QUERY))


def of_scope(*plans, policies=('cpu',)):
    (result,) = scope_effects.by_scope(plans, policies).values()
    return result


class ScopeEffectsTest(unittest.TestCase):
    def test_each_scope_has_its_plans(self):
        mine, other = started(effect()), started(effect(), aggregate='b')
        scopes = scope_effects.by_scope([mine, other, LOST], ['cpu'])
        self.assertEqual(['a', 'b'], sorted(scopes))
        self.assertEqual([mine, LOST], scopes['a'].plans)

    def test_the_ratio_is_of_started_plans(self):
        scope = of_scope(not_started(effect(0.0)), started(effect()), LOST)
        (ratio,) = scope.ratios
        self.assertAlmostEqual((0.01 + 0.04) / (0.01 + 0.08), ratio.ratio)
        self.assertEqual((1, 1), (ratio.plans, ratio.former))

    def test_nothing_is_said_of_plans_that_keep_their_promise(self):
        self.assertEqual('', of_scope(started(effect(0.19))).distrust)
        self.assertEqual('', of_scope(LOST).distrust)

    def test_distrust_names_the_policy_and_its_numbers(self):
        plans = started(effect(0.02), effect(0.2, 'mem'))
        scope = of_scope(plans, plans, policies=('mem', 'cpu'))
        self.assertEqual(
            '2 plans changed cpu by 0.16 of what they promised (trust 0.16)',
            scope.distrust,
        )
        self.assertLess(scope.trust, 0.5)
        scope = of_scope(plans, policies=('mem', 'cpu'))
        self.assertIn('1 plan changed cpu by ', scope.distrust)
        self.assertIn(' of what it promised (trust ', scope.distrust)
