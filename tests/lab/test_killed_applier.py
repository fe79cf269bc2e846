# SPDX-License-Identifier: Apache-2.0
"""What becomes of moves whose applier is killed?

Watcher calls the plan and its actions CANCELLED when the applier is started
again. Nova goes on with what it was asked for.

======================  =============================================
The move                Its server
======================  =============================================
waits for its turn      stays; a following plan moves it
before Nova has it      stays; a following plan moves it
accepted                arrives; counted, and left alone by new plans
running                 arrives; counted, and left alone by new plans
======================  =============================================
"""

from tests.lab import base, killed

FOREVER = 3600


class TestApplier(killed.ApplierTestCase):
    def test_killed_and_started_again(self):
        """Nothing moves twice, the next audit sees the truth."""
        names = ('post', 'accepted', 'running', 'turn')
        placed = dict(zip(names, base.ALPHA, strict=False))
        plan = self.planned(
            placed,
            {
                'accepted': {'accepted_seconds': None},
                'running': {'seconds': 1, 'stall_at': 0.5},
                'hand': {'seconds': 1, 'stall_at': 0.5},
            },
        )
        goals = self.goals(plan)
        self.by_hand('hand', placed['turn'], 'cmp9')
        self.cloud.set_nova_api(
            [
                {
                    'method': 'POST',
                    'path': f'/servers/{self.uuids["post"]}/action',
                    'answer': 'hang',
                    'seconds': FOREVER,
                }
            ]
        )
        self.start(plan)
        for name in ('accepted', 'running'):
            self.wait_for_status(name, name)
        self.wait(
            lambda: (
                self.ends(plan)['post'][0] == 'ONGOING'
                and '1 under way out of' in self.ends(plan)['turn'][1]
            ),
            'one to be asked for and one to wait',
        )
        self.killed(killed.APPLIER)
        self.lab.start(killed.APPLIER)
        self.assert_given_up(plan)
        self.cloud.set_nova_api([])

        self.configure(max_concurrent_migrations=3)
        following = self.evacuation(set(placed.values()))
        self.assertEqual({'post', 'turn'}, set(self.goals(following)))
        self.start(following)
        self.wait(
            lambda: self.telling(following, ' under way '),
            'the orphans to be counted',
        )
        self.cloud.set_migrations({})
        self.carried_out(self.executed(following))
        self.assert_given_up(plan)
        self.assertEqual(dict.fromkeys(placed, 1), self.asked())
        self.assert_at_rest({**goals, **self.goals(following), 'hand': 'cmp9'})
