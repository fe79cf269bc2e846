# SPDX-License-Identifier: Apache-2.0
"""Requests, aborts and allocations in a real Nova."""

import threading
import time
from typing import Any

import fixtures
from nova import context, objects
from nova.compute import manager

from kronos.clients.nova.progress import Progress
from kronos.clients.nova.rows import AbortOutcome, MigrationStatus
from tests.functional.nova import base, test_migrations

GIB = 2**30
LONG = 2 * base.PATIENCE_SECONDS


class _Slow(test_migrations._Migrations):
    """A migration runs until it is aborted."""

    compute_driver = 'fake.FakeLiveMigrateDriver'
    hosts = ('host1', 'host2')

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.virt.fake.FakeLiveMigrateDriver.live_migration', _run
            )
        )

    def reach(self, uuid: str, key: str, wanted: str) -> MigrationStatus:
        def look() -> MigrationStatus | None:
            status = self.live_migration.get_migration_status(uuid, key)
            return status if status.status == wanted else None

        status: MigrationStatus = self.until(f'it is {wanted}', look)
        return status

    def start(self, uuid: str, wanted: str = 'running') -> MigrationStatus:
        request = self.live_migration.live_migrate(uuid, 'host2')
        return self.reach(uuid, request, wanted)

    def abort(self, status: MigrationStatus) -> None:
        result = self.live_migration.abort_migration(status.instance, status)
        self.assertEqual(AbortOutcome.ABORTING, result.outcome)
        ended = self.ended(status.instance, status.uuid)
        self.assertEqual('cancelled', ended.status)

    def was_aborted(self, status: MigrationStatus) -> bool:
        return bool(
            self.live_migration.actions.abort_requests(status.instance)
        )


class TestRequests(test_migrations._Migrations):
    def test_the_newest_first_on_several_pages(self) -> None:
        self.flags(max_limit=2, group='api')
        uuid = self.boot('host1')['id']
        self.assertEqual(
            [], self.live_migration.actions.live_migration_requests(uuid)
        )
        requests = []
        for host in ('host2', 'host3', 'host1'):
            requests.append(self.live_migration.live_migrate(uuid, host))
            self.assertEqual(
                'completed', self.ended(uuid, requests[-1]).status
            )
            self._let_all_end()
            # Nova sorts them by whole seconds, then by their ids.
            self.assertEqual(
                requests[::-1],
                self.live_migration.actions.live_migration_requests(uuid),
            )
        self.assertEqual([], self.live_migration.actions.abort_requests(uuid))


class TestAborts(_Slow):
    def test_by_somebody(self) -> None:
        uuid = self.boot('host1')['id']
        status = self.start(uuid)
        self.assertFalse(self.was_aborted(status))
        self.abort(status)
        self.assertTrue(self.was_aborted(status))

    def test_in_the_queue_or_with_nova_compute(self) -> None:
        """Who stops a nova-compute cancels its queue without a word."""
        first, second, third = (self.boot('host1')['id'] for _ in range(3))
        running = self.start(first)
        queued = self.start(second, 'queued')
        waiting = self.start(third, 'queued')
        self.assertIsNone(queued.progress)
        self.abort(queued)
        self.assertTrue(self.was_aborted(queued))
        self.computes['host1'].manager._cleanup_live_migrations_in_pool()
        status = self.ended(third, waiting.uuid)
        self.assertEqual('cancelled', status.status)
        self.assertFalse(self.was_aborted(status))
        self.abort(running)
        # Nova leaves it so until nova-compute starts again.
        self.set_task(third)

    def test_before_it_has_begun(self) -> None:
        """What Nova has only accepted is neither aborted nor over."""
        go_on = threading.Event()
        check = manager.ComputeManager.check_can_live_migrate_destination

        def wait(*args: Any, **kwargs: Any) -> Any:
            go_on.wait(LONG)
            return check(*args, **kwargs)

        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.compute.manager.ComputeManager.'
                'check_can_live_migrate_destination',
                wait,
            )
        )
        self.addCleanup(go_on.set)
        uuid = self.boot('host1')['id']
        request = self.live_migration.live_migrate(uuid, 'host2')

        def made() -> MigrationStatus | None:
            status = self.live_migration.get_migration_status(uuid, request)
            return status if status.id else None

        status = self.until('there is a migration', made)
        self.assertEqual('accepted', status.status)
        result = self.live_migration.abort_migration(uuid, status)
        self.assertEqual(AbortOutcome.REFUSED, result.outcome)
        self.assertIn('accepted', result.text)
        # As after a start of nova-compute.
        self.set_task(uuid)
        result = self.live_migration.abort_migration(uuid, status)
        self.assertEqual(AbortOutcome.REFUSED, result.outcome)
        self.set_task(uuid, 'migrating')
        go_on.set()
        self.abort(self.reach(uuid, status.uuid, 'running'))

    def set_task(self, uuid: str, state: str | None = None) -> None:
        instance = objects.Instance.get_by_uuid(_admin(), uuid)
        instance.task_state = state
        instance.save()


