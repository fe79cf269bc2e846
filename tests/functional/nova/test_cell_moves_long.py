# SPDX-License-Identifier: Apache-2.0
"""More moves between two cells of a real Nova, for whoever has the time."""

from typing import Any
from unittest import mock

from tests.functional.nova import cell_runs, test_cell_moves

ATTACHED = 'os-extended-volumes:volumes_attached'


class TestOthers(test_cell_moves._Moves):
    """The other half of the matrix."""

    def test_an_image_backed_one_that_is_stopped(self) -> None:
        self.there(is_stopped=True)

    def test_a_volume_backed_one_that_runs(self) -> None:
        self.there(is_volume_backed=True)

    def test_back_with_an_image_backed_one_that_runs(self) -> None:
        self.back()

    def test_back_with_a_volume_backed_one_that_is_stopped(self) -> None:
        self.back(is_stopped=True, is_volume_backed=True)


class TestResize(test_cell_moves._Moves):
    def setUp(self) -> None:
        super().setUp()
        for host in ('old1', 'old2'):
            self.disable(host)

    def parameters(self, flavor: str) -> dict[str, Any]:
        return {
            'mode': 'resize',
            'destination_flavor': flavor,
            'destination_flavor_id': self.flavor_id(flavor),
        }

    def flavor_id(self, name: str) -> str:
        flavors = self.get('/flavors')['flavors']
        return next(one['id'] for one in flavors if one['name'] == name)

    def server(self, *args: Any, **kwargs: Any) -> str:
        self.disable('old1', 'enabled')
        uuid = super().server(*args, **kwargs)
        self.disable('old1')
        return uuid

    def test_by_the_map(self) -> None:
        uuid, status, before = self._made(False, False)
        with self.only('new2'):
            found = self.moved(uuid, parameters=self.parameters('m1.small'))
        self.assertIsNone(found.error, found.error)
        self.assertIn('cell2/new2', found.remark)
        self.is_clean(uuid, 'new2', status, before, 'm1.small')

    def test_back_from_another_flavor(self) -> None:
        uuid, status, before = self._made(True, True)
        self.is_healthy = False
        found = self.moved(
            uuid,
            parameters=self.parameters('m1.small'),
            verify_query=cell_runs.QUERY,
        )
        self.assertEqual('cell_check_failed', found.fault)
        self.is_clean(uuid, 'old1', status, before, 'm1.tiny')

    def test_inside_the_cell(self) -> None:
        """Nova chose a host that it should not have."""
        uuid, status, before = self._made(False, False)
        with self.before('old1', 'get_available_nodes', lambda: None):
            self.disable('old2', 'enabled')
            with self.only('old2'):
                found = self.moved(
                    uuid, parameters=self.parameters('m1.small')
                )
        print('TOLD', found.error)
        self.assertEqual('cell_check_failed', found.fault)
        self.is_clean(uuid, 'old1', status, before, 'm1.tiny')

    def only(self, host: str) -> Any:
        """The scheduler takes this host."""
        from nova.scheduler import host_manager

        real = host_manager.HostManager.get_filtered_hosts

        def filtered(manager: Any, hosts: Any, *args: Any) -> Any:
            return [
                one
                for one in real(manager, hosts, *args)
                if one.host == host
            ]

        return mock.patch.object(
            host_manager.HostManager, 'get_filtered_hosts', filtered
        )

    def test_over_quota(self) -> None:
        uuid, status, before = self._made(False, False)
        self.flags(ram=1024, group='quota')
        found = self.run_(self.told(uuid, **self.parameters('m1.small')))
        print('TOLD', found.error)
        self.assertEqual('quota_exceeded', found.fault)
        self.is_clean(uuid, 'old1', status, before, 'm1.tiny')

    def test_a_move_at_the_quota(self) -> None:
        uuid, status, before = self._made(False, False)
        self.flags(ram=512, cores=1, instances=1, group='quota')
        found = self.moved(uuid)
        self.assertIsNone(found.error, found.error)
        self.is_clean(uuid, 'new1', status, before, 'm1.tiny')

    def test_the_way_back_is_over_quota(self) -> None:
        """To a smaller flavor; what that freed is taken meanwhile."""
        small = self._create_flavor(
            vcpu=1, memory_mb=256, disk=1, name='m0.small'
        )
        assert small
        uuid, status, before = self._made(False, False)
        self.flags(ram=512, group='quota')

        def take() -> None:
            super(TestResize, self).server(
                'new2', flavor=small, name='other'
            )
            self.is_healthy = False

        self.when('VERIFY_RESIZE', take)
        found = self.moved(
            uuid,
            parameters=self.parameters('m0.small'),
            verify_query=cell_runs.QUERY,
            timing={'revert_timeout': 3},
        )
        print('TOLD', found.error, found.commands)

    def test_at_capacity(self) -> None:
        """The room that it had is held, so that it can come back."""
        flavor = self._create_flavor(
            vcpu=1, memory_mb=4000, disk=1, name='half'
        )
        uuid = self.server(flavor=flavor)
        before = self.picture(uuid)

        def fill() -> None:
            self.disable('old1', 'enabled')
            other = self._create_flavor(vcpu=1, memory_mb=3600, disk=1)
            super(TestResize, self).server(flavor=other, name='other')
            self.is_healthy = False

        self.when('VERIFY_RESIZE', fill)
        found = self.moved(uuid, verify_query=cell_runs.QUERY)
        self.assertEqual('cell_check_failed', found.fault, found.error)
        self.is_clean(uuid, 'old1', 'ACTIVE', before, 'half')


