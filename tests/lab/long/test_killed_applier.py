# SPDX-License-Identifier: Apache-2.0
"""An applier is killed, and another one goes on with the next plan.

A migration that was completed unseen has arrived; new plans let it be.
"""

from tests.lab import base, killed
from tests.lab.killed import APPLIER

FOREVER = 3600


class TestApplier(killed.ApplierTestCase):
    def test_another_one_takes_over(self):
        """While the first one is dead, and when it comes back."""
        placed = {'queued': 'cmp1', 'unseen': 'cmp2'}
        plan = self.planned(
            placed,
            {
                'queued': {'queued_seconds': None},
                'unseen': {'seconds': 1, 'stall_at': 0.5},
            },
        )
        goals = self.goals(plan)
        self.start(plan)
        self.wait_for_status('queued', 'queued')
        self.wait_for_status('unseen', 'running')
        # Its applier cannot see any more how it goes on.
        self.cloud.set_nova_api(
            [
                {
                    'path': f'/servers/{self.uuids["unseen"]}',
                    'answer': 'hang',
                    'seconds': FOREVER,
                }
            ]
        )
        self.cloud.set_migrations({'queued': {'queued_seconds': None}})
        self.wait_for_status('unseen', 'completed')
        self.killed(APPLIER)
        self.cloud.set_nova_api([])
        self.uuids |= self.boot([base.Wanted('other', 'cmp3', 0.5, 1000)])
        following = self.evacuation({'cmp1', 'cmp2', 'cmp3'}, '--force')
        self.assertEqual({'other'}, set(self.goals(following)))
        self.start(following)
        self.assertEqual('PENDING', self.state(following))
        self.second_applier()
        # Watcher gives the plan up now, or when its applier is back.
        self.carried_out(self.executed(following))
        self.lab.start(APPLIER)
        self.assert_given_up(plan)
        self.cloud.set_migrations({})
        self.wait_for_status('queued', 'completed')
        self.assertEqual({'queued': 1, 'unseen': 1, 'other': 1}, self.asked())
        self.assert_at_rest({**goals, **self.goals(following)})
