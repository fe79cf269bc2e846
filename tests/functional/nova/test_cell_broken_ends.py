# SPDX-License-Identifier: Apache-2.0
"""What Nova leaves of moves that fail, and what Kronos makes of it."""

from contextlib import AbstractContextManager
from typing import Any

from tests.functional.nova import administrator, cell_runs


class EndsTestCase(cell_runs.CellRunTestCase):
    def made(self, is_stopped: bool = False, **more: Any) -> str:
        """The uuid of a new server, which is looked at afterwards."""
        port = self.neutron.port_1['id']
        uuid = self.server(port=port, is_stopped=is_stopped, **more)
        self.status = 'SHUTOFF' if is_stopped else 'ACTIVE'
        self.before_move = self.picture(uuid)
        return uuid

    def fails(
        self,
        uuid: str,
        trouble: AbstractContextManager[Any],
        fault: str = 'migration_failed',
        **settings: Any,
    ) -> cell_runs.Outcome:
        """It is moved while there is trouble."""
        with trouble:
            found = self.moved(uuid, **settings)
        print('TOLD', found.error, found.document['mended'], found.commands)
        self.assertEqual(fault, found.fault, found.error)
        self.assertEqual('failed', found.document['outcome'])
        self.assertEqual(1, self.requests(uuid))
        return found

    def is_as_before(self, uuid: str) -> None:
        """It is whole, on its old host."""
        self.is_clean(uuid, 'old1', self.status, self.before_move)

    def is_mended(
        self, uuid: str, found: cell_runs.Outcome, *what: str
    ) -> None:
        """It is whole again, by these commands."""
        self.is_as_before(uuid)
        done = [one.partition(': ')[2] for one in found.document['mended']]
        self.assertEqual(
            [f'openstack server {one} {uuid}' for one in what], done
        )
        self.assertEqual([], found.document['commands'])


REBOOT, STOP, SET = 'reboot --hard', 'stop', 'set --state active'


