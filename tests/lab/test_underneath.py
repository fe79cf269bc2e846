# SPDX-License-Identifier: Apache-2.0
"""What Nova and Watcher stand on is restarted under moves.

==============  =====================================================
Restarted       The moves
==============  =====================================================
nova-conductor  SUCCEEDED: what it had begun goes on
the broker      SUCCEEDED: the services come back to it
the database    SUCCEEDED: waits for a turn go on when it is back
==============  =====================================================
"""

from typing import Any

from tests.lab import killed


class TestUnderneath(killed.KilledTestCase):
    def test_restarted(self):
        """K9: one move runs meanwhile, one waits for its turn."""
        placed = {'one': 'cmp1', 'other': 'cmp2'}
        plan = self.planned(
            placed, {'default': {'seconds': 1, 'stall_at': 0.5}}
        )
        # Afterwards, so that it is not the graph which makes one wait.
        self.configure(max_concurrent_migrations=1)
        goals = self.goals(plan)
        self.start(plan)
        self.wait(lambda: 'running' in map(self.status, placed), 'one to run')
        self.wait(
            lambda: any('waits: ' in text for text in self.told(plan)),
            'the other one to wait',
        )
        for name in ('nova-conductor', 'rabbitmq', 'mariadb'):
            self.lab.stop(name, kill=True)
            self.lab.start(name)
        self.wait(lambda: not self.down(), 'the hosts to be heard again')
        self.cloud.set_migrations({})
        self.carried_out(self.executed(plan))
        self.assertEqual({'one': 1, 'other': 1}, self.asked())
        self.assert_at_rest(goals)

    def told(self, plan: dict[str, Any]) -> list[str]:
        return [text for _, text in self.ends(plan).values()]
