# SPDX-License-Identifier: Apache-2.0
"""An audit that makes room: what it plans, and what fits when it is done."""

from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base, room_made

CPUS = 16
LARGE = 'f12'


class MakeRoomTestCase(room_made.RoomTestCase):
    """Three hosts of 16 CPUs, each with two servers of 4: none takes 12."""

    LARGE = LARGE

    @staticmethod
    def CLOUD():  # noqa: N802
        servers = [
            server
            for number, host in enumerate(('h1', 'h2', 'h3'))
            for server in base.servers(
                host, 10 * number + 1, 2, vcpus=4, ram=2048
            )
        ]
        small = cloud.Cloud(
            ['h1', 'h2', 'h3'],
            {'alpha': ['h1', 'h2', 'h3']},
            servers,
            capacity=(CPUS, 32768),
        )
        small.flavors[LARGE] = (12, 4096)
        return small

    def fitting(self):
        free = dict.fromkeys(self.cloud.hosts, CPUS)
        for server in self.cloud.servers.values():
            free[server.host] -= server.vcpus
        return sum(cpus // 12 for cpus in free.values())

    def test_planned_and_carried_out(self):
        """No host takes the wanted server, until one move is made."""
        plan = self.planned('no plan requires fewer')
        (move,) = self.actions(plan)
        self.assertEqual('kronos_live_migrate', move.action_type)
        self.carry_out(plan)

    def test_as_many_as_possible(self):
        """24 of 48 CPUs are free: two hosts can have 12."""
        audit = self.make_room(flavor=LARGE, max_migrations=3)
        message = self.message(audit)
        self.assertEqual('SUCCEEDED', audit['state'], message)
        plan = self.start(self.plan(audit))
        self.assertEqual('SUCCEEDED', plan['state'])
        self.assertEqual(2, self.fitting())

    def test_refused(self):
        """What cannot be, and what nobody can mean; the cloud stays."""
        audit = self.make_room(flavors={LARGE: 3})
        self.assertEqual('SUCCEEDED', audit['state'])
        self.assertIn('no number of migrations', self.message(audit))
        self.assertIn(f'2 servers of {LARGE}', self.message(audit))
        for asked, text in (
            ({'flavors': {'f13': 1}}, 'there is no flavor f13'),
            ({'flavor': LARGE}, 'max_migrations'),
            ({}, 'missing'),
        ):
            audit = self.make_room(force=True, **asked)
            self.assertEqual('FAILED', audit['state'], asked)
            self.assertIn(text, self.message(audit))
