# SPDX-License-Identifier: Apache-2.0
"""Which hosts are started plans of runs still to change?"""

from kronos.extensions.maintenance.audit import started_plans
from kronos.extensions.maintenance.audit.additions import HAND_OVER, REOPEN
from kronos.extensions.maintenance.audit.history import CLOSE
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State


class TestStartedPlans(test_history.HistoryTestCase):
    def change(self, state, host, kind=CLOSE, run='r'):
        return state, {
            'action_type': kind,
            'input_parameters': {'source_node': host, 'run': run},
        }

    def in_hand(self):
        return sorted(
            (row.host, row.run, row.plan) for row in started_plans.in_hand()
        )

    def test_what_is_not_over(self):
        self.plan(
            'ONGOING',
            self.change(State.SUCCEEDED, 'h1'),
            self.change(State.ONGOING, 'h1', HAND_OVER),
            self.change(State.PENDING, 'h2', REOPEN, 's'),
            self.change(State.FAILED, 'h3'),
            (State.PENDING, {}),
        )
        plan = test_history.uuid(101)
        self.assertEqual(
            [('h1', 'r', plan), ('h2', 's', plan)], self.in_hand()
        )

    def test_plans_that_are_not_carried_out(self):
        """One that waits for a worker is cancelled by the next audit."""
        for state in ('RECOMMENDED', 'CANCELLED', 'SUCCEEDED', 'FAILED'):
            self.plan(state, self.change(State.PENDING, 'h1'))
        self.assertEqual([], self.in_hand())
        self.plan('PENDING', self.change(State.PENDING, 'h1'))
        self.assertEqual(1, len(self.in_hand()))

    def test_one_that_is_being_cancelled(self):
        """Only what has begun is carried out."""
        self.plan(
            'CANCELLING',
            self.change(State.ONGOING, 'h1', HAND_OVER),
            self.change(State.PENDING, 'h2', HAND_OVER),
        )
        self.assertEqual(['h1'], [row[0] for row in self.in_hand()])