class TestMeanwhile(test_cell_moves._Moves):
    def attach(self, uuid: str) -> str:
        volume = self.bootable_volume()
        self.admin_api.post_server_volume(
            uuid, {'volumeAttachment': {'volumeId': volume}}
        )
        self.until('attached', lambda: volume in self.volumes(uuid))
        return volume

    def detach(self, uuid: str, volume: str) -> None:
        self.admin_api.delete_server_volume(uuid, volume)
        self.until('detached', lambda: volume not in self.volumes(uuid))

    def volumes(self, uuid: str) -> list[str]:
        return [row['id'] for row in self.shown(uuid)[ATTACHED]]

    def test_a_volume_is_attached(self) -> None:
        uuid, status, before = self._made(False, False)
        self.when('VERIFY_RESIZE', lambda: self.attach(uuid))
        found = self.moved(uuid, verify_query=cell_runs.QUERY)
        print('TOLD', found.error, found.remark)
        host = self.host_of(uuid)
        self.is_clean(uuid, host, status, before, volumes=1)

    def test_a_volume_is_attached_and_back(self) -> None:
        uuid, status, before = self._made(False, False)

        def attach() -> None:
            self.attach(uuid)
            self.is_healthy = False

        self.when('VERIFY_RESIZE', attach)
        found = self.moved(uuid, verify_query=cell_runs.QUERY)
        print('TOLD', found.error, found.remark)
        self.is_clean(uuid, 'old1', status, before, volumes=1)

    def test_a_volume_is_detached_and_back(self) -> None:
        uuid, status, _ = self._made(False, True)
        volume = self.attach(uuid)
        before = self.picture(uuid)

        def detach() -> None:
            self.detach(uuid, volume)
            self.is_healthy = False

        self.when('VERIFY_RESIZE', detach)
        found = self.moved(uuid, verify_query=cell_runs.QUERY)
        print('TOLD', found.error, found.remark)
        self.is_clean(uuid, 'old1', status, before, volumes=1)

    def test_it_is_deleted(self) -> None:
        uuid, _, _ = self._made(False, True)
        self.when('VERIFY_RESIZE', lambda: self.admin_api.delete_server(uuid))
        found = self.moved(
            uuid, is_deleted=True, verify_query=cell_runs.QUERY,
            verify_seconds=20,
        )
        print('TOLD', found.error, found.remark)
        self.is_gone(uuid)
        self.assertEqual('instance_gone', found.fault)

    def test_it_is_deleted_early(self) -> None:
        uuid, _, _ = self._made(False, False)
        self.when('RESIZE', lambda: self.admin_api.delete_server(uuid))
        found = self.moved(uuid, is_deleted=True)
        print('TOLD', found.error, found.remark)
        self.assertEqual('instance_gone', found.fault)
        self.is_gone(uuid)

    def is_gone(self, uuid: str) -> None:
        self.until('no room', lambda: not self.room(uuid))
        self.assertEqual(set(), self.rows(uuid))
        self.assertEqual([], self.temporary_images())
        self.assertEqual({}, self.guests(uuid))
        for attachments in self.cinder.volume_to_attachment.values():
            self.assertEqual({}, attachments)

    def test_it_is_locked(self) -> None:
        uuid, status, before = self._made(False, False)
        self.when('RESIZE', lambda: self.act(uuid, 'lock'))
        found = self.moved(uuid)
        print('TOLD', found.error, found.remark)
        self.is_clean(uuid, 'new1', status, {**before, 'locked': True})

    def test_it_was_locked(self) -> None:
        uuid, status, _ = self._made(False, False)
        self.act(uuid, 'lock')
        before = self.picture(uuid)
        found = self.run_(self.told(uuid))
        print('TOLD', found.error, found.remark)
        self.is_clean(uuid, 'old1', status, before)
        self.assertEqual(0, self.requests(uuid))

    def test_confirmed_by_others(self) -> None:
        uuid, status, before = self._made(False, False)
        self.when('VERIFY_RESIZE', lambda: self.act(uuid, 'confirmResize'))
        found = self.moved(uuid, verify_query=cell_runs.QUERY, verify_seconds=5)
        print('TOLD', found.error, found.remark)
        self.is_clean(uuid, 'new1', status, before)

    def test_reverted_by_others(self) -> None:
        uuid, status, before = self._made(False, False)
        self.when('VERIFY_RESIZE', lambda: self.act(uuid, 'revertResize'))
        found = self.moved(uuid, verify_query=cell_runs.QUERY, verify_seconds=5)
        print('TOLD', found.error, found.remark)
        self.is_clean(uuid, 'old1', status, before)

    def cancel(self) -> None:
        self.is_cancelled = True

    def test_cancelled_before(self) -> None:
        uuid, status, before = self._made(False, False)
        self.cancel()
        found = self.run_(self.told(uuid))
        self.assertEqual('plan_cancelled', found.fault)
        self.assertEqual(0, self.requests(uuid))
        self.is_clean(uuid, 'old1', status, before)

    def test_cancelled_in_resize(self) -> None:
        uuid, status, before = self._made(False, False)
        self.when('RESIZE', self.cancel)
        found = self.moved(uuid)
        print('TOLD', found.error, found.remark)
        self.assertEqual('plan_cancelled', found.fault)
        self.is_clean(uuid, 'old1', status, before)

    def test_cancelled_in_verify(self) -> None:
        uuid, status, before = self._made(True, True)
        self.when('VERIFY_RESIZE', self.cancel)
        found = self.moved(uuid, verify_query=cell_runs.QUERY, verify_seconds=5)
        print('TOLD', found.error, found.remark)
        self.assertEqual('plan_cancelled', found.fault)
        self.is_clean(uuid, 'old1', status, before)

    def test_cancelled_after_confirm(self) -> None:
        uuid, status, before = self._made(False, False)
        with self.before('old1', 'cleanup', self.cancel):
            found = self.moved(uuid)
        self.assertIsNone(found.error, found.error)
        self.assertIn('completed instead of cancelled', found.remark)
        self.is_clean(uuid, 'new1', status, before)

    def test_by_hand(self) -> None:
        uuid, status, before = self._made(False, False)
        found = self.moved(uuid, parameters={'confirm': 'manual'})
        self.assertIsNone(found.error, found.error)
        self.assertIn(f'openstack server resize confirm {uuid}', found.remark)
        self.assertEqual('waits', found.document['outcome'])
        self.is_(uuid, 'VERIFY_RESIZE')
        self.act(uuid, 'confirmResize')
        self.is_clean(uuid, 'new1', status, before)


