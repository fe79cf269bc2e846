# SPDX-License-Identifier: Apache-2.0
"""An action plan is cancelled: what becomes of its moves, in each state?

======================  ==============  =======================================
The move                Its action      Its server
======================  ==============  =======================================
waits for its turn      CANCELLED       on its source, Nova was not asked
waits for its time      CANCELLED       on its source, Nova was not asked
waits for another try   FAILED, told    on its source, Nova did not get it
accepted                FAILED, told    on its source, aborted when it can be
queued                  FAILED, told    on its source, aborted
preparing               FAILED, told    on its source, aborted
running                 FAILED, told    on its source, aborted
taking over             SUCCEEDED       on its destination, which is told
======================  ==============  =======================================

The other actions are CANCELLED and never start. A plan that has no other is
FAILED: Watcher calls one CANCELLED only if something was left to be started.
"""

from tests.lab import cancelled
from tests.lab.moves import HELD, SOURCE


class TestCancel(cancelled.CancelTestCase):
    def test_running(self):
        self.cancel_under_way('running', HELD)

    def test_waiting_for_a_turn(self):
        """It tells what it waits for."""
        self.boot_here('a', 'b')
        plan = self.planned()
        self.uuids['c'] = self.cloud.boot('c', SOURCE, cpu=0.1)['id']
        self.cloud.set_migrations({'c': HELD})
        self.by_hand('c', 'cmp9')
        self.wait_status('c', 'running')
        self.start(plan)
        self.assert_told(
            self.telling(plan, 'waits: '),
            'PENDING',
            f'waits: 1 under way out of {SOURCE}, of at most 1',
        )
        self.cancel(plan)
        for row in self.ended(plan, 'CANCELLED').values():
            self.assert_never_started(row)
        self.assertEqual([], self.orders())
        self.cloud.set_migrations({})
        self.wait_completed('c')
        self.assert_at_rest({'a': SOURCE, 'b': SOURCE, 'c': 'cmp9'})
