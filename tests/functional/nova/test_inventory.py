# SPDX-License-Identifier: Apache-2.0
"""Reading a real Nova and Placement."""

import time
from typing import Any

import fixtures

from kronos.clients.nova import schema, server_listing, server_lives
from kronos.engine.types import Headroom
from tests.functional.nova import base

GIB = 1024


class TestInventory(base.NovaTestCase):
    def test_hosts(self) -> None:
        hosts = self.nova.list_compute_hosts()
        self.assertEqual(list(self.hosts), sorted(h.name for h in hosts))
        self.assertEqual(list(self.hosts), sorted(h.node for h in hosts))
        self.assertEqual({'fake'}, {h.hypervisor_type for h in hosts})
        # What Nova's fake driver says.
        self.assertEqual({1000}, {h.hypervisor_version for h in hosts})

    def test_one_host(self) -> None:
        host = self.nova.get_compute_host('host2')
        assert host is not None
        self.assertEqual(('host2', 'host2'), (host.name, host.node))
        # Nova's search knows nodes that are like it, or none.
        for name in ('host', 'nowhere'):
            self.assertIsNone(self.nova.get_compute_host(name))

    def test_a_host_with_a_node_of_another_name(self) -> None:
        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.virt.fake.FakeDriver.get_available_nodes',
                lambda driver, refresh=False: ['rack-7'],
            )
        )
        self._start_compute('odd')
        host = self.nova.get_compute_host('odd')
        assert host is not None
        self.assertEqual(('odd', 'rack-7'), (host.name, host.node))

    def test_services(self) -> None:
        self.set_service('host1', status='disabled', disabled_reason='disk')
        self.set_service('host2', forced_down=True)
        services = self.nova.list_compute_services()
        # The conductor and the scheduler are no part.
        self.assertEqual(list(self.hosts), sorted(services))
        self.assertEqual('disk', services['host1'].disabled_reason)
        self.assertEqual('disabled', services['host1'].status)
        self.assertEqual('up', services['host1'].state)
        self.assertTrue(services['host2'].forced_down)
        self.assertEqual('down', services['host2'].state)
        self.assertEqual(
            ['host3'], [h for h, s in services.items() if s.is_available]
        )
        self.assertEqual('nova', services['host3'].zone)
        self.assertEqual(services['host1'], self.nova.get_service('host1'))
        self.assertIsNone(self.nova.get_service('nowhere'))

    def test_aggregates(self) -> None:
        gold = self.admin_api.post_aggregate(
            {'aggregate': {'name': 'gold', 'availability_zone': 'az1'}}
        )
        self.admin_api.add_host_to_aggregate(gold['id'], 'host1')
        self.admin_api.post_aggregate({'aggregate': {'name': 'empty'}})
        found = {one.name: one for one in self.nova.list_aggregates()}
        self.assertEqual({'empty', 'gold'}, set(found))
        aggregate = found['gold']
        self.assertEqual(gold['id'], aggregate.id)
        self.assertEqual(gold['uuid'], aggregate.uuid)
        self.assertEqual(['host1'], aggregate.hosts)
        self.assertEqual({'availability_zone': 'az1'}, aggregate.metadata)
        self.assertEqual('az1', aggregate.availability_zone)
        self.assertEqual([], found['empty'].hosts)

    def test_lives(self) -> None:
        """Also of servers that are gone, which end a page, too."""
        self.flags(max_limit=2, group='api')
        began = time.time() - 1
        booted = [self.boot('host1') for _ in range(3)]
        for server in booted[1:]:
            self._delete_server(server)
        nova = self.nova.api
        lives = {
            life.instance.uuid: life
            for life in server_lives.listing(nova, began)
        }
        self.assertEqual({server['id'] for server in booted}, set(lives))
        for number, server in enumerate(booted):
            life = lives[server['id']]
            self.assertEqual('host1', life.instance.host)
            self.assertGreater(life.instance.vcpus, 0)
            self.assertTrue(began <= life.instance.created <= time.time())
            if number == 0:
                self.assertIsNone(life.gone)
            else:
                assert life.gone is not None
                self.assertTrue(
                    life.instance.created <= life.gone <= time.time() + 1
                )
        later = time.time() + 100
        self.assertEqual([], [*server_lives.listing(nova, later)])

    def test_instances(self) -> None:
        # Three pages, so that the marker is followed.
        self.flags(max_limit=2, group='api')
        flavor = self.flavor(**{'hw:numa_nodes': '1'})
        booted = self.boot('host1', name='web', flavor_id=flavor)
        others = [self.boot('host2') for _ in range(4)]
        self.admin_api.put_server_tags(booted['id'], ['kronos:pin'])
        self.admin_api.post_server_metadata(
            booted['id'], {'optimize': 'false'}
        )
        self.api.post_server_action(booted['id'], {'lock': {}})
        listing = {i.uuid: i for i in self.nova.list_instances()}
        self.assertEqual(
            {booted['id'], *(o['id'] for o in others)}, set(listing)
        )
        wire, version = self.nova.api.wire, self.nova.microversion
        near, far = (
            [
                row['id']
                for row in wire.get_all(
                    server_listing.PATH,
                    server_listing.KEY,
                    version,
                    {'all_tenants': '1'} | order,
                    shape=schema.Server,
                )
            ]
            for order in ({}, server_listing.BACKWARDS)
        )
        self.assertEqual(near, far[::-1])
        self.assertEqual(near, list(listing))
        web = listing[booted['id']]
        self.assertEqual('host1', web.host)
        self.assertEqual('web', web.name)
        self.assertRegex(web.internal_name, '^instance-[0-9a-f]{8}$')
        self.assertEqual((2, 512, 3), (web.vcpus, web.memory_mb, web.disk_gb))
        self.assertEqual('ACTIVE', web.status)
        self.assertIsNone(web.task_state)
        self.assertEqual(1, web.power_state)
        self.assertTrue(web.locked)
        self.assertEqual({'optimize': 'false'}, web.metadata)
        self.assertEqual(['kronos:pin'], web.tags)
        self.assertEqual({'hw:numa_nodes': '1'}, web.extra_specs)
        self.assertEqual(booted['tenant_id'], web.project_id)
        self.assertEqual('nova', web.pinned_availability_zone or 'nova')
        self.assertEqual(web, self.nova.get_instance(booted['id']))
        self.assertEqual(
            [booted['id']],
            [i.uuid for i in self.nova.list_instances_on_host('host1')],
        )

    def test_an_instance_that_is_gone(self) -> None:
        gone = '11111111-2222-3333-4444-555555555555'
        self.assertIsNone(self.nova.get_instance(gone))

    def test_a_zone_that_an_instance_is_pinned_to(self) -> None:
        zone = self._create_aggregate('zone', availability_zone='az1')
        self.admin_api.add_host_to_aggregate(zone, 'host2')
        server = self._create_server(networks='none', az='az1')
        pinned = self.nova.get_instance(server['id'])
        assert pinned is not None
        self.assertEqual('az1', pinned.pinned_availability_zone)

    def test_groups_of_all_projects_and_pages(self) -> None:
        self.flags(max_limit=2, group='api')
        groups = [
            self._group(f'group-{number}', 'anti-affinity')
            for number in range(5)
        ]
        groups.append(
            self._group('two', 'anti-affinity', max_server_per_host=2)
        )
        server = self.admin_api.post_server(
            {
                'server': self._build_server(networks='none'),
                'os:scheduler_hints': {'group': groups[0]},
            }
        )
        listing = {g.uuid: g for g in self.nova.list_server_groups()}
        self.assertEqual(set(groups), set(listing))
        self.assertEqual('anti-affinity', listing[groups[0]].policy)
        self.assertEqual([server['id']], listing[groups[0]].members)
        self.assertEqual(2, listing[groups[5]].max_server_per_host)
        self.assertEqual(1, listing[groups[0]].max_server_per_host)

    def test_groups_of_one_server(self) -> None:
        """Those of other projects, too; the members as they are now."""
        alone = self.boot('host1')['id']
        self.assertEqual([], self.nova.get_groups_of(alone))
        group = self._group('apart', 'anti-affinity', max_server_per_host=2)
        uuids = [self._member(group) for _ in range(2)]
        (found,) = self.nova.get_groups_of(uuids[0])
        self.assertEqual((group, 'apart'), (found.uuid, found.name))
        self.assertEqual('anti-affinity', found.policy)
        self.assertEqual(2, found.max_server_per_host)
        self.assertEqual(set(uuids), set(found.members))
        self._delete_server({'id': uuids[1]})
        (found,) = self.nova.get_groups_of(uuids[0])
        self.assertEqual([uuids[0]], found.members)
        (listed,) = self.nova.list_server_groups()
        self.assertEqual(listed, found)
        self.admin_api.delete_server_group(group)
        self.assertEqual([], self.nova.get_groups_of(uuids[0]))

    def _member(self, group: str) -> str:
        server = self.admin_api.post_server(
            {
                'server': self._build_server(networks='none'),
                'os:scheduler_hints': {'group': group},
            }
        )
        self._wait_for_state_change(server, 'ACTIVE')
        return str(server['id'])

    def test_groups_one_at_a_time(self) -> None:
        self.flags(max_limit=1, group='api')
        groups = {self._group(f'g{n}', 'soft-affinity') for n in range(3)}
        found = self.nova.list_server_groups()
        self.assertEqual(groups, {group.uuid for group in found})

    def test_headroom(self) -> None:
        flavor = self.flavor()
        before = self.placement_client.headroom()
        self.assertEqual(list(self.hosts), sorted(before))
        self.boot('host1', flavor_id=flavor)
        after = self.placement_client.headroom()
        self.assertEqual(
            [(2, 512, 3)],
            [
                tuple(
                    after['host1'][0][name].used
                    - before['host1'][0][name].used
                    for name in ('VCPU', 'MEMORY_MB', 'DISK_GB')
                )
            ],
        )
        self.assertEqual(before['host2'], after['host2'])
        self.assertIn('COMPUTE_NODE', after['host1'][1])

    def test_room_on_one_host(self) -> None:
        """The same figures, rounded as Placement does."""
        self.boot('host1', flavor_id=self.flavor())
        path = '/resource_providers/{}/inventories/{}'.format(
            self._get_provider_uuid_by_host('host1'), 'VCPU'
        )
        inventory = self.placement.get(path, version='1.36').body
        inventory |= {'reserved': 1, 'allocation_ratio': 1.29}
        done = self.placement.put(path, inventory, version='1.36')
        self.assertEqual(200, done.status)
        rooms = self.placement_client.headroom()
        for host in self.hosts:
            self.assertEqual(
                rooms[host][0], self.placement_client.room_on(host)
            )
        # 9 * 1.29 = 11.61
        self.assertEqual(Headroom(11, 2), rooms['host1'][0]['VCPU'])
        self.assertIsNone(self.placement_client.room_on('nowhere'))

    def test_a_host_without_room_reads_as_full(self) -> None:
        node = self._get_provider_uuid_by_host('host2')
        self._reserve(node, 'MEMORY_MB')
        rooms = self.placement_client.headroom()
        # Found by its VCPUs, with true figures.
        self.assertEqual(0, rooms['host2'][0]['MEMORY_MB'].capacity)
        self.assertGreater(rooms['host2'][0]['VCPU'].capacity, 0)
        self._reserve(node, 'VCPU')
        rooms = self.placement_client.headroom()
        self.assertEqual(Headroom(0, 0), rooms['host2'][0]['MEMORY_MB'])
        self.assertEqual(Headroom(0, 0), rooms['host2'][0]['VCPU'])
        self.assertGreater(rooms['host1'][0]['VCPU'].capacity, 0)

    def test_a_disabled_host_has_its_trait(self) -> None:
        self.set_service('host3', status='disabled')
        rooms = self.placement_client.headroom()
        self.assertIn('COMPUTE_STATUS_DISABLED', rooms['host3'][1])
        self.assertNotIn('COMPUTE_STATUS_DISABLED', rooms['host1'][1])

    def _group(self, name: str, policy: str, **rules: int) -> str:
        body: dict[str, Any] = {'name': name, 'policy': policy}
        if rules:
            body['rules'] = rules
        # Not the project that lists them.
        api = self.api_fixture.alternative_api
        api.microversion = self.microversion
        return str(api.post_server_groups(body)['id'])

    def _reserve(self, provider: str, resource: str) -> None:
        """Take all of a resource away, as an operator would."""
        path = f'/resource_providers/{provider}/inventories/{resource}'
        inventory = self.placement.get(path, version='1.36').body
        inventory['reserved'] = inventory['total']
        done = self.placement.put(path, inventory, version='1.36')
        self.assertEqual(200, done.status)
