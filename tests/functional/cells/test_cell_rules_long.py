# SPDX-License-Identifier: Apache-2.0
"""Moves between two cells of a real Nova, with what limits them.

Flavors, quotas, capacities, pins, groups and locks.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

from nova.scheduler import host_manager

from tests.functional.cells import cell_runs
from tests.functional.cells.cell_runs import NEXT_ACTION, QUERY


class TestResize(cell_runs.CellRunTestCase):
    """Nova chooses the host of a resize, so the old cell takes no servers."""

    def made(self, **more: Any) -> str:
        uuid = super().made(**more)
        self.disable('old1')
        self.disable('old2')
        return uuid

    def resized(
        self, uuid: str, flavor: str = 'm1.small', **settings: Any
    ) -> cell_runs.Outcome:
        return self.moved(uuid, parameters=self.resize(flavor), **settings)

    def resize(self, flavor: str) -> dict[str, Any]:
        """Input parameters of a move to another flavor."""
        flavors = self.get('/flavors?is_public=None')['flavors']
        ids = {one['name']: one['id'] for one in flavors}
        return {
            'mode': 'resize',
            'destination_flavor': flavor,
            'destination_flavor_id': ids[flavor],
        }

    def only(self, host: str) -> AbstractContextManager[Any]:
        """The scheduler takes no other host."""
        real = host_manager.HostManager.get_filtered_hosts

        def filtered(manager: Any, hosts: Any, *args: Any) -> list[Any]:
            found = real(manager, hosts, *args)
            return [one for one in found if one.host == host]

        return mock.patch.object(
            host_manager.HostManager, 'get_filtered_hosts', filtered
        )

    def test_by_the_map(self) -> None:
        uuid = self.made()
        with self.only('new2'):
            found = self.resized(uuid)
        self.is_there(uuid, found, 'new2', flavor='m1.small')

    def test_back_to_the_old_flavor(self) -> None:
        uuid = self.made(is_stopped=True, is_volume_backed=True)
        with self.spawns_otherwise('new1'), self.spawns_otherwise('new2'):
            found = self.resized(uuid)
        self.is_back(uuid, found, 'cell_check_failed', flavor='m1.tiny')

    @contextmanager
    def opened(self, host: str) -> Iterator[None]:
        """Somebody opens a host after all checks, before Nova is asked."""
        real = self.cell_migration.resize

        def ask(*args: str) -> str:
            self.disable(host, 'enabled')
            return real(*args)

        with mock.patch.object(self.cell_migration, 'resize', ask):
            yield

    def test_inside_the_cell(self) -> None:
        """Nova chose a host of the cell that the server has to leave."""
        uuid = self.made()
        with self.opened('old2'), self.only('old2'):
            found = self.resized(uuid)
        self.assertIn('it is in cell cell1', str(found.error))
        # As a move inside of a cell leaves them in Nova's fixture.
        del self.neutron._port_bindings[self.neutron.port_1['id']]['old2']
        self.is_back(uuid, found, 'cell_check_failed', flavor='m1.tiny')

    def test_over_quota(self) -> None:
        uuid = self.made()
        self.flags(ram=1024, group='quota')
        found = self.run_(self.told(uuid, **self.resize('m1.small')))
        self.is_back(uuid, found, 'quota_exceeded', flavor='m1.tiny')
        self.assertEqual(0, self.requests(uuid))

    def test_over_quota_after_all_checks(self) -> None:
        uuid = self.made()
        real = self.cell_migration.resize

        def ask(*args: str) -> str:
            self.flags(ram=1024, group='quota')
            return real(*args)

        with mock.patch.object(self.cell_migration, 'resize', ask):
            found = self.run_(self.told(uuid, **self.resize('m1.small')))
        self.is_back(uuid, found, 'quota_exceeded', flavor='m1.tiny')

    def test_its_project_is_at_its_quota(self) -> None:
        """Without another flavor Nova looks at no quota."""
        uuid = self.made()
        self.flags(ram=512, cores=1, instances=1, group='quota')
        self.is_there(uuid, self.moved(uuid))

    def test_the_way_back_is_over_quota(self) -> None:
        """To a smaller flavor; what that gives back is taken meanwhile."""
        self._create_flavor(
            vcpu=1, memory_mb=256, disk=1, ephemeral=0, name='half'
        )
        uuid = self.made()
        self.flags(ram=512, group='quota')
        other = self.resize('half')['destination_flavor_id']

        def take() -> None:
            self.server('new2', flavor=other, name='other')
            self.is_healthy = False

        self.when('VERIFY_RESIZE', take)
        found = self.resized(
            uuid, 'half', verify_query=QUERY, timing={'revert_timeout': 2}
        )
        self.assertEqual('cell_not_reverted', found.fault, found.error)
        self.is_(uuid, 'VERIFY_RESIZE')
        self.flags(ram=-1, group='quota')
        self.administrator.give(found.document['commands'])
        self.is_clean(uuid, 'old1', self.status, self.was, 'm1.tiny')

    def test_back_to_a_full_host(self) -> None:
        """Its room there is held for it, and given to nobody else."""
        sizes = {'half': 4000, 'rest': 3680, 'more': 3681}
        ids = {
            name: self._create_flavor(
                vcpu=1, memory_mb=size, disk=1, ephemeral=0, name=name
            )
            for name, size in sizes.items()
        }
        uuid = self.made(flavor=ids['half'])

        def fill() -> None:
            self.disable('old1', 'enabled')
            body = self._build_server(
                flavor_id=ids['more'], host='old1', networks='none'
            )
            self.is_(
                self.admin_api.post_server({'server': body})['id'], 'ERROR'
            )
            self.server('old1', flavor=ids['rest'], name='other')
            self.is_healthy = False

        self.when('VERIFY_RESIZE', fill)
        found = self.resized(uuid, 'rest', verify_query=QUERY)
        self.is_back(uuid, found, 'cell_check_failed', flavor='half')


class TestPins(cell_runs.CellRunTestCase):
    """Servers that are pinned to the zone of their cell."""

    UNPINNED = {'unpin_zone': True}

    def made(self, **more: Any) -> str:
        others = [host for host in self.computes if host != 'old1']
        for host in others:
            self.disable(host)
        uuid = super().made(zone='cell1', **more)
        for host in others:
            self.disable(host, 'enabled')
        self.is_pinned(uuid, 'cell1')
        return uuid

    def is_pinned(self, uuid: str, zone: str) -> None:
        self.assertEqual(zone, self.shown(uuid)['pinned_availability_zone'])

    def test_to_the_new_zone(self) -> None:
        uuid = self.made()
        self.is_there(uuid, self.moved(uuid, parameters=self.UNPINNED))
        self.is_pinned(uuid, 'cell2')

    def test_to_the_old_zone(self) -> None:
        uuid = self.made()
        self.is_healthy = False
        found = self.moved(uuid, parameters=self.UNPINNED, verify_query=QUERY)
        self.is_back(uuid, found, 'cell_check_failed')
        self.is_pinned(uuid, 'cell1')

    def test_to_the_old_zone_after_a_failure(self) -> None:
        uuid = self.made()
        with self.claim_fails('new1'):
            found = self.moved(uuid, parameters=self.UNPINNED)
        self.is_back(uuid, found, 'migration_failed')
        self.is_pinned(uuid, 'cell1')

    def test_it_has_to_stay(self) -> None:
        uuid = self.made()
        self.is_back(uuid, self.run_(self.told(uuid)), 'zone_pinned')
        self.is_pinned(uuid, 'cell1')
        self.assertEqual(0, self.requests(uuid))


class TestStaying(cell_runs.CellRunTestCase):
    """Servers that must not or cannot go."""

    def test_it_is_locked(self) -> None:
        uuid = self.made()
        self.act(uuid, 'lock')
        self.was['locked'] = True
        self.is_back(uuid, self.run_(self.told(uuid)), 'instance_locked')
        self.assertEqual(0, self.requests(uuid))

    def test_affinity(self) -> None:
        uuid = self.made(group=self.group('affinity'))
        self.is_back(uuid, self.run_(self.told(uuid)), 'group_rule')
        self.assertEqual(0, self.requests(uuid))

    def test_anti_affinity(self) -> None:
        """The second one must not go where the first one went."""
        group = self.group('anti-affinity')
        first = self.server('old2', group=group, name='first')
        uuid = self.made(group=group)
        found = self.moved(first)
        self.assertIsNone(found.error, found.error)
        again = self.told(uuid, action_uuid=NEXT_ACTION)
        self.is_back(uuid, self.run_(again), 'group_rule')
        self.assertEqual(0, self.requests(uuid))
        there = {**again, 'destination_node': 'new2'}
        self.is_there(uuid, self.run_(there), 'new2')
