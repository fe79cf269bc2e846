# SPDX-License-Identifier: Apache-2.0
"""The clients on the small cloud that the tests of moves use.

What the cloud answers here is what tests/functional/nova sees of a real
Nova and Placement.
"""

from typing import Any

from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.clients import placement
from kronos.clients.nova import client as nova_client
from kronos.clients.nova import live_migration
from kronos.common import exceptions
from kronos.engine.types import Headroom
from tests.fakes.small_cloud import cloud

UUID = '11111111-1111-1111-1111-111111111111'
OTHER = '22222222-2222-2222-2222-222222222222'
MOVE = ('POST', '/nova/v2.1/servers')
READ = ('GET', '/nova/v2.1/servers')


class SmallCloudTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.instance = cloud.Server(UUID, 'h1', 'one', vcpus=2)
        self.cloud = self.useFixture(
            cloud.Cloud(['h1', 'h2', 'h3'], {}, [self.instance])
        )
        self.slept: list[float] = []
        self.nova = nova_client.NovaClient(
            self.adapter('compute', self.cloud.nova_url),
            sleep=self.slept.append,
        )
        self.live_migration = live_migration.LiveMigration(self.nova.api)
        self.placement = placement.PlacementClient(
            self.adapter('placement', self.cloud.placement_url),
            sleep=self.slept.append,
        )

    def adapter(self, service: str, url: str) -> adapter.Adapter:
        return adapter.Adapter(
            session.Session(auth=noauth.NoAuth()),
            service_type=service,
            endpoint_override=url,
        )

    def lost(self) -> Any:
        error = self.assertRaises(
            exceptions.NovaClientError,
            self.live_migration.live_migrate,
            UUID,
            'h2',
        )
        self.assertTrue(error.kwargs['transient'])
        return error


class TestFaults(SmallCloudTestCase):
    def test_an_answer_that_is_lost(self) -> None:
        """The request took effect, and is found again by its id."""
        for number, fault in enumerate((502, 504, cloud.RESET, 202), 1):
            self.instance.task_state = None
            self.cloud.lost = {MOVE: [fault]}
            error = self.lost()
            self.assertIsNone(error.kwargs['sent'])
            self.assertEqual(number, len(self.cloud.migrations))
            self.assertEqual(
                [m.request for m in self.cloud.migrations[::-1]],
                self.live_migration.actions.live_migration_requests(UUID),
            )

    def test_a_request_that_never_arrived(self) -> None:
        self.cloud.answers = {MOVE: [cloud.REFUSED] * 2}
        self.live_migration.live_migrate(UUID, 'h2')
        self.assertEqual([1, 2], self.slept)
        self.assertEqual(1, len(self.cloud.migrations))

    def test_a_request_that_is_refused_for_now(self) -> None:
        self.cloud.answers = {MOVE: [(429, {'Retry-After': '7'})]}
        error = self.lost()
        self.assertEqual(7.0, error.kwargs['retry_after'])
        self.assertEqual([], self.cloud.migrations)

    def host(self) -> str:
        result = self.nova.get_instance(UUID)
        assert result is not None
        return result.host

    def test_reads(self) -> None:
        self.cloud.answers = {
            READ: [500, None, (503, {'Retry-After': '5'}), cloud.RESET]
        }
        self.assertEqual('h1', self.host())
        self.assertEqual([1], self.slept)
        self.assertEqual('h1', self.host())
        self.assertEqual([1, 5, 2], self.slept)


class TestMove(SmallCloudTestCase):
    def room(self, host: str) -> Any:
        return self.placement.room_on(f'{host}.example.org')

    def test_allocations_and_room(self) -> None:
        mine = {'VCPU': 2, 'MEMORY_MB': 1024}
        at_h1, at_h2 = {'h1.example.org': mine}, {'h2.example.org': mine}
        free = {'VCPU': Headroom(16, 0), 'MEMORY_MB': Headroom(32768, 0)}
        used = {'VCPU': Headroom(16, 2), 'MEMORY_MB': Headroom(32768, 1024)}
        self.assertEqual(at_h1, self.placement.allocations_of(UUID))
        self.assertEqual((used, free), (self.room('h1'), self.room('h2')))
        self.assertIsNone(self.room('h9'))
        request = self.live_migration.live_migrate(UUID, 'h2')
        status = self.live_migration.get_migration_status(UUID, request)
        self.assertEqual('queued', status.status)
        self.assertEqual(at_h2, self.placement.allocations_of(UUID))
        self.assertEqual(at_h1, self.placement.allocations_of(status.uuid))
        self.assertEqual((used, used), (self.room('h1'), self.room('h2')))
        while not status.is_over:
            status = self.live_migration.get_migration_status(
                UUID, status.uuid
            )
        self.assertEqual(at_h2, self.placement.allocations_of(UUID))
        self.assertEqual({}, self.placement.allocations_of(status.uuid))
        self.assertEqual((free, used), (self.room('h1'), self.room('h2')))
        self.cloud.leftovers = {status.uuid: {'h1': mine}}
        self.assertEqual(at_h1, self.placement.allocations_of(status.uuid))
        self.assertEqual(used, self.room('h1'))
        self.cloud.capacities['h3'] = (4, 2048)
        self.assertEqual(Headroom(4, 0), self.room('h3')['VCPU'])

    def test_progress(self) -> None:
        self.instance.script = ('running', 'running', 'completed')
        request = self.live_migration.live_migrate(UUID, 'h2')
        status = self.live_migration.get_migration_status(UUID, request)
        self.assertEqual('1.0 of 4.0 GiB memory', str(status.progress))
        self.cloud.migrations[0].figures = {}
        self.instance.script = ('running', 'running')
        uuid = status.uuid
        self.cloud.migrations[0].script.insert(0, 'running')
        status = self.live_migration.get_migration_status(UUID, uuid)
        self.assertEqual('running', status.status)
        self.assertIsNone(status.progress)

    def test_an_abort_is_remembered(self) -> None:
        self.instance.script = ('running', 'running', 'completed')
        request = self.live_migration.live_migrate(UUID, 'h2')
        status = self.live_migration.get_migration_status(UUID, request)
        self.assertEqual([], self.live_migration.actions.abort_requests(UUID))
        self.live_migration.abort_migration(UUID, status)
        self.assertEqual(
            1, len(self.live_migration.actions.abort_requests(UUID))
        )
        self.assertEqual(
            [request],
            self.live_migration.actions.live_migration_requests(UUID),
        )


class TestPlaces(SmallCloudTestCase):
    def test_groups(self) -> None:
        self.assertEqual([], self.nova.get_groups_of(UUID))
        self.cloud.groups = [
            {
                'id': f'group-{number}',
                'name': 'apart',
                'policy': 'anti-affinity',
                'rules': {},
                'members': members,
            }
            for number, members in enumerate(([OTHER], [OTHER, UUID]))
        ]
        (group,) = self.nova.get_groups_of(UUID)
        self.assertEqual(
            ('group-1', [OTHER, UUID]), (group.uuid, group.members)
        )

    def test_a_host(self) -> None:
        host = self.nova.get_compute_host('h2')
        assert host is not None
        self.assertEqual(('h2', 'h2.example.org'), (host.name, host.node))
        self.assertIsNone(self.nova.get_compute_host('example.org'))
        self.assertIsNone(self.nova.get_compute_host('nowhere'))