class TestEnds(EndsTestCase):
    def test_the_scheduler_refuses(self) -> None:
        uuid = self.made()
        found = self.fails(
            uuid, self.scheduler_refuses(), 'destination_refused'
        )
        self.assertIn('No valid host', str(found.error))
        self.is_mended(uuid, found)

    def test_the_destination_has_no_room(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.claim_fails('new1'))
        self.is_mended(uuid, found, SET)

    def test_the_destination_has_no_room_for_a_stopped_one(self) -> None:
        uuid = self.made(is_stopped=True)
        found = self.fails(uuid, self.claim_fails('new1'))
        self.is_mended(uuid, found, SET, STOP)

    def test_a_port_is_not_bound(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.binding_fails())
        self.is_mended(uuid, found, SET)

    def test_the_destination_does_not_answer(self) -> None:
        uuid = self.made(is_volume_backed=True)
        found = self.fails(uuid, self.preparation_times_out())
        self.is_mended(uuid, found, SET)

    def test_it_is_not_powered_off(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.power_off_fails('old1'))
        self.is_mended(uuid, found)

    def test_no_snapshot(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.snapshot_fails('old1'))
        self.is_mended(uuid, found, REBOOT)

    def test_no_snapshot_of_a_stopped_one(self) -> None:
        uuid = self.made(is_stopped=True)
        found = self.fails(uuid, self.snapshot_fails('old1'))
        self.is_mended(uuid, found)

    def test_it_is_not_destroyed(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.destroy_fails('old1'))
        self.is_mended(uuid, found, REBOOT)

    def test_it_is_not_spawned(self) -> None:
        uuid = self.made(is_volume_backed=True)
        found = self.fails(uuid, self.spawn_fails('new1'))
        self.is_mended(uuid, found, REBOOT)

    def test_a_stopped_one_is_not_spawned(self) -> None:
        uuid = self.made(is_stopped=True)
        found = self.fails(uuid, self.spawn_fails('new1'))
        self.is_mended(uuid, found, REBOOT, STOP)

    def test_volumes_do_not_connect(self) -> None:
        uuid = self.made(is_volume_backed=True)
        found = self.fails(uuid, self.volumes_fail('new1'))
        self.is_mended(uuid, found, REBOOT)

    def test_the_source_restarts(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.compute_restarts('old1', uuid))
        self.is_mended(uuid, found, REBOOT)

    def conductor_dies_at(self, task: str, **more: Any) -> None:
        """It is stuck, and whole after what Kronos names was done."""
        uuid = self.made(**more)
        found = self.fails(
            uuid,
            self.conductor_dies(task),
            'cell_stuck',
            timing={'move_timeout': 2},
        )
        self.assertIn(
            f'(RESIZE {task})',
            str(found.error).replace('RESIZE (', '(RESIZE '),
        )
        administrator.Administrator(self).give(found.document['commands'])
        self.left_busy = ()
        self.is_as_before(uuid)
        # Another action, since this one asks no second time.
        again = self.moved(
            uuid, parameters={'action_uuid': cell_runs.NEXT_ACTION}, moves=2
        )
        self.assertIsNone(again.error, again.error)
        self.is_clean(uuid, 'new1', self.status, self.before_move)

    def test_the_conductor_dies(self) -> None:
        self.conductor_dies_at('resize_prep')

    def test_the_conductor_dies_later(self) -> None:
        self.conductor_dies_at('resize_migrated')

    def test_the_conductor_dies_a(self) -> None:
        self.conductor_dies_at('resize_prep', is_stopped=True)

    def test_the_conductor_dies_b(self) -> None:
        self.conductor_dies_at('resize_migrated', is_volume_backed=True)

    def test_the_conductor_dies_not_repaired(self) -> None:
        """Nobody has taken the copy out of the new cell."""
        uuid = self.made()
        found = self.fails(
            uuid,
            self.conductor_dies('resize_prep'),
            'cell_stuck',
            timing={'move_timeout': 2},
        )
        self.left_busy = ()
        commands = [
            one
            for one in found.document['commands']
            if one.startswith('openstack') or 'heal' in one
        ]
        administrator.Administrator(self).give(commands)
        again = self.moved(
            uuid, parameters={'action_uuid': cell_runs.NEXT_ACTION}, moves=2
        )
        print('AGAIN', again.error, again.document['mended'], again.commands)
        self.assertEqual('cell_copy_left', again.fault)
        administrator.Administrator(self).give(again.document['commands'])
        self.is_as_before(uuid)

    def test_the_source_is_not_cleaned(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.cleanup_fails('old1'), 'cell_copy_left')
        self.is_(uuid, 'ACTIVE')

    def test_the_source_of_a_stopped_one_is_not_cleaned(self) -> None:
        uuid = self.made(is_stopped=True, is_volume_backed=True)
        found = self.fails(uuid, self.cleanup_fails('old1'), 'cell_copy_left')
        self.is_(uuid, 'SHUTOFF')
        print('ATTACH', self.cinder.volume_to_attachment)

    def test_it_does_not_come_back(self) -> None:
        uuid = self.made()
        self.is_healthy = False
        found = self.fails(
            uuid,
            self.return_fails('old1'),
            'cell_check_failed',
            verify_query=cell_runs.QUERY,
        )
        self.is_mended(uuid, found, REBOOT)

    def test_a_stopped_one_does_not_come_back(self) -> None:
        uuid = self.made(is_stopped=True)
        self.is_healthy = False
        found = self.fails(
            uuid,
            self.return_fails('old1'),
            'cell_check_failed',
            verify_query=cell_runs.QUERY,
        )
        self.is_mended(uuid, found, REBOOT, STOP)

    def test_the_source_is_down(self) -> None:
        uuid = self.made()
        with self.before('new1', 'spawn', lambda: self.force_down('old1')):
            found = self.moved(uuid, timing={'confirm_timeout': 2})
        print('TOLD', found.error, found.document['mended'], found.commands)
        self.assertEqual('cell_not_confirmed', found.fault)
        self.is_(uuid, 'VERIFY_RESIZE')

    def test_the_source_is_down_for_a_while(self) -> None:
        uuid = self.made()
        self.when('VERIFY_RESIZE', lambda: self.force_down('old1', False))
        with self.before('new1', 'spawn', lambda: self.force_down('old1')):
            found = self.moved(uuid)
        self.assertIsNone(found.error, found.error)
        self.is_clean(uuid, 'new1', self.status, self.before_move)
