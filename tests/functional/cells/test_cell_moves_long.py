# SPDX-License-Identifier: Apache-2.0
"""More moves between two cells of a real Nova."""

from unittest import mock

from tests.functional.cells import cell_runs
from tests.functional.cells.cell_runs import ACTION, NEXT_ACTION, QUERY


class TestOtherMoves(cell_runs.CellRunTestCase):
    def test_an_image_backed_one_that_is_stopped(self) -> None:
        uuid = self.made(is_stopped=True)
        self.is_there(uuid, self.moved(uuid))

    def test_a_volume_backed_one_that_runs(self) -> None:
        uuid = self.made(is_volume_backed=True)
        self.is_there(uuid, self.moved(uuid, verify_query=QUERY))

    def test_back_with_an_image_backed_one_that_runs(self) -> None:
        uuid = self.made()
        with self.spawns_otherwise('new1'):
            found = self.moved(uuid)
        self.is_back(uuid, found, 'cell_check_failed')

    def test_back_with_a_volume_backed_one_that_is_stopped(self) -> None:
        uuid = self.made(is_stopped=True, is_volume_backed=True)
        with self.spawns_otherwise('new1'):
            found = self.moved(uuid)
        self.is_back(uuid, found, 'cell_check_failed')

    def test_there_back_and_there_again(self) -> None:
        """Nothing of the first move is in the way of the next ones."""
        uuid = self.made()
        self.is_healthy = False
        first = self.moved(uuid, verify_query=QUERY)
        self.is_back(uuid, first, 'cell_check_failed')
        second = self.moved(
            uuid, parameters={'action_uuid': NEXT_ACTION}, moves=2
        )
        self.assertIsNone(second.error, second.error)
        self.is_clean(uuid, 'new1', self.status, self.was)
        third = self.moved(
            uuid, 'old2', parameters={'action_uuid': 'third'}, moves=3
        )
        self.assertIsNone(third.error, third.error)
        self.is_clean(uuid, 'old2', self.status, self.was)

    def test_it_waits_for_an_operator(self) -> None:
        uuid = self.made()
        found = self.moved(uuid, parameters={'confirm': 'manual'})
        self.assertIsNone(found.error, found.error)
        self.assertEqual('waits', found.document['outcome'])
        self.is_(uuid, 'VERIFY_RESIZE')
        self.assertIn(f'openstack server resize confirm {uuid}', found.remark)
        self.administrator.give(found.document['commands'])
        self.is_clean(uuid, 'new1', self.status, self.was)


