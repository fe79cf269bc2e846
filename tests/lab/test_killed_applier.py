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
completed, not seen     has arrived; new plans let it be
======================  =============================================
"""

from typing import Any

from tests.lab import base, killed

APPLIER = 'watcher-applier'
FOREVER = 3600


class TestApplier(killed.KilledTestCase):
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
        self.killed(APPLIER)
        self.lab.start(APPLIER)
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

    def by_hand(self, name: str, source: str, destination: str) -> None:
        """Boot a server and begin to move it as an operator does."""
        self.uuids[name] = self.cloud.boot(name, source, cpu=0.1)['id']
        self.openstack(
            '--os-compute-api-version 2.30 server migrate --live-migration '
            f'--host {destination} {self.uuids[name]}'
        )
        self.wait_for_status(name, 'running')

    def evacuation(self, hosts: set[str], more: str = '') -> dict[str, Any]:
        _, plan, _ = self.audited(
            f'aggregates=alpha hosts={",".join(sorted(hosts))}',
            more,
            'kronos_evacuate',
        )
        return plan

    def state(self, plan: dict[str, Any]) -> str:
        url = f'/v1/action_plans/{plan["uuid"]}'
        return str(self.cloud.watcher(url)['state'])

    def telling(self, plan: dict[str, Any], words: str) -> bool:
        return all(words in text for _, text in self.ends(plan).values())

    def assert_given_up(self, plan: dict[str, Any]) -> None:
        """Watcher has cancelled it, and then its actions one by one."""
        self.assertEqual('CANCELLED', self.executed(plan)['state'])
        self.wait(
            lambda: {s for s, _ in self.ends(plan).values()} == {'CANCELLED'},
            'all actions to be cancelled',
        )
        for name, (_, text) in self.ends(plan).items():
            self.assertIn('Applier controller was stopped', text, name)
