# SPDX-License-Identifier: Apache-2.0
"""Which hosts has a run closed, as Watcher remembers it?"""

from kronos.extensions.maintenance.audit import history
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State
from tests.watcher_tests import object_utils as utils


class TestClosed(test_history.HistoryTestCase):
    def closing(self, state, host, run='r', kind=history.CLOSE):
        return state, {
            'action_type': kind,
            'input_parameters': {'source_node': host, 'run': run},
        }

    def test_closed(self):
        self.plan(
            'SUCCEEDED',
            self.closing(State.SUCCEEDED, 'h1'),
            self.closing(State.SKIPPED, 'h2'),
            self.closing(State.SUCCEEDED, 'h3', run='other'),
            self.closing(State.SUCCEEDED, 'h4', kind='kronos_close_host'),
        )
        self.assertEqual({'h1'}, history.closed('r'))
        self.assertEqual(set(), history.closed('none'))


class TestElsewhere(test_history.HistoryTestCase):
    def audit(self, state, run, kind='CONTINUOUS', hosts='h1,h2'):
        self.number += 1
        utils.create_test_audit(
            self.context,
            id=self.number,
            uuid=test_history.uuid(self.number),
            name=f'audit {self.number}',
            goal_id=self.goal.id,
            strategy_id=self.strategy.id,
            state=state,
            audit_type=kind,
            parameters={'hosts': hosts, 'run': run},
        )

    def setUp(self):
        super().setUp()
        self.strategy = utils.create_test_strategy(
            self.context,
            id=77,
            uuid=test_history.uuid(77),
            name=history.STRATEGY,
            goal_id=self.goal.id,
        )

    def test_live_audits_of_other_runs(self):
        self.audit('ONGOING', 'r', hosts='h9')
        self.audit('ONGOING', 's')
        self.audit('SUSPENDED', 't', hosts=['h3'])
        self.audit('CANCELLED', 'u', hosts='h4')
        self.audit('ONGOING', 'v', 'ONESHOT', hosts='h5')
        self.audit('ONGOING', 'a b', hosts='h6')
        self.assertEqual(
            {'h1': 's', 'h2': 's', 'h3': 't'}, history.elsewhere('r')
        )
