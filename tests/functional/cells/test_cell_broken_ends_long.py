# SPDX-License-Identifier: Apache-2.0
"""More of what Nova leaves of moves that fail."""

from typing import Any
from unittest import mock

from tests.functional.cells import cell_runs
from tests.functional.cells.test_cell_broken_ends import (
    REBOOT,
    SET,
    STOP,
    EndsTestCase,
)


class TestBeforeItLeaves(EndsTestCase):
    """Nova gives up while the server is on its old host."""

    def test_the_scheduler_refuses(self) -> None:
        uuid = self.made()
        found = self.fails(
            uuid, self.scheduler_refuses(), 'destination_refused'
        )
        self.assertIn('No valid host', str(found.error))
        self.is_mended(uuid, found)
        self.goes_then(uuid)

    def test_the_destination_has_no_room(self) -> None:
        uuid = self.made(is_volume_backed=True)
        found = self.fails(uuid, self.claim_fails('new1'))
        self.is_mended(uuid, found, SET)
        self.goes_then(uuid)

    def test_a_port_is_not_bound(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.binding_fails())
        self.is_mended(uuid, found, SET)

    def test_the_destination_does_not_answer(self) -> None:
        uuid = self.made(is_stopped=True, is_volume_backed=True)
        found = self.fails(uuid, self.preparation_times_out())
        self.is_mended(uuid, found, SET, STOP)

    def test_it_is_not_powered_off(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.power_off_fails('old1'))
        self.is_mended(uuid, found)

    def test_no_snapshot_of_a_stopped_one(self) -> None:
        uuid = self.made(is_stopped=True)
        found = self.fails(uuid, self.snapshot_fails('old1'))
        self.is_mended(uuid, found)

    def test_no_snapshot_and_a_power_sync(self) -> None:
        """Nova has stopped it before Kronos looks."""
        uuid = self.made()
        self.flags(sync_power_state_interval=1)
        found = self.fails(
            uuid, self.snapshot_fails('old1'), timing={'agree_seconds': 5}
        )
        self.is_mended(uuid, found, REBOOT)

    def test_it_is_only_told(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.snapshot_fails('old1'), recovers=False)
        self.assertEqual([], found.document['mended'])
        self.administrator.give(found.document['commands'])
        self.is_clean(uuid, 'old1', self.status, self.was)


class TestOnItsWay(EndsTestCase):
    """Nova gives up when the guest is gone from its old host."""

    def test_it_is_not_destroyed(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.destroy_fails('old1'))
        self.is_mended(uuid, found, REBOOT)

    def test_a_stopped_one_is_not_spawned(self) -> None:
        uuid = self.made(is_stopped=True)
        found = self.fails(uuid, self.spawn_fails('new1'))
        self.is_mended(uuid, found, REBOOT, STOP)
        self.goes_then(uuid)

    def test_volumes_do_not_connect(self) -> None:
        uuid = self.made(is_volume_backed=True)
        found = self.fails(uuid, self.volumes_fail('new1'))
        self.is_mended(uuid, found, REBOOT)
        self.goes_then(uuid)

    def test_volumes_of_a_stopped_one_do_not_connect(self) -> None:
        uuid = self.made(is_stopped=True, is_volume_backed=True)
        found = self.fails(uuid, self.volumes_fail('new1'))
        self.is_mended(uuid, found, REBOOT, STOP)

    def test_the_source_restarts(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.compute_restarts('old1', uuid))
        self.is_mended(uuid, found, REBOOT)

    def test_the_conductor_dies_early(self) -> None:
        self.is_stuck('resize_prep', is_stopped=True)

    def test_the_conductor_dies_with_volumes(self) -> None:
        self.is_stuck('resize_migrated', is_volume_backed=True)

    def test_a_copy_is_in_the_way(self) -> None:
        """Nobody took it out of the new cell."""
        uuid = self.made()
        found = self.fails(
            uuid,
            self.conductor_dies('resize_prep'),
            'cell_stuck',
            timing={'move_timeout': 5},
        )
        self.left_busy = ()
        commands = found.document['commands']
        self.administrator.give(
            [one for one in commands if 'hidden_copy' not in one]
        )
        again = self.moved(
            uuid,
            parameters={'action_uuid': cell_runs.NEXT_ACTION},
            moves=2,
        )
        self.assertEqual('cell_copy_left', again.fault, again.error)
        self.administrator.give(again.document['commands'])
        self.is_clean(uuid, 'old1', self.status, self.was)


class TestAtItsEnd(EndsTestCase):
    """It is confirmed or taken back, and that fails."""

    def test_the_source_is_not_cleaned(self) -> None:
        self.is_half_confirmed(self.made())

    def test_it_does_not_come_back(self) -> None:
        uuid = self.made(is_volume_backed=True)
        self.is_healthy = False
        found = self.fails(
            uuid,
            self.return_fails('old1'),
            'cell_check_failed',
            verify_query=cell_runs.QUERY,
        )
        self.is_mended(uuid, found, REBOOT)

    def test_the_source_is_down(self) -> None:
        uuid = self.made()
        with self.before('new1', 'spawn', lambda: self.force_down('old1')):
            found = self.moved(uuid, timing={'confirm_timeout': 1})
        self.assertEqual('cell_not_confirmed', found.fault, found.error)
        self.is_(uuid, 'VERIFY_RESIZE')
        self.force_down('old1', False)
        self.administrator.give(found.document['commands'])
        self.is_clean(uuid, 'new1', self.status, self.was)

    def test_the_source_is_down_for_a_while(self) -> None:
        uuid = self.made()
        self.when('VERIFY_RESIZE', lambda: self.force_down('old1', False))
        with self.before('new1', 'spawn', lambda: self.force_down('old1')):
            found = self.moved(uuid)
        self.is_there(uuid, found)

    def test_the_source_has_no_database_for_a_while(self) -> None:
        uuid = self.made()
        with self.confirmed_in_vain('cell1', 2):
            found = self.moved(uuid)
        self.is_there(uuid, found)


class TestDeletedOnItsWay(EndsTestCase):
    """Its owner deletes it, and Nova does not clean up behind that."""

    def deleted_before(self, host: str, method: str) -> None:
        uuid = self.made()
        deed = self.admin_api.delete_server
        with self.before(host, method, lambda: deed(uuid)):
            found = self.run_(self.told(uuid))
        self.assertEqual('instance_gone', found.fault, found.error)
        self.assertEqual('skipped', found.document['outcome'])
        self.is_gone(uuid, found)

    def test_before_it_is_off(self) -> None:
        self.deleted_before('old1', 'power_off')

    def test_before_it_is_destroyed(self) -> None:
        self.deleted_before('old1', 'destroy')

    def test_it_is_there_again(self) -> None:
        """Its old host deletes it when the new one has it already."""
        uuid = self.made()
        manager = self.computes['old1'].manager
        real = manager._delete_instance

        def late(*args: Any, **kwargs: Any) -> None:
            self.until('it is there', lambda: self.host_of(uuid) == 'new1')
            real(*args, **kwargs)

        delete = self.admin_api.delete_server
        with (
            mock.patch.object(manager, '_delete_instance', late),
            self.before('new1', 'spawn', lambda: delete(uuid)),
        ):
            found = self.run_(self.told(uuid))
        self.assertEqual('cell_check_failed', found.fault, found.error)
        self.assertIn('deleted while it moved', str(found.error))
        self.is_gone(uuid, found)
