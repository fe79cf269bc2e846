# SPDX-License-Identifier: Apache-2.0
"""Hosts are emptied, handed over and opened again, one audit after another."""

from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.actions import hand_over
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base

HOSTS = ['h1', 'h2']


class TestMaintain(base.KronosTestCase):
    """Two hosts in alpha with a server each; both are maintained."""

    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            HOSTS,
            {'alpha': HOSTS},
            [
                server
                for number, host in enumerate(HOSTS)
                for server in base.servers(host, 1 + 10 * number, 1)
            ],
        )

    def setUp(self):
        super().setUp()
        self.set(
            'kronos',
            aggregates=['alpha'],
            max_retries=0,
            instance_cooldown=0,
            maintenance_done_query='faulty',
        )
        self.patch(hand_over, 'APART_SECONDS', 0.1)

    def maintain(self, **more):
        return self.create_audit(
            goal='kronos_maintenance',
            strategy='kronos_maintain',
            parameters={'hosts': ','.join(HOSTS), 'run': 'r1', **more},
        )

    def carried_out(self, audit):
        plan = self.plan(audit)
        self.assertNotEqual([], self.actions(plan), self.message(audit))
        self.start(plan)
        rows = self.actions(plan)
        for row in rows:
            self.assertEqual('SUCCEEDED', row.state, row.status_message)
        return [row.action_type for row in rows]

    def reason(self, host):
        service = self.cloud.services[host]
        self.assertEqual('disabled', service['status'])
        return closing_reason.parsed(service['reason'])

    def test_all_of_them(self):
        """Each server moves once, but for those of the first host."""
        kinds = []
        for number, _ in enumerate(HOSTS, start=1):
            kinds += self.carried_out(self.maintain())
            [host] = [
                name
                for name, row in self.cloud.services.items()
                if row['status'] == 'disabled'
            ]
            self.assertEqual('handed-over', self.reason(host).step)
            self.assertEqual('r1', self.reason(host).run)
            on_host = [
                s for s in self.cloud.servers.values() if s.host == host
            ]
            self.assertEqual([], on_host)
            self.cloud.faulty[host] = 1.0
            opening = self.carried_out(self.maintain())
            self.assertEqual(['kronos_reopen'], opening)
            self.assertEqual(number, len(self.cloud.faulty))
        self.assertEqual(
            {'enabled'},
            {row['status'] for row in self.cloud.services.values()},
        )
        self.assertIn('2 of 2 hosts done', self.message(self.maintain()))
        self.assertEqual(3, kinds.count('kronos_live_migrate'))
        self.assertEqual(2, kinds.count('kronos_close_for_maintenance'))
        self.assertEqual(2, kinds.count('kronos_hand_over'))
