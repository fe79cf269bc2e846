# SPDX-License-Identifier: Apache-2.0
"""The same plan is started twice: every server moves once.

Watcher's API refuses that. But the broker may deliver a plan again, and its
appliers then carry it out side by side, or again from the start.
"""

import collections
import subprocess
from typing import ClassVar

from tests.lab import base

PLACED = {f'{host}-{n}': host for host in ('cmp1', 'cmp2') for n in range(2)}
PENDING = [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}]
CAST = """
import sys
from watcher.applier import rpcapi
from watcher.common import context, service
_, plan, times, *files = sys.argv
service.prepare_service(['cast', *files])
api = rpcapi.ApplierAPI()
for _ in range(int(times)):
    api.launch_action_plan(context.make_context(), plan)
"""
"""What Watcher's API does when a plan is started."""


class TestTwice(base.LabTestCase):
    options: ClassVar = {
        'drain_may_exceed_threshold': True,
        'max_concurrent_migrations': 4,
    }

    def setUp(self) -> None:
        super().setUp()
        self.uuids = self.boot(
            base.Wanted(name, host, 0.2, 500, flavor='lab.small')
            for name, host in PLACED.items()
        )
        self.cloud.set_migrations({'default': {'seconds': 3}})
        _, self.plan, actions = self.audited(
            'aggregates=alpha hosts=cmp1,cmp2', strategy='kronos_evacuate'
        )
        self.goals = {
            row['input_parameters']['resource_name']: row['input_parameters'][
                'destination_node'
            ]
            for row in actions
        }
        self.assertEqual(set(PLACED), set(self.goals))

    def assert_moved_once(self) -> None:
        """All is over, whoever else was at it."""
        self.wait(
            lambda: self.cloud.placement() == self.goals,
            'the servers to arrive',
        )
        self.assertEqual('SUCCEEDED', self.executed(self.plan)['state'])
        # The other one needs some seconds more to see it.
        self.wait(
            lambda: all(
                row['state'] == 'SUCCEEDED' for row in self.actions(self.plan)
            ),
            'all actions to succeed',
        )
        names = {uuid: name for name, uuid in self.uuids.items()}
        asked = collections.Counter(
            names[order['path'].split('/')[-2]] for order in self.orders()
        )
        self.assertEqual(dict.fromkeys(PLACED, 1), asked)
        self.assertEqual(len(PLACED), len(self.migrations()))
        self.assert_at_rest(self.goals)

    def cast(self, times: int) -> None:
        """Let appliers carry the plan out, so many times."""
        subprocess.run(
            [
                base.layout.program('python'),
                '-c',
                CAST,
                self.plan['uuid'],
                str(times),
                *base.services.watcher_files(),
            ],
            check=True,
            capture_output=True,
        )

    def assert_refused(self) -> None:
        again = self.run_client(
            f'optimize actionplan start {self.plan["uuid"]}'
        )
        self.assertNotEqual(0, again.returncode, again.stdout)
        url = f'/v1/action_plans/{self.plan["uuid"]}'
        answer = self.cloud.watcher(
            url, 'patch', json=PENDING, raise_exc=False
        )
        self.assertIn('State transition not allowed', str(answer))

    def test_started_and_delivered_again(self):
        """To both appliers, and to one of them a third time.

        Watcher's API takes a further start for a mistake.
        """
        self.second_applier()
        self.cast(3)
        url = f'/v1/action_plans/{self.plan["uuid"]}'
        self.wait(
            lambda: self.cloud.watcher(url)['state'] == 'ONGOING',
            'an applier to begin',
        )
        self.assert_refused()
        self.assert_moved_once()
        self.assert_refused()