class Killed(BaseException):
    """The applier is no more."""


class TestKilled(test_cell_moves._Moves):
    def killed_at(self, status: str, **more: Any) -> None:
        for parameters in (
            {},
            {'action_uuid': cell_runs.NEXT_ACTION, 'finishes': cell_runs.ACTION},
        ):
            self.marks.clear()
            uuid, was, before = self._made(False, False)
            told = self.told(uuid)
            self.when(status, self.kill)
            with self.listed_once(uuid):
                self.assertRaises(Killed, self.run_, told, **more)
                found = self.run_({**told, **parameters}, **more)
            self.assertIsNone(found.error, found.error)
            print('TOLD', found.remark)
            self.is_clean(uuid, 'new1', was, before)
            self.assertEqual(1, self.requests(uuid))
            self.admin_api.delete_server(uuid)
            self.until('gone', lambda: not self.listed())

    def kill(self) -> None:
        raise Killed

    def test_resize(self) -> None:
        self.killed_at('RESIZE')

    def test_verify(self) -> None:
        self.killed_at('VERIFY_RESIZE', verify_query=cell_runs.QUERY)

    def test_confirming(self) -> None:
        uuid, was, before = self._made(False, False)
        told = self.told(uuid)
        real = self.cells.confirm

        def confirm(one: str) -> str:
            real(one)
            raise Killed

        with self.listed_once(uuid):
            with mock.patch.object(self.cells, 'confirm', confirm):
                self.assertRaises(Killed, self.run_, told)
            found = self.run_(told)
        self.assertIsNone(found.error, found.error)
        print('TOLD', found.remark)
        self.is_clean(uuid, 'new1', was, before)

    def test_reverting(self) -> None:
        uuid, was, before = self._made(False, False)
        told = self.told(uuid)
        real = self.cells.revert
        self.is_healthy = False

        def revert(one: str) -> str:
            real(one)
            raise Killed

        with self.listed_once(uuid):
            with mock.patch.object(self.cells, 'revert', revert):
                self.assertRaises(
                    Killed, self.run_, told, verify_query=cell_runs.QUERY
                )
            found = self.run_(told)
        print('TOLD', found.error)
        self.is_clean(uuid, 'old1', was, before)


