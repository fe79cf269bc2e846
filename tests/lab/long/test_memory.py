# SPDX-License-Identifier: Apache-2.0
"""What was moved or has failed is remembered, whoever forgets."""

import re
from typing import Any

from tests.lab import base, memory
from tests.lab.base import Wanted
from tests.lab.test_spread import pile

COOLS = re.compile(r'aggregate alpha cools down for (\d+) (s|min):')
COOLDOWN = 600
GUARD = 3600


class TestMemory(memory.MemoryTestCase):
    def cools_for(self) -> int:
        """Seconds, by the minute, as an audit tells that plans nothing."""
        audit, _plan, actions = self.audited('aggregates=alpha')
        self.assertEqual([], actions)
        told = COOLS.search(audit['Status Message'])
        self.assertIsNotNone(told, audit['Status Message'])
        return int(told[1]) * (60 if told[2] == 'min' else 1)

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

    def test_a_cooldown_outlives_the_engine_and_the_plan(self):
        """kill -9, then the plan is deleted."""
        self.boot(pile('cmp1', 6))
        _audit, plan, actions = self.audited(
            'aggregates=alpha max_migrations=1'
        )
        [action] = actions
        server = action['input_parameters']['resource_name']
        self.configure(cooldown=COOLDOWN)
        # Servers of earlier scenarios may have been moved just now.
        audit, _plan, _actions = self.audited('aggregates=alpha')
        self.assertNotIn(server, audit['Status Message'])
        self.carried_out(plan)
        audit, _plan, _actions = self.audited('aggregates=alpha')
        self.assertIn(server, audit['Status Message'])

        first = self.cools_for()
        self.crash()
        second = self.cools_for()
        self.openstack(f'optimize actionplan delete {plan["uuid"]}')
        third = self.cools_for()

        self.assertLessEqual(first, COOLDOWN)
        self.assertLessEqual(second, first)
        self.assertLessEqual(third, second)
        self.assertGreater(third, 0)

    def test_a_server_moved_by_hand_is_left_alone(self):
        """The cooldown and the return guard: Nova's migrations tell."""
        uuid = self.moved_by_hand()
        one = 'aggregates=alpha max_migrations=1'

        def destinations(**options: int) -> dict[str, str]:
            self.configure(**options)
            return _destinations(self.audited(one)[2])

        # Else it would go right back.
        self.assertEqual({'hand': 'cmp2'}, destinations())
        guarded = destinations(return_guard=GUARD)
        self.assertNotEqual({}, guarded)
        self.assertNotEqual('cmp2', guarded.get('hand'))
        cooling = destinations(instance_cooldown=GUARD)
        self.assertNotEqual({}, cooling)
        self.assertNotIn('hand', cooling)
        self.assertEqual(
            'cmp1', self.cloud.servers()[uuid]['OS-EXT-SRV-ATTR:host']
        )

    def moved_by_hand(self) -> str:
        """An even cloud, and a server taken from cmp2 to cmp1."""
        wanted = [
            one
            for host in base.ALPHA
            if host != 'cmp2'
            for one in pile(host, 6 if host == 'cmp4' else 3)
        ]
        wanted.append(Wanted('hand', 'cmp2', 3.6, 7000, 'lab.large'))
        uuid = self.boot(wanted)['hand']
        self.openstack(
            'server migrate --live-migration --host cmp1 '
            f'--os-compute-api-version 2.30 --wait {uuid}'
        )
        self.wait(
            lambda: self.cloud.placement()['hand'] == 'cmp1',
            'the server to be on cmp1',
        )
        self.wait_for_metrics()
        return uuid


def _destinations(actions: list[dict[str, Any]]) -> dict[str, str]:
    return {
        given['resource_name']: given['destination_node']
        for given in (row['input_parameters'] for row in actions)
    }
