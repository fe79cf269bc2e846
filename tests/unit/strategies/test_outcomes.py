# SPDX-License-Identifier: Apache-2.0
"""Do the indicators say what the plan does?"""

from oslotest import base

from kronos.engine import types
from kronos.strategies import goals, outcomes
from tests.unit.strategies.test_status_messages import scope, step


class OutcomesTestCase(base.BaseTestCase):
    def test_every_indicator_of_the_goal_and_no_other(self):
        for goal, outcome in (
            (goals.Balance, outcomes.balance),
            (goals.Consolidate, outcomes.consolidate),
            (goals.Drain, outcomes.drain),
            (goals.Affinity, outcomes.affinity),
        ):
            spec = goal.get_efficacy_specification()
            self.assertEqual(
                [one.name for one in spec.indicators_specs],
                list(outcome(types.CycleReport())),
            )
            self.assertEqual({0}, set(outcome(types.CycleReport()).values()))

    def test_balance(self):
        report = types.CycleReport(
            [
                scope('a', combined_before=0.5, hosts_over_before=2),
                scope('b', combined_before=0.7, combined_after=0.2),
            ]
        )
        found = outcomes.balance(report)
        self.assertEqual([0.7, 0.2, 0, 2, 0], list(found.values()))

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
        found = outcomes.consolidate(report)
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
        found = outcomes.drain(report)
        self.assertEqual([2, 7, 1, 0], list(found.values()))

    def test_affinity(self):
        report = types.CycleReport(
            [
                scope('a', violations_before=['x', 'y'], steps=[step()]),
                scope('b', violations_before=['z'], violations_after=['z']),
            ]
        )
        found = outcomes.affinity(report)
        self.assertEqual([3, 1, 1], list(found.values()))