class TestPins(test_cell_moves._Moves):
    def pinned(self) -> tuple[str, str, dict[str, Any]]:
        for host in ('old2', 'new1', 'new2'):
            self.disable(host)
        uuid = self.server(zone='cell1', port=self.neutron.port_1['id'])
        for host in ('old2', 'new1', 'new2'):
            self.disable(host, 'enabled')
        self.assertEqual('old1', self.host_of(uuid))
        return uuid, 'ACTIVE', self.picture(uuid)

    def zone(self, uuid: str) -> str:
        return self.shown(uuid)['pinned_availability_zone']

    def test_it_is_pinned_anew(self) -> None:
        uuid, status, before = self.pinned()
        found = self.moved(uuid, parameters={'unpin_zone': True})
        self.assertIsNone(found.error, found.error)
        self.is_clean(uuid, 'new1', status, before)
        self.assertEqual('cell2', self.zone(uuid))

    def test_it_is_pinned_again(self) -> None:
        uuid, status, before = self.pinned()
        self.is_healthy = False
        found = self.moved(
            uuid,
            parameters={'unpin_zone': True},
            verify_query=cell_runs.QUERY,
        )
        self.assertEqual('cell_check_failed', found.fault, found.error)
        self.is_clean(uuid, 'old1', status, before)
        self.assertEqual('cell1', self.zone(uuid))

    def test_it_is_pinned_again_after_a_failure(self) -> None:
        uuid, status, before = self.pinned()
        with self.spawn_fails('new1'):
            found = self.moved(uuid, parameters={'unpin_zone': True})
        print('TOLD', found.error)
        self.is_clean(uuid, 'old1', status, before)
        self.assertEqual('cell1', self.zone(uuid))

    def test_stuck_busy_and_pinned(self) -> None:
        uuid, status, before = self.pinned()
        with self.claim_fails('new1'):
            found = self.moved(uuid, parameters={'unpin_zone': True})
        print('TOLD', found.error)
        self.is_clean(uuid, 'old1', status, before)
        self.assertEqual('cell1', self.zone(uuid))

    def test_it_is_not_unpinned(self) -> None:
        uuid, status, before = self.pinned()
        found = self.run_(self.told(uuid))
        print('TOLD', found.error)
        self.is_clean(uuid, 'old1', status, before)
        self.assertEqual('cell1', self.zone(uuid))


class TestGroups(test_cell_moves._Moves):
    def test_anti_affinity(self) -> None:
        group = self.group('anti-affinity')
        first = self.server('old1', group=group)
        second = self.server('old2', group=group, name='second')
        before = self.picture(first), self.picture(second)
        found = self.moved(first)
        self.assertIsNone(found.error, found.error)
        self.is_clean(first, 'new1', 'ACTIVE', before[0])
        found = self.run_(
            self.told(second, 'new1', action_uuid=cell_runs.NEXT_ACTION)
        )
        print('TOLD', found.error)
        self.is_clean(second, 'old2', 'ACTIVE', before[1])

    def test_affinity(self) -> None:
        uuid = self.server('old1', group=self.group('affinity'))
        before = self.picture(uuid)
        found = self.run_(self.told(uuid))
        print('TOLD', found.error)
        self.is_clean(uuid, 'old1', 'ACTIVE', before)


class TestRefused(test_cell_moves._Moves):
    def test_the_policy_is_closed(self) -> None:
        from nova.policies import servers as policies

        uuid, status, before = self._made(False, False)
        self.policy.set_rules(
            {policies.CROSS_CELL_RESIZE: '!'}, overwrite=False
        )
        found = self.run_(self.told(uuid))
        print('TOLD', found.error)
        self.assertEqual('cell_closed', found.fault)
        self.is_clean(uuid, 'old1', status, before)
        self.assertEqual(0, self.requests(uuid))
