# SPDX-License-Identifier: Apache-2.0
"""Is everything in the log, at the level that it deserves?"""

from oslo_log import log as logging
from oslotest import base

from kronos.engine import types
from kronos.strategies.outcome import audit_log
from tests.unit.strategies.outcome.test_status_messages import step


def everything():
    return types.AggregateResult(
        name='alpha',
        stopped=types.StopReason.STUCK,
        reason='no legal migration',
        stages=[types.Stage('score', 2), types.Stage('spread', 1)],
        policies=[
            types.PolicyResult(
                'cpu',
                1.0,
                0.15,
                scores=[types.HostScore('h1', 0.75, 1.0)],
                missing_hosts=['h9'],
                unmatched_labels=['x1'],
                imbalance_before=0.6,
                imbalance_after=0.4,
            ),
            types.PolicyResult('net', 0.0, 0.2, skipped='policy net: away'),
        ],
        steps=[step(1), step(2)],
        availability_zones={'h1': 'az1', 'h2': 'az2'},
        unavailable_hosts={'h3': 'down'},
        unmovable={f'u{n:02}': 'locked' for n in range(12)},
        drains=[types.Drain('h4', 'off', 3, 2, {'u7': 'pinned'})],
        violations_before=['group a'],
        violations_after=['group b'],
        warnings=['mind this', 'and that'],
        hosts_in_use_before=3,
        hosts_in_use_after=2,
    )


class LinesTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        found = list(audit_log.lines(types.CycleReport([everything()])))
        self.told = {
            level: [text for at, text in found if at == level]
            for level in (logging.INFO, logging.WARNING, logging.DEBUG)
        }
        self.assertEqual(len(found), sum(map(len, self.told.values())))
        for _, text in found:
            self.assertTrue(text.startswith('scope alpha: '), text)

    def test_one_info_line_for_the_scope_and_one_per_step(self):
        scope, *steps = self.told[logging.INFO]
        for words in (
            '2 hosts, availability zones: az1 (1), az2 (1)',
            'stages: score 2, spread 1',
            'policy cpu: healthy, imbalance 0.600 -> 0.400',
            'skipped: policy net: away',
            'in use 3 -> 2',
            'stopped (stuck): no legal migration',
        ):
            self.assertIn(words, scope)
        self.assertEqual(2, len(steps))
        self.assertIn(
            'spread uuid-1 (vm1) h1 [az1] -> h2 [az2], 1.0 GiB: '
            'cpu 0.600 -> 0.400, memory 0.500 -> 0.300',
            steps[0],
        )

    def test_every_warning_is_one(self):
        self.assertEqual(
            [
                'scope alpha: net not judged (away)',
                'scope alpha: mind this',
                'scope alpha: and that',
            ],
            self.told[logging.WARNING],
        )

    def test_the_rest_is_for_who_looks(self):
        told = self.told[logging.DEBUG]
        for words in (
            'weight 1.000, scores: h1 0.750 (1.00); without a sample: h9; '
            'labels of no host of the scope: x1',
            '1 x unavailable host (down): h3',
            '12 x unmovable instance (locked): u00, u01',
            'broken before: group a',
            'broken after: group b',
            'host h4 is emptied (off): 2 of 3 leave; 1 x staying (pinned): u7',
        ):
            self.assertEqual(1, sum(words in line for line in told), words)
        self.assertFalse(any('u11' in line for line in told))
