# SPDX-License-Identifier: Apache-2.0
"""Is the outcome told shortly, wholly and without secrets (N12, F2)?"""

from oslotest import base

from kronos.engine import types
from kronos.strategies import messages


def step(number=1, **fields):
    return types.MigrationStep(
        **{
            'scope': 'alpha',
            'phase': types.MigrationPhase.SPREAD,
            'instance': f'uuid-{number}',
            'instance_name': f'vm{number}',
            'source': 'h1',
            'destination': 'h2',
            'memory_mb': 1024,
            'imbalance_before': {'cpu': 0.6, 'memory': 0.5},
            'imbalance_after': {'cpu': 0.4, 'memory': 0.3},
            'combined_before': 0.55,
            'combined_after': 0.35,
            **fields,
        }
    )


def scope(name='alpha', stopped=types.StopReason.BALANCED, **fields):
    return types.AggregateResult(
        name=name, stopped=stopped, reason=f'{name} is as it is', **fields
    )


class SummaryTestCase(base.BaseTestCase):
    def summary(self, *scopes):
        return messages.summary(types.CycleReport(list(scopes)))

    def test_nothing_to_do(self):
        self.assertEqual('alpha: alpha is as it is', self.summary(scope()))

    def test_a_plan(self):
        told = self.summary(
            scope(
                stopped=types.StopReason.BUDGET,
                steps=[step(1), step(2)],
                combined_before=0.62,
                combined_after=0.11,
            )
        )
        self.assertEqual(
            'alpha: 2 migrations, combined imbalance 0.62 -> 0.11 (budget)',
            told,
        )

    def test_one_migration(self):
        self.assertIn('1 migration,', self.summary(scope(steps=[step()])))

    def test_what_could_not_be_judged_comes_first(self):
        told = self.summary(
            scope('a'),
            scope('b', types.StopReason.NO_POLICY),
            scope('c', types.StopReason.NO_SERVICES),
        )
        self.assertEqual(['b', 'c', 'a'], [x[0] for x in told.split('; ')])


class BlindTestCase(base.BaseTestCase):
    def blind(self, *stopped):
        return messages.is_blind(
            types.CycleReport([scope(stopped=one) for one in stopped])
        )

    def test_only_if_no_scope_could_be_judged(self):
        stop = types.StopReason
        self.assertTrue(self.blind(stop.NO_POLICY, stop.NO_SERVICES))
        self.assertFalse(self.blind(stop.NO_POLICY, stop.BALANCED))
        self.assertFalse(self.blind(stop.COOLDOWN))
        self.assertFalse(self.blind())


class ReportTestCase(base.BaseTestCase):
    def test_everything_is_told_in_the_order_of_the_stages(self):
        told = messages.report_lines(
            types.CycleReport(
                [
                    scope(
                        stopped=types.StopReason.STUCK,
                        policies=[
                            types.PolicyResult('cpu', 1.0, 0.15),
                            types.PolicyResult(
                                'net', 0.0, 0.2, skipped='policy net: away'
                            ),
                        ],
                        steps=[step()],
                        availability_zones={'h1': 'az1', 'h2': 'az2'},
                        unavailable_hosts={'h3': 'down'},
                        unmovable={f'u{n:02}': 'locked' for n in range(12)},
                        warnings=['mind this'],
                    )
                ]
            )
        )
        words = [
            '2 hosts, availability zones: az1 (1), az2 (1)',
            'policy cpu: healthy',
            'skipped: policy net: away',
            '1 x unavailable host (down): h3',
            '12 x unmovable instance (locked): u00, u01',
            'warning: mind this',
            'phase spread: 1 migrations',
            'h1 [az1] -> h2 [az2], 1024 MiB: cpu 0.600 -> 0.400, memory',
            'stopped (stuck): alpha is as it is',
        ]
        self.assertEqual(len(words), len(told))
        for word, line in zip(words, told, strict=True):
            self.assertTrue(line.startswith('scope alpha: '))
            self.assertIn(word, line)
        self.assertNotIn('u11', told[4])
