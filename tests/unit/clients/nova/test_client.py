# SPDX-License-Identifier: Apache-2.0
"""The reading Nova client at the wire."""

from typing import Any
from unittest import mock

import requests
from oslotest import base

from kronos.clients import connection
from kronos.clients.nova import client as nova_client
from kronos.clients.nova import live_migration
from kronos.common import exceptions
from tests.fakes import keystone
from tests.fakes.keystone import NOVA

HYPERVISORS = f'{NOVA}/os-hypervisors/detail'
SERVERS = f'{NOVA}/servers/detail'
SERVICES = f'{NOVA}/os-services'
GROUPS = f'{NOVA}/os-server-groups'
AGGREGATES = f'{NOVA}/os-aggregates'

SERVICE: dict[str, Any] = {
    'host': 'cmp1',
    'binary': 'nova-compute',
    'state': 'up',
    'status': 'enabled',
    'zone': 'az1',
    'disabled_reason': None,
    'forced_down': False,
    'id': 'x',
}


def server(uuid: str, **more: Any) -> dict[str, Any]:
    return {
        'id': uuid,
        'name': f'name-{uuid}',
        'tenant_id': 'project-1',
        'status': 'ACTIVE',
        'image': {'id': 'image-1', 'properties': {}},
        'flavor': {
            'vcpus': 2,
            'ram': 2048,
            'disk': 10,
            'ephemeral': 5,
            'swap': 1500,
            'extra_specs': {},
        },
        'OS-EXT-SRV-ATTR:host': 'cmp1',
        'OS-EXT-SRV-ATTR:instance_name': f'instance-{uuid}',
        'OS-EXT-STS:task_state': None,
        'OS-EXT-STS:power_state': 1,
        'locked': False,
        'metadata': {},
        'tags': [],
        'pinned_availability_zone': None,
        **more,
    }


def group(uuid: str, **more: Any) -> dict[str, Any]:
    return {
        'id': uuid,
        'name': 'g',
        'policy': 'anti-affinity',
        'rules': {},
        'members': [],
        **more,
    }


def aggregate(number: int, name: str, *hosts: str) -> dict[str, Any]:
    return {
        'id': number,
        'uuid': f'uuid-{number}',
        'name': name,
        'hosts': list(hosts),
        'metadata': {},
        'availability_zone': None,
    }


def hypervisor(host: str, kind: str = 'QEMU') -> dict[str, Any]:
    return {
        'id': f'id-{host}',
        'hypervisor_hostname': f'{host}.example.org',
        'hypervisor_type': kind,
        'hypervisor_version': 8002001,
        'service': {'host': host, 'id': 'x', 'disabled_reason': None},
        'state': 'up',
        'status': 'enabled',
    }


class NovaTestCase(base.BaseTestCase):
    newest = '2.104'

    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone(self.newest))
        self.wire = self.keystone.wire
        self.slept: list[float] = []
        self.nova = nova_client.NovaClient(
            connection.connect(self.keystone.session, 'one').compute,
            sleep=self.slept.append,
        )
        self.live_migration = live_migration.LiveMigration(self.nova.api)

    def fails(self, call: Any, *args: Any) -> Any:
        return self.assertRaises(exceptions.NovaClientError, call, *args)


class TestVersions(NovaTestCase):
    def test_the_newest_that_is_understood(self) -> None:
        self.wire.get(SERVICES, json={'services': []})
        self.nova.list_compute_services()
        (request,) = self.keystone.requests('/os-services')
        self.assertEqual(
            'compute 2.100', request.headers['OpenStack-API-Version']
        )
        self.assertEqual('ks-token', request.headers['X-Auth-Token'])
        self.assertEqual(60, request.timeout)


