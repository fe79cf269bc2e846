# SPDX-License-Identifier: Apache-2.0
"""Tests of the effects of plans as rows of a document."""

import unittest

from kronos.reports import effects
from tests.unit.snapshots.past.test_scope_effects import (
    LOST,
    effect,
    of_scope,
    started,
)


class EffectsTest(unittest.TestCase):
    def test_a_scope(self):
        row = effects.row(of_scope(started(effect()), LOST))
        (policy,) = row['policies']
        self.assertEqual(('cpu', 1), (policy['name'], policy['plans']))
        self.assertEqual(row['trust'], policy['trust'])
        measured, lost = (plan['policies'][0] for plan in row['plans'])
        self.assertAlmostEqual(0.4, measured['predicted'])
        self.assertAlmostEqual(0.2, measured['realised'])
        self.assertIsNone(lost['predicted'])
        self.assertEqual('effect_former_query', lost['unmeasured_code'])
        self.assertIn('queries of the policy', lost['unmeasured'])

    def test_no_scope(self):
        self.assertIsNone(effects.row(None))

    def test_hosts_only_where_they_are_wanted(self):
        plan = started(effect())
        self.assertNotIn('hosts', effects.plan(plan)['policies'][0])
        (policy,) = effects.plan(plan, by_host=True)['policies']
        self.assertEqual(
            ['h1', 'h2'], [host['host'] for host in policy['hosts']]
        )
