# SPDX-License-Identifier: Apache-2.0
"""Is the contract of the goals as frozen as it must be?"""

import json

import testscenarios
from oslotest import base
from watcher.decision_engine.solution import efficacy

from kronos.engine import types
from kronos.strategies import goals
from tests.unit.reports.test_certificates import certificate
from tests.unit.strategies.outcome.test_status_messages import scope, step

FROZEN = [
    'combined_imbalance_before',
    'combined_imbalance_after',
    'migrations',
    'hosts_over_threshold_before',
    'hosts_over_threshold_after',
]


class BalanceTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.goal = goals.Balance(config=None)
        self.efficacy = efficacy.Efficacy(self.goal, strategy=None)

    def test_names(self):
        self.assertEqual('kronos_balance', goals.Balance.get_name())
        self.assertEqual(
            'Kronos: even hosts', goals.Balance.get_translatable_display_name()
        )
        spec = self.goal.efficacy_specification
        self.assertEqual(FROZEN, [s.name for s in spec.indicators_specs])

    def test_specification_survives_the_database(self):
        spec = self.goal.efficacy_specification
        stored = json.loads(spec.serialize_indicators_specs())
        self.assertEqual(stored, spec.get_indicators_specs_dicts())

    def test_indicators_are_numbers(self):
        self.efficacy.set_efficacy_indicators(
            combined_imbalance_before=0.5,
            combined_imbalance_after=0.1,
            migrations=3,
            hosts_over_threshold_before=2,
            hosts_over_threshold_after=0,
        )
        self.efficacy.compute_global_efficacy()
        self.assertEqual(
            [0.5, 0.1, 3, 2, 0], [i.value for i in self.efficacy.indicators]
        )
        self.assertEqual(80.0, self.efficacy.global_efficacy[0].value)

    def test_without_indicators(self):
        self.efficacy.compute_global_efficacy()
        self.assertEqual([], self.efficacy.indicators)
        self.assertEqual(0.0, self.efficacy.global_efficacy[0].value)

    def test_an_even_cluster_does_not_divide_by_zero(self):
        self.efficacy.set_efficacy_indicators(**dict.fromkeys(FROZEN, 0))
        self.efficacy.compute_global_efficacy()
        self.assertEqual(0.0, self.efficacy.global_efficacy[0].value)


class OthersTestCase(testscenarios.TestWithScenarios, base.BaseTestCase):
    """The same of the goals that came later."""

    scenarios = [
        (
            name,
            {
                'name': name,
                'goal': goal,
                'indicators': names,
                'values': values,
                'share': share,
            },
        )
        for name, goal, names, values, share in [
            (
                'kronos_consolidate',
                goals.Consolidate,
                [
                    'hosts_in_use_before',
                    'hosts_in_use_after',
                    'hosts_released',
                    'migrations',
                ],
                [6, 4, 2, 9],
                ('hosts_emptied', 33.3),
            ),
            (
                'kronos_drain',
                goals.Drain,
                [
                    'hosts_to_drain',
                    'instances_before',
                    'instances_after',
                    'migrations',
                ],
                [1, 8, 2, 6],
                ('instances_leaving', 75.0),
            ),
            (
                'kronos_affinity',
                goals.Affinity,
                ['violations_before', 'violations_after', 'migrations'],
                [3, 0, 4],
                ('violations_removed', 100.0),
            ),
        ]
    ]

    def share_of(self, values):
        found = efficacy.Efficacy(self.goal(config=None), strategy=None)
        if values:
            found.set_efficacy_indicators(
                **dict(zip(self.indicators, values, strict=True))
            )
        found.compute_global_efficacy()
        self.assertEqual(values, [i.value for i in found.indicators])
        (share,) = found.global_efficacy
        return share

    def test_names(self):
        self.assertEqual(self.name, self.goal.get_name())
        spec = self.goal(config=None).efficacy_specification
        self.assertEqual(
            self.indicators, [s.name for s in spec.indicators_specs]
        )
        stored = json.loads(spec.serialize_indicators_specs())
        self.assertEqual(stored, spec.get_indicators_specs_dicts())

    def test_share(self):
        share = self.share_of(self.values)
        self.assertEqual(self.share, (share.name, share.value))
        self.assertEqual('%', share.unit)

    def test_nothing_to_begin_with(self):
        self.assertEqual(0.0, self.share_of([0] * len(self.values)).value)
        self.assertEqual(0.0, self.share_of([]).value)

    def test_the_display_name_fits(self):
        shown = self.goal.get_translatable_display_name()
        self.assertEqual(shown, self.goal.get_display_name())
        self.assertTrue(shown.startswith('Kronos: '))
        self.assertLessEqual(len(shown), 63)


class IndicatorsTestCase(base.BaseTestCase):
    def test_every_indicator_of_the_goal_and_no_other(self):
        for goal in (
            goals.Balance,
            goals.Consolidate,
            goals.Drain,
            goals.Affinity,
        ):
            spec = goal.get_efficacy_specification()
            found = goal.indicators(types.CycleReport())
            self.assertEqual(
                [one.name for one in spec.indicators_specs], list(found)
            )
            self.assertEqual({0}, set(found.values()))

    def test_balance(self):
        report = types.CycleReport(
            [
                scope('a', combined_before=0.5, hosts_over_before=2),
                scope('b', combined_before=0.7, combined_after=0.2),
            ]
        )
        found = goals.Balance.indicators(report)
        self.assertEqual([0.7, 0.2, 0, 2, 0], list(found.values()))

    def test_removed_of_possible(self):
        """Of the most uneven scope; nothing where nothing is possible."""
        report = types.CycleReport()
        self.assertEqual([], goals.Balance.beside(report))
        for reached, bound, values in (
            (0.3, 0.2, [83.3]),
            (0.8, 0.2, [0.0]),
            (0.8, 0.8, []),
        ):
            report = types.CycleReport(
                [
                    scope('a', certificate=certificate(0.1, 0.1)),
                    scope('b', certificate=certificate(bound, reached)),
                ]
            )
            found = goals.Balance.beside(report)
            self.assertEqual(values, [one.value for one in found])
            for one in found:
                self.assertEqual('removed_of_possible', one.name)
                self.assertEqual('%', one.unit)

    def test_consolidate(self):
        report = types.CycleReport(
            [
                scope(
                    'a',
                    steps=[step(1), step(2)],
                    hosts_in_use_before=6,
                    hosts_in_use_after=4,
                ),
                scope('b', hosts_in_use_before=2, hosts_in_use_after=2),
            ]
        )
        found = goals.Consolidate.indicators(report)
        self.assertEqual([8, 6, 2, 2], list(found.values()))

    def test_a_host_in_two_scopes_is_drained_once(self):
        report = types.CycleReport(
            [
                scope(
                    'a',
                    drains=[
                        types.Drain(
                            'h1', '', 5, 2, {'1': '', '2': '', '3': ''}
                        )
                    ],
                ),
                scope(
                    'b',
                    drains=[
                        types.Drain('h1', '', 3, 2, {'1': ''}),
                        types.Drain('h2', '', 2, 2),
                    ],
                ),
            ]
        )
        found = goals.Drain.indicators(report)
        self.assertEqual([2, 7, 1, 0], list(found.values()))

    def test_affinity(self):
        report = types.CycleReport(
            [
                scope('a', violations_before=['x', 'y'], steps=[step()]),
                scope('b', violations_before=['z'], violations_after=['z']),
            ]
        )
        found = goals.Affinity.indicators(report)
        self.assertEqual([3, 1, 1], list(found.values()))