class TestOlderNova(NovaTestCase):
    newest = '2.96'

    def test_its_newest(self) -> None:
        self.assertEqual('2.96', self.nova.microversion)

    def test_an_image_without_properties(self) -> None:
        """It is one all the same: the server does not boot from a volume."""
        row = server('vm', image={'id': 'image-1', 'links': []})
        self.wire.get(f'{NOVA}/servers/vm', json={'server': row})
        result = self.nova.get_instance('vm')
        assert result is not None
        self.assertFalse(result.is_volume_backed)
        self.assertEqual(10 + 5 + 2, result.disk_gb)


class TestTooOldNova(NovaTestCase):
    newest = '2.67'

    def test_it_is_refused(self) -> None:
        error = self.fails(self.nova.list_aggregates)
        self.assertIn('2.67', str(error))
        self.assertIn('needs 2.68', str(error))
        self.assertFalse(error.kwargs['transient'])


class TestNoVersions(NovaTestCase):
    newest = ''

    def test_it_is_refused(self) -> None:
        error = self.fails(self.nova.list_aggregates)
        self.assertIn('reports no microversions', str(error))


class TestAwayAtFirst(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        for url in (NOVA, f'{NOVA}/'):
            self.wire.get(url, status_code=503)

    def test_it_may_pass(self) -> None:
        """What Nova can do is asked first; it may be away then."""
        error = self.fails(self.nova.list_aggregates)
        self.assertTrue(error.kwargs['transient'])
        self.assertEqual(503, error.kwargs['status'])
        self.assertNotIn('microversions', str(error))
        self.assertEqual([1, 2, 4], self.slept)


class TestFailures(NovaTestCase):
    def test_reads_are_tried_again(self) -> None:
        self.wire.get(
            AGGREGATES,
            [
                {'status_code': 503},
                {'exc': requests.ConnectionError('reset')},
                {'exc': requests.ReadTimeout('slow')},
                {'json': {'aggregates': []}},
            ],
        )
        self.assertEqual([], self.nova.list_aggregates())
        self.assertEqual([1, 2, 4], self.slept)

    def test_they_are_given_up(self) -> None:
        self.wire.get(AGGREGATES, status_code=502, text='<h1>Bad\ngate</h1>')
        error = self.fails(self.nova.list_aggregates)
        self.assertEqual(
            'Nova: GET /os-aggregates: HTTP 502: <h1>Bad gate</h1>', str(error)
        )
        self.assertEqual(502, error.kwargs['status'])
        self.assertTrue(error.kwargs['transient'])
        self.assertEqual(4, len(self.keystone.requests('/os-aggregates')))

    def test_what_is_not_worth_another_try(self) -> None:
        body = {'forbidden': {'code': 403, 'message': 'Policy says no'}}
        self.wire.get(AGGREGATES, status_code=403, json=body)
        error = self.fails(self.nova.list_aggregates)
        self.assertIn('Policy says no', str(error))
        self.assertFalse(error.kwargs['transient'])
        self.assertEqual([], self.slept)

    def test_a_bad_certificate(self) -> None:
        self.wire.get(AGGREGATES, exc=requests.exceptions.SSLError('issuer'))
        error = self.fails(self.nova.list_aggregates)
        self.assertIn('issuer', str(error))
        self.assertEqual([], self.slept)

    def test_not_json(self) -> None:
        self.wire.get(AGGREGATES, text='<html>')
        self.assertIn('not JSON', str(self.fails(self.nova.list_aggregates)))

    def test_keystone_says_no(self) -> None:
        self.nova.microversion  # noqa: B018 - discovered by now
        self.keystone.session.auth.invalidate()
        self.wire.post(f'{keystone.AUTH_URL}/auth/tokens', status_code=401)
        error = self.fails(self.nova.list_aggregates)
        self.assertNotIn('s3cret', str(error))
        self.assertFalse(error.kwargs['transient'])


class TestHosts(NovaTestCase):
    def test_all_pages(self) -> None:
        self.wire.get(
            HYPERVISORS,
            json={
                'hypervisors': [hypervisor('cmp1'), hypervisor('cmp2')],
                'hypervisors_links': [{'rel': 'next', 'href': 'http://x'}],
            },
        )
        self.wire.get(
            f'{HYPERVISORS}?marker=id-cmp2',
            json={'hypervisors': [hypervisor('bm', 'ironic')]},
        )
        result = self.nova.list_compute_hosts()
        self.assertEqual(
            [
                ('cmp1', 'cmp1.example.org', 'QEMU'),
                ('cmp2', 'cmp2.example.org', 'QEMU'),
                ('bm', 'bm.example.org', 'ironic'),
            ],
            [(h.name, h.node, h.hypervisor_type) for h in result],
        )
        self.assertEqual({8002001}, {h.hypervisor_version for h in result})

    def test_no_version(self) -> None:
        row = hypervisor('cmp1')
        del row['hypervisor_version']
        self.wire.get(HYPERVISORS, json={'hypervisors': [row]})
        [host] = self.nova.list_compute_hosts()
        self.assertEqual(0, host.hypervisor_version)

    def test_unassigned(self) -> None:
        self.wire.get(
            HYPERVISORS,
            json={'hypervisors': [hypervisor(h) for h in ('b', 'a', 'c')]},
        )
        self.wire.get(
            AGGREGATES, json={'aggregates': [aggregate(1, 'x', 'c')]}
        )
        hosts = {host.name for host in self.nova.list_compute_hosts()}
        [found] = self.nova.list_aggregates()
        self.assertEqual(('x', ['c']), (found.name, found.hosts))
        self.assertEqual({'a', 'b'}, hosts - set(found.hosts))


class TestHost(NovaTestCase):
    """One host is looked up without a listing of all, if possible."""

    def setUp(self) -> None:
        super().setUp()
        self.wire.get(
            HYPERVISORS,
            json={
                'hypervisors': [
                    hypervisor(h) for h in ('cmp', 'cmp1', 'cmp11')
                ]
            },
        )

    def search(self, name: str, *rows: Any) -> Any:
        self.wire.get(
            f'{HYPERVISORS}?hypervisor_hostname_pattern={name}',
            json={'hypervisors': list(rows)},
        )
        return self.nova.get_compute_host(name)

    def looks(self) -> int:
        return len(self.keystone.requests('/os-hypervisors/detail'))

    def test_by_its_exact_name(self) -> None:
        result = self.search(
            'cmp1',
            hypervisor('cmp11'),
            hypervisor('cmp1'),
            hypervisor('xcmp1'),
        )
        self.assertEqual(
            ('cmp1', 'cmp1.example.org'), (result.name, result.node)
        )
        self.assertEqual(1, self.looks())

    def test_a_node_of_another_name(self) -> None:
        other = hypervisor('cmp1') | {'hypervisor_hostname': 'rack-7'}
        self.wire.get(HYPERVISORS, json={'hypervisors': [other]})
        self.wire.get(
            f'{HYPERVISORS}?hypervisor_hostname_pattern=cmp1', status_code=404
        )
        result = self.nova.get_compute_host('cmp1')
        assert result is not None
        self.assertEqual('rack-7', result.node)
        # Others' nodes are like it, its own is not.
        result = self.search('cmp1', hypervisor('cmp11'))
        self.assertEqual('rack-7', result.node)

    def test_none(self) -> None:
        self.assertIsNone(self.search('cmp9'))

    def test_nova_says_no(self) -> None:
        self.wire.get(HYPERVISORS, status_code=403)
        error = self.fails(self.nova.get_compute_host, 'cmp1')
        self.assertEqual(403, error.kwargs['status'])


class TestServices(NovaTestCase):
    DOWN_CELL = {
        'host': 'cmp9',
        'binary': 'nova-compute',
        'status': 'UNKNOWN',
    }

    def services(self, *rows: Any) -> Any:
        self.wire.get(SERVICES, json={'services': list(rows)})
        return self.nova.list_compute_services()

    def test_a_reason_that_tells_a_secret(self) -> None:
        """Reports, logs and messages repeat it."""
        reason = 'new disks, ask https://joe:pw@ipmi, password=hunter2'
        result = self.services(SERVICE | {'disabled_reason': reason})
        self.assertEqual(
            'new disks, ask https://***@ipmi, password=***',
            result['cmp1'].disabled_reason,
        )

    def test_availability(self) -> None:
        result = self.services(
            SERVICE,
            SERVICE | {'host': 'down', 'state': 'down'},
            SERVICE | {'host': 'off', 'status': 'disabled'},
            SERVICE | {'host': 'forced', 'forced_down': True},
            self.DOWN_CELL,
            SERVICE | {'host': 'ctl', 'binary': 'nova-conductor'},
        )
        self.assertEqual(
            {
                'cmp1': True,
                'down': False,
                'off': False,
                'forced': False,
                'cmp9': False,
            },
            {host: s.is_available for host, s in result.items()},
        )
        self.assertEqual('az1', result['cmp1'].zone)
        self.assertIsNone(result['cmp9'].state)
        (request,) = self.keystone.requests('/os-services')
        self.assertEqual({'binary': ['nova-compute']}, request.qs)

    def test_one_name_in_two_cells(self) -> None:
        down = SERVICE | {'state': 'down'}
        for rows in ((SERVICE, down), (down, SERVICE)):
            self.assertFalse(self.services(*rows)['cmp1'].is_available)

    def test_one_host(self) -> None:
        self.wire.get(SERVICES, json={'services': []})
        self.wire.get(f'{SERVICES}?host=cmp1', json={'services': [SERVICE]})
        service = self.nova.get_service('cmp1')
        assert service is not None
        self.assertTrue(service.is_available)
        self.assertIsNone(self.nova.get_service('cmp2'))


class TestInstances(NovaTestCase):
    def listing(self, *rows: Any) -> Any:
        self.wire.get(SERVERS, json={'servers': list(rows)})
        return self.nova.list_instances()

    def test_fields(self) -> None:
        (found,) = self.listing(
            server(
                'a',
                locked=True,
                metadata={'k': 'v'},
                tags=['kronos:pin'],
                pinned_availability_zone='az1',
                **{'OS-EXT-STS:task_state': 'migrating'},
            )
        )
        self.assertEqual(('a', 'name-a'), (found.uuid, found.name))
        self.assertEqual('instance-a', found.internal_name)
        self.assertEqual('cmp1', found.host)
        self.assertEqual((2, 2048), (found.vcpus, found.memory_mb))
        self.assertEqual(10 + 5 + 2, found.disk_gb)
        self.assertEqual('migrating', found.task_state)
        self.assertTrue(found.locked)
        self.assertEqual({'k': 'v'}, found.metadata)
        self.assertEqual(['kronos:pin'], found.tags)
        self.assertEqual('az1', found.pinned_availability_zone)
        self.assertEqual('project-1', found.project_id)
        (request,) = self.keystone.requests('/servers/detail')
        self.assertEqual({'all_tenants': ['1']}, request.qs)

    def test_root_disk_on_a_volume(self) -> None:
        (found,) = self.listing(server('a', image=''))
        self.assertEqual(5 + 2, found.disk_gb)

    def test_what_the_image_asks_for(self) -> None:
        row = server(
            'a',
            image={
                'id': 'i',
                'properties': {
                    'hw_cpu_policy': 'dedicated',
                    'hw_tpm_model': 'tpm-crb',
                    'hw_disk_bus': 'virtio',
                    'trait:HW_CPU_X86_AVX2': 'required',
                },
            },
        )
        row['flavor']['extra_specs'] = {'hw:cpu_policy': 'shared'}
        (found,) = self.listing(row)
        self.assertEqual(
            {
                'hw:cpu_policy': 'shared',
                'hw:tpm_model': 'tpm-crb',
                'trait:HW_CPU_X86_AVX2': 'required',
            },
            found.extra_specs,
        )

    def test_rows_without_a_host(self) -> None:
        down_cell = {
            'id': 'b',
            'status': 'UNKNOWN',
            'tenant_id': 'p',
            'created': '2023-11-14T22:00:00Z',
            'links': [],
        }
        unscheduled = server('c', **{'OS-EXT-SRV-ATTR:host': None})
        listing = self.listing(down_cell, unscheduled, server('a'))
        self.assertEqual(['a'], [instance.uuid for instance in listing])

    def test_one(self) -> None:
        self.wire.get(f'{NOVA}/servers/a', json={'server': server('a')})
        self.wire.get(f'{NOVA}/servers/b', status_code=404)
        result = self.nova.get_instance('a')
        assert result is not None
        self.assertEqual('cmp1', result.host)
        self.assertEqual('ACTIVE', result.status)
        self.assertIsNone(self.nova.get_instance('b'))
        down = server('c', status='UNKNOWN')
        del down['OS-EXT-SRV-ATTR:host']
        self.wire.get(f'{NOVA}/servers/c', json={'server': down})
        error = self.fails(self.nova.get_instance, 'c')
        self.assertIn('cell is down', str(error))

    def test_on_a_host(self) -> None:
        self.wire.get(f'{SERVERS}?host=cmp1', json={'servers': [server('a')]})
        result = self.nova.list_instances_on_host('cmp1')
        self.assertEqual(['a'], [instance.uuid for instance in result])


class TestPaging(NovaTestCase):
    """Many servers, three to a page, while some are deleted."""

    def setUp(self) -> None:
        super().setUp()
        self.deleted: set[str] = set()
        self.uuids = [f's{number}' for number in range(8)]
        self.wire.get(SERVERS, json=self.page)

    def page(self, request: Any, context: Any) -> Any:
        marker = request.qs.get('marker', [''])[0]
        if marker in self.deleted:
            context.status_code = 400
            return {'badRequest': {'message': f'marker [{marker}] not found'}}
        uuids = self.uuids
        if 'sort_key' in request.qs:
            uuids = uuids[::-1]
        start = uuids.index(marker) + 1 if marker else 0
        rows = [u for u in uuids[start:] if u not in self.deleted]
        answer: dict[str, Any] = {'servers': [server(u) for u in rows[:3]]}
        if rows[3:]:
            answer['servers_links'] = [{'rel': 'next', 'href': 'http://inner'}]
        return answer

    def listing(self) -> list[str]:
        return [instance.uuid for instance in self.nova.list_instances()]

    def test_all(self) -> None:
        self.assertEqual(self.uuids, self.listing())

    def test_a_row_that_comes_twice(self) -> None:
        self.uuids[4] = 's2'
        listing = self.listing()
        self.assertEqual(sorted(set(self.uuids)), sorted(listing))

    def test_a_server_that_knows_no_marker(self) -> None:
        answer = self.page(mock.Mock(qs={}), None)
        self.wire.get(SERVERS, json=answer)
        self.assertEqual(self.uuids[:3], self.listing())

    def test_a_marker_that_is_deleted(self) -> None:
        plain = self.page

        def page(request: Any, context: Any) -> Any:
            answer = plain(request, context)
            if 'marker' not in request.qs:
                self.deleted |= {'s2', 's1'}
            return answer

        self.wire.get(SERVERS, json=page)
        self.assertEqual(self.uuids, self.listing())

    def test_all_markers_are_deleted(self) -> None:
        plain = self.page

        def page(request: Any, context: Any) -> Any:
            answer = plain(request, context)
            self.deleted |= set(self.uuids)
            return answer

        self.wire.get(SERVERS, json=page)
        error = self.fails(self.nova.list_instances)
        self.assertIn('marker [s0] not found', str(error))