class TestProgress(_Slow):
    def test_what_a_driver_saves(self) -> None:
        uuid = self.boot('host1')['id']
        status = self.start(uuid)
        self.assertIsNone(status.progress)
        migration = objects.Migration.get_by_uuid(_admin(), status.uuid)
        migration.memory_total = 4 * GIB
        migration.memory_processed = 2 * GIB
        migration.memory_remaining = 3 * GIB
        migration.disk_total = 10 * GIB
        migration.disk_processed = 0
        migration.disk_remaining = 10 * GIB
        migration.save()
        wanted = Progress(4 * GIB, 2 * GIB, 3 * GIB, 10 * GIB, 0, 10 * GIB)
        # Nova's own schema of the answer has no room for a 0. It only
        # warns of that as it ships.
        found = self.live_migration.get_migration_status(uuid, status.uuid)
        self.assertEqual('running', found.status)
        self.assertIsNone(found.progress)
        self.flags(response_validation='warn', group='api')
        found = self.live_migration.get_migration_status(uuid, status.uuid)
        self.assertEqual(wanted, found.progress)
        self.assertEqual(
            '1.0 of 4.0 GiB memory, 0 of 10 GiB disk', str(found.progress)
        )
        migration.status = 'post-migrating'
        migration.save()
        found = self.live_migration.get_migration_status(uuid, status.uuid)
        self.assertEqual(wanted, found.progress)
        migration.status = 'running'
        migration.save()
        self.abort(found)


class TestAllocations(_Slow):
    def test_during_and_after(self) -> None:
        """One set before and after, two while it is on its way."""
        uuid = self.boot('host1', flavor_id=self.flavor())['id']
        mine = {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 3}
        held = self.placement_client.allocations_of
        self.assertEqual({'host1': mine}, held(uuid))
        status = self.start(uuid)
        self.assertEqual({'host2': mine}, held(uuid))
        self.assertEqual({'host1': mine}, held(status.uuid))
        for host in self.hosts:
            self.assertEqual(
                mine,
                {
                    name: room.used
                    for name, room in self._room(host).items()
                    if room.used
                },
            )
        self.abort(status)
        self.until('one set', lambda: held(uuid) == {'host1': mine})
        self.assertEqual({}, held(status.uuid))
        status = self.start(uuid)
        self.computes['host1'].manager.driver.live_migration_force_complete(
            objects.Instance.get_by_uuid(_admin(), uuid)
        )
        self.assertEqual('completed', self.ended(uuid, status.uuid).status)
        self.until('one set', lambda: not held(status.uuid))
        self.assertEqual({'host2': mine}, held(uuid))
        self.assertEqual({}, held('11111111-2222-3333-4444-555555555555'))

    def _room(self, host: str) -> Any:
        return self.placement_client.room_on(host)


class TestNested(base.NovaTestCase):
    compute_driver = 'fake.MediumFakeDriverWithNestedCustomResources'
    hosts = ('host1',)

    def test_what_is_taken_of_nested_providers(self) -> None:
        flavor = self._create_flavor(
            vcpu=1,
            memory_mb=512,
            disk=1,
            extra_spec={'resources:CUSTOM_MAGIC': '3'},
        )
        uuid = self.boot('host1', flavor_id=flavor)['id']
        found = self.placement_client.allocations_of(uuid)
        self.assertEqual(['host1'], list(found))
        self.assertEqual(3, found['host1']['CUSTOM_MAGIC'])
        self.assertEqual(1, found['host1']['VCPU'])


def _admin() -> Any:
    return context.get_admin_context()


def _run(
    driver: Any,
    ctxt: Any,
    instance: Any,
    dest: str,
    post_method: Any,
    recover_method: Any,
    block_migration: bool = False,
    migrate_data: Any = None,
) -> None:
    """Nova's fake gives up after 5 s, which may be too soon."""
    driver._abort_migration, driver._migrating = False, True
    deadline = time.monotonic() + LONG
    while driver._migrating and time.monotonic() < deadline:
        time.sleep(0.05)
    if driver._abort_migration:
        recover_method(
            ctxt, instance, dest, migrate_data, migration_status='cancelled'
        )
    else:
        post_method(ctxt, instance, dest, block_migration, migrate_data)
