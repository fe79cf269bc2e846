# SPDX-License-Identifier: Apache-2.0
"""Tests of the effects of plans as a document and as rows."""

import json
import unittest

from kronos.cmd.screen import effects
from kronos.engine.effect.measurement import (
    HostChange,
    PolicyEffect,
    Unmeasured,
)
from kronos.snapshots.past.effects import PlanEffect
from tests.unit.snapshots.past.test_past_plans import plan, row

HALF = PolicyEffect(
    'cpu', [HostChange('h1', -0.2, -0.1), HostChange('h2', 0.2, 0.1)], 0.05
)
STARTED = PlanEffect(plan(row()), [HALF], 55.0)
NOT_STARTED = PlanEffect(
    plan(row('CANCELLED'), state='SUPERSEDED'),
    [PolicyEffect('cpu', [HostChange('h1', 0.3, 0.3)])],
)
LOST = PlanEffect(
    plan(row()), [PolicyEffect('cpu', unmeasured=Unmeasured.FORMER_QUERY)]
)


class EffectsTest(unittest.TestCase):
    def test_the_ratio_is_of_started_plans(self):
        document = effects.document([NOT_STARTED, STARTED, LOST], ['cpu'])
        (scope,) = document['scopes']
        (policy,) = scope['policies']
        self.assertAlmostEqual((0.01 + 0.04) / (0.01 + 0.08), policy['ratio'])
        self.assertEqual((1, 1), (policy['plans'], policy['former_plans']))
        self.assertEqual(2, scope['plans'])
        self.assertEqual(policy['trust'], scope['trust'])

    def test_it_is_json(self):
        document = effects.document([STARTED, LOST], ['cpu'])
        self.assertEqual(document, json.loads(json.dumps(document)))

    def test_a_row_for_each_plan(self):
        document = effects.document([STARTED, NOT_STARTED, LOST], ['cpu'])
        rows = effects.rows(document)
        self.assertEqual(
            (
                'p1',
                '1970-01-01 00:01',
                'SUCCEEDED',
                'a',
                'cpu',
                '0.400',
                '0.200',
                '0.50',
                '40 s',
                '55 s',
                '',
            ),
            rows[1],
        )
        self.assertEqual(('1.00', '40 s', '-'), rows[2][7:10])
        self.assertEqual(effects.NEVER_STARTED, rows[2][-1])
        self.assertEqual(('-', '-', '-'), rows[3][5:8])
        self.assertIn(Unmeasured.FORMER_QUERY.text, rows[3][-1])

    def test_a_row_for_each_host_of_one_plan(self):
        rows = effects.rows(effects.document([STARTED], ['cpu']), True)
        self.assertEqual(('a', 'cpu', 'h1', '-0.200', '-0.100', ''), rows[1])
        self.assertEqual('h2', rows[2][2])
        rows = effects.rows(effects.document([LOST], ['cpu']), True)
        self.assertEqual('-', rows[1][2])

    def test_a_sentence_for_each_scope(self):
        document = effects.document([STARTED], ['cpu'])
        self.assertEqual(
            'Scope a: cpu 0.56 of the predicted change (1 measured plan, '
            'trust 0.56)',
            effects.sentences(document)[0],
        )

    def test_no_plan(self):
        document = effects.document([], ['cpu'])
        self.assertEqual([], effects.rows(document))
        self.assertIn('no action plan', effects.sentences(document)[0])
