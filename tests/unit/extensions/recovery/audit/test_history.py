# SPDX-License-Identifier: Apache-2.0
"""What do Watcher's rows tell of restarts?"""

from kronos.extensions.recovery.audit import history
from kronos.extensions.recovery.readings.past_restarts import RESTART
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State


class TestRestarts(test_history.HistoryTestCase):
    def restart(self, state, **mark):
        told = {'resource_id': 'vm', 'source_node': 'h1'}
        if mark:
            told['recovery'] = mark
        return state, {
            'action_type': RESTART,
            'input_parameters': told,
        }

    def restarts(self, since=0.0):
        return [
            (one.state, one.acted, one.stop)
            for one in history.restarts(since).get('vm', [])
        ]

    def test_restarts(self):
        self.plan(
            'ONGOING',
            self.restart(State.SUCCEEDED, at=1.0, stop='req-1'),
            self.restart(State.ONGOING, at=2.0, stop=''),
            self.restart(State.FAILED),
            self.restart(State.PENDING),
        )
        self.assertEqual(
            [
                ('FAILED', False, ''),
                ('ONGOING', True, ''),
                ('PENDING', False, ''),
                ('SUCCEEDED', True, 'req-1'),
            ],
            sorted(self.restarts()),
        )
        self.assertEqual([], self.restarts(since=2e9))

    def test_a_restart_that_nobody_started(self):
        self.plan('RECOMMENDED', self.restart(State.PENDING))
        self.assertEqual([], self.restarts())

    def test_moves_and_odd_rows_are_no_restarts(self):
        self.plan(
            'SUCCEEDED',
            (State.SUCCEEDED, {}),
            self.restart(State.SUCCEEDED, at=1.0, stop=7),
            (
                State.SUCCEEDED,
                {
                    'action_type': RESTART,
                    'input_parameters': {'resource_id': 9},
                },
            ),
        )
        self.assertEqual([('SUCCEEDED', True, '')], self.restarts())

    def test_restarts_are_no_moves(self):
        self.plan('SUCCEEDED', self.restart(State.SUCCEEDED, at=1.0))
        self.assertEqual([], self.told())