class TestMeanwhile(cell_runs.CellRunTestCase):
    """What others do while a server moves."""

    def test_a_volume_is_attached(self) -> None:
        uuid = self.made()
        self.when('VERIFY_RESIZE', lambda: self.attach(uuid))
        found = self.moved(uuid, verify_query=QUERY)
        self.is_there(uuid, found, volumes=1)

    def test_a_volume_is_attached_before_it_goes_back(self) -> None:
        uuid = self.made(is_volume_backed=True)

        def attach() -> None:
            self.attach(uuid)
            self.is_healthy = False

        self.when('VERIFY_RESIZE', attach)
        found = self.moved(uuid, verify_query=QUERY)
        self.is_back(uuid, found, 'cell_check_failed', volumes=2)

    def test_a_volume_is_detached(self) -> None:
        uuid = self.made(is_volume_backed=True)
        volume = self.attach(uuid)
        self.when('VERIFY_RESIZE', lambda: self.detach(uuid, volume))
        found = self.moved(uuid, verify_query=QUERY)
        self.is_there(uuid, found, volumes=1)

    def test_a_volume_is_detached_before_it_goes_back(self) -> None:
        uuid = self.made()
        volume = self.attach(uuid)

        def detach() -> None:
            self.detach(uuid, volume)
            self.is_healthy = False

        self.when('VERIFY_RESIZE', detach)
        found = self.moved(uuid, verify_query=QUERY)
        self.is_back(uuid, found, 'cell_check_failed', volumes=0)

    def test_it_is_locked(self) -> None:
        """An administrator passes by the lock, which stays."""
        uuid = self.made()
        self.when('VERIFY_RESIZE', lambda: self.act(uuid, 'lock'))
        found = self.moved(uuid, verify_query=QUERY)
        self.was['locked'] = True
        self.is_there(uuid, found)

    def test_confirmed_by_somebody_else(self) -> None:
        uuid = self.made()
        self.when('VERIFY_RESIZE', lambda: self.act(uuid, 'confirmResize'))
        found = self.moved(uuid, verify_query=QUERY, verify_seconds=3)
        self.is_there(uuid, found)

    def test_reverted_by_somebody_else(self) -> None:
        uuid = self.made()
        self.when('VERIFY_RESIZE', lambda: self.act(uuid, 'revertResize'))
        found = self.moved(uuid, verify_query=QUERY, verify_seconds=3)
        self.is_back(uuid, found, 'aborted')

    def test_cancelled_before(self) -> None:
        uuid = self.made()
        self.cancel()
        self.is_back(uuid, self.run_(self.told(uuid)), 'plan_cancelled')
        self.assertEqual(0, self.requests(uuid))

    def test_cancelled_in_resize(self) -> None:
        uuid = self.made()
        self.when('RESIZE', self.cancel)
        self.is_back(uuid, self.moved(uuid), 'plan_cancelled')

    def test_cancelled_in_verify_resize(self) -> None:
        uuid = self.made(is_volume_backed=True)
        self.when('VERIFY_RESIZE', self.cancel)
        found = self.moved(uuid, verify_query=QUERY, verify_seconds=60)
        self.is_back(uuid, found, 'plan_cancelled')

    def test_cancelled_after_its_confirmation(self) -> None:
        uuid = self.made()
        with self.before('old1', 'cleanup', self.cancel):
            found = self.moved(uuid)
        self.assertIn('completed instead of cancelled', found.remark)
        self.is_there(uuid, found)


class Killed(BaseException):
    """The applier is no more."""


class TestKilled(cell_runs.CellRunTestCase):
    """The applier dies, and an action finishes what was begun."""

    def kill(self, *args: object) -> None:
        raise Killed

    def finished(self, status: str, **parameters: str) -> None:
        """It is killed at a status of the server, and then finished.

        :param parameters: of the action that finishes it
        """
        uuid = self.made()
        told = self.told(uuid)
        self.when(status, self.kill)
        with self.listed_once(uuid):
            self.assertRaises(Killed, self.run_, told, verify_query=QUERY)
            found = self.run_({**told, **parameters}, verify_query=QUERY)
        self.is_there(uuid, found)

    def test_in_resize(self) -> None:
        self.finished('RESIZE')

    def test_in_resize_by_the_next_plan(self) -> None:
        self.finished('RESIZE', action_uuid=NEXT_ACTION, finishes=ACTION)

    def test_in_verify_resize(self) -> None:
        self.finished('VERIFY_RESIZE')

    def test_in_verify_resize_by_the_next_plan(self) -> None:
        self.finished(
            'VERIFY_RESIZE', action_uuid=NEXT_ACTION, finishes=ACTION
        )

    def test_confirming(self) -> None:
        uuid = self.made()
        told = self.told(uuid)
        with self.listed_once(uuid):
            with self.killed_after('confirm'):
                self.assertRaises(Killed, self.run_, told)
            found = self.run_(told)
        self.is_there(uuid, found)

    def test_reverting(self) -> None:
        uuid = self.made()
        told = self.told(uuid)
        self.is_healthy = False
        with self.listed_once(uuid):
            with self.killed_after('revert'):
                self.assertRaises(Killed, self.run_, told, verify_query=QUERY)
            found = self.run_(told, verify_query=QUERY)
        self.is_back(uuid, found, 'aborted')

    def killed_after(self, what: str) -> mock._patch[object]:
        """As soon as Nova has taken the request."""
        real = getattr(self.cell_migration, what)

        def ask(uuid: str) -> None:
            real(uuid)
            raise Killed

        return mock.patch.object(self.cell_migration, what, ask)
