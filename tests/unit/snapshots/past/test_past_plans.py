# SPDX-License-Identifier: Apache-2.0
"""Tests of what Watcher's actions say of past plans."""

import unittest

from kronos.engine.types import Shares
from kronos.snapshots.past import past_plans
from kronos.snapshots.watcher_actions import ActionRow


def row(state='SUCCEEDED', touched=200.0, kind='kronos_live_migrate', **more):
    parameters = {
        'resource_id': 'u1',
        'source_node': 'h1',
        'destination_node': 'h2',
        'aggregate': 'a',
        'effect': {'cpu': [0.2, 0.1, 'f00']},
        'forecast_seconds': 40.0,
        **more,
    }
    return ActionRow('r1', kind, state, parameters, '', 100.0, touched)


def plan(*rows, state='SUCCEEDED', created=100.0):
    (result,) = past_plans.split('p1', state, created, rows)
    return result


class PastPlanTest(unittest.TestCase):
    def test_a_plan_that_ended(self):
        whole = plan(row(), row('FAILED', 300.0), row('CANCELLED', 900.0))
        self.assertTrue(whole.is_started)
        self.assertEqual((300.0, 120.0), (whole.ended, whole.forecast_seconds))
        self.assertEqual(
            [True, False, False], [move.is_done for move in whole.moves()]
        )

    def test_the_first_of_each_scope(self):
        one, other = plan(row()), plan(row(aggregate='b'))
        plans = [one, one, other, one]
        self.assertEqual([one, one, other], past_plans.of_each_scope(plans, 2))

    def test_a_plan_that_never_started(self):
        whole = plan(row('CANCELLED', 900.0), state='SUPERSEDED')
        self.assertFalse(whole.is_started or whole.is_running)
        self.assertEqual(100.0, whole.ended)

    def test_a_plan_that_runs(self):
        self.assertTrue(
            plan(row(), row('PENDING'), state='ONGOING').is_running
        )

    def test_each_scope_has_its_part(self):
        parts = past_plans.split(
            'p1', 'SUCCEEDED', 1.0, [row(), row(aggregate='b')]
        )
        self.assertEqual(['a', 'b'], [part.scope for part in parts])

    def test_what_is_no_move_of_kronos_is_left_out(self):
        rows = [row(kind='migrate'), row(aggregate=None)]
        self.assertEqual([], [*past_plans.split('p1', 'X', 1.0, rows)])

    def test_the_shares_of_an_action(self):
        self.assertEqual(
            {'cpu': Shares(0.2, 0.1, 'f00')},
            past_plans.shares_of(row().parameters),
        )

    def test_what_an_older_kronos_or_a_stranger_wrote(self):
        for effect in (None, [], 'cpu', {'cpu': [0.1]}, {'cpu': [1, 1, 1]}):
            shares = past_plans.shares_of({'effect': effect})
            self.assertEqual({}, shares, effect)
        for number in (True, float('nan'), -1.0, '1'):
            shares = past_plans.shares_of({'effect': {'a': [number, 1, 'f']}})
            self.assertEqual(0.0, shares['a'].leaving, number)
