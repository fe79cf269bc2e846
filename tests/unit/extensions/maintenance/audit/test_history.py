# SPDX-License-Identifier: Apache-2.0
"""Which hosts has a run closed, as Watcher remembers it?"""

from kronos.extensions.maintenance.audit import history
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State


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
