# SPDX-License-Identifier: Apache-2.0
"""What do Watcher's rows say of runs that live?"""

from kronos.extensions.maintenance.audit import live_runs
from kronos.extensions.maintenance.maintenance import Maintenance
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State
from tests.watcher_tests import object_utils as utils


class TestLiveRuns(test_history.HistoryTestCase):
    def strategy_of(self, name):
        self.number += 1
        self.strategy = utils.create_test_strategy(
            self.context,
            id=50 + self.number,
            uuid=test_history.uuid(50 + self.number),
            name=name,
            goal_id=self.goal.id,
        )

    def audit(self, state, run='r', kind='CONTINUOUS', **more):
        self.number += 1
        utils.create_test_audit(
            self.context,
            id=self.number,
            uuid=test_history.uuid(self.number),
            name=f'audit {self.number}',
            goal_id=self.goal.id,
            strategy_id=self.strategy.id,
            audit_type=kind,
            state=state,
            parameters={'hosts': 'b,a', 'run': run} | more,
        )

    def test_live(self):
        self.strategy_of(live_runs.STRATEGY)
        for state, run in (
            ('ONGOING', 'r'),
            ('ONGOING', 'r'),
            ('SUSPENDED', 's'),
            ('CANCELLED', 't'),
            ('SUCCEEDED', 'u'),
        ):
            self.audit(state, run)
        self.audit('ONGOING', 'v', at_once='many')  # of another version
        self.assertEqual(
            [Maintenance('r', ('a', 'b')), Maintenance('s', ('a', 'b'))],
            live_runs.live(),
        )

    def test_balancing(self):
        for state, kind in (
            ('ONGOING', 'CONTINUOUS'),
            ('SUSPENDED', 'CONTINUOUS'),
            ('ONGOING', 'ONESHOT'),
        ):
            self.audit(state, kind=kind)
        self.assertEqual(['audit 1'], live_runs.balancing())

    def test_moves(self):
        self.strategy_of(live_runs.STRATEGY)

        def move(state, uuid):
            return state, {'input_parameters': {'resource_id': uuid}}

        for run, uuids in (('r', 'ab'), ('r', 'ac'), ('s', 'd')):
            self.plan(
                'SUCCEEDED',
                *(move(State.SUCCEEDED, uuid) for uuid in uuids),
                move(State.FAILED, 'f'),
                parameters={'run': run},
            )
        self.assertEqual({'a': 2, 'b': 1, 'c': 1}, live_runs.moves('r'))
