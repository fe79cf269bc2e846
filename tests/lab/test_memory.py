# SPDX-License-Identifier: Apache-2.0
"""What failed is remembered, whoever forgets."""

from tests.lab import memory
from tests.lab.base import Wanted
from tests.lab.test_spread import pile


class TestMemory(memory.MemoryTestCase):
    def test_a_failed_server_is_quarantined(self):
        """It stays out of the plans, across a restart."""
        uuids = self.boot([Wanted('big', 'cmp1', 1.9, 3600), *pile('cmp1', 5)])
        self.cloud.set_migrations({'big': {'end': 'failed'}})
        one = 'aggregates=alpha max_migrations=1'
        _audit, plan, actions = self.audited(one)
        self.assertEqual({'big'}, self.moved(actions))
        self.start(plan)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        [action] = self.actions(plan)
        self.assertIn('KRONOS:MigrationFailed', action['status_message'])
        # Else it would be the first again.
        self.configure(instance_quarantine_seconds=0)
        self.assertEqual({'big'}, self.moved(self.audited(one)[2]))

        self.configure(instance_quarantine_seconds=3600)
        for _ in range(2):
            audit, _plan, actions = self.audited('aggregates=alpha')
            planned = self.moved(actions)
            self.assertNotEqual(set(), planned)
            self.assertNotIn('big', planned)
            self.assertIn(
                'quarantine', self.report(audit)['stayed'][uuids['big']]
            )
            self.crash()
