# SPDX-License-Identifier: Apache-2.0
"""What Nova leaves of moves that fail, and what Kronos makes of it."""

from contextlib import AbstractContextManager
from typing import Any, ClassVar

from tests.functional.cells import cell_runs
from tests.functional.cells.cell_runs import NEXT_ACTION

REBOOT, STOP, SET = 'reboot --hard', 'stop', 'set --state active'


class EndsTestCase(cell_runs.CellRunTestCase):
    """One server that is moved while there is trouble."""

    patience: ClassVar[float] = 5

    def fails(
        self,
        uuid: str,
        trouble: AbstractContextManager[Any],
        fault: str = 'migration_failed',
        **settings: Any,
    ) -> cell_runs.Outcome:
        with trouble:
            found = self.moved(uuid, **settings)
        self.assertEqual(fault, found.fault, found.error or found.remark)
        self.assertEqual('failed', found.document['outcome'])
        self.assertEqual(1, self.requests(uuid))
        return found

    def mended(self, uuid: str, found: cell_runs.Outcome) -> list[str]:
        """What Kronos itself has done."""
        done = [one.partition(': ')[2] for one in found.document['mended']]
        return [
            one.removeprefix('openstack server ').removesuffix(f' {uuid}')
            for one in done
        ]

    def is_mended(
        self, uuid: str, found: cell_runs.Outcome, *what: str
    ) -> None:
        """It is whole again, by these commands, and an administrator's."""
        self.assertEqual([*what], self.mended(uuid, found))
        self.is_(uuid, self.status)
        self.administrator.give(found.document['commands'])
        self.is_clean(uuid, 'old1', self.status, self.was)

    def goes_then(self, uuid: str) -> None:
        """Nothing is in the way of another action."""
        found = self.moved(
            uuid, parameters={'action_uuid': NEXT_ACTION}, moves=2
        )
        self.assertIsNone(found.error, found.error)
        self.is_clean(uuid, 'new1', self.status, self.was)

    def is_stuck(self, task: str, **more: Any) -> None:
        """A conductor dies, and its commands help.

        :param task: that the server keeps
        :param more: of :meth:`made`
        """
        uuid = self.made(**more)

        def let_time_pass() -> None:
            self.until(
                f'it is {task}',
                lambda: self.shown(uuid)['OS-EXT-STS:task_state'] == task,
            )
            self.ahead = 3600

        self.when('RESIZE', let_time_pass)
        found = self.fails(uuid, self.conductor_dies(task), 'cell_stuck')
        self.ahead = 0
        self.assertIn(f'it is RESIZE ({task}) on old1', str(found.error))
        self.assertEqual([], found.document['mended'])
        self.administrator.give(found.document['commands'])
        self.left_busy = ()
        self.is_clean(uuid, 'old1', self.status, self.was)
        self.goes_then(uuid)

    def is_half_confirmed(self, uuid: str, *what: str) -> None:
        """It is there, and a copy of it is left behind."""
        found = self.fails(uuid, self.cleanup_fails('old1'), 'cell_copy_left')
        self.assertEqual([REBOOT, *what], self.mended(uuid, found))
        self.administrator.give(found.document['commands'])
        self.is_clean(uuid, 'new1', self.status, self.was)


class TestEnds(EndsTestCase):
    """Those of each kind; the others take the long run."""

    def test_the_destination_has_no_room_for_a_stopped_one(self) -> None:
        uuid = self.made(is_stopped=True)
        found = self.fails(uuid, self.claim_fails('new1'))
        self.is_mended(uuid, found, SET, STOP)
        self.goes_then(uuid)

    def test_no_snapshot(self) -> None:
        uuid = self.made()
        found = self.fails(uuid, self.snapshot_fails('old1'))
        self.is_mended(uuid, found, REBOOT)

    def test_it_is_not_spawned(self) -> None:
        uuid = self.made(is_volume_backed=True)
        found = self.fails(uuid, self.spawn_fails('new1'))
        self.is_mended(uuid, found, REBOOT)

    def test_the_conductor_dies(self) -> None:
        self.is_stuck('resize_migrated')

    def test_the_source_is_not_cleaned(self) -> None:
        uuid = self.made(is_stopped=True, is_volume_backed=True)
        self.is_half_confirmed(uuid, STOP)

    def test_it_does_not_come_back(self) -> None:
        uuid = self.made(is_stopped=True)
        with self.spawns_otherwise('new1'):
            found = self.fails(
                uuid, self.return_fails('old1'), 'cell_check_failed'
            )
        self.is_mended(uuid, found, REBOOT, STOP)
