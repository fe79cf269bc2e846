# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a cloud at the wire (A4-A10, B17, E10, E12, M4, M8)."""

from typing import Any
from urllib import parse

import requests
from oslotest import base

from kronos.clients import cloud, nova, placement
from kronos.clients import prometheus as prometheus_client
from kronos.common import exceptions
from kronos.engine.settings import Settings
from kronos.engine.types import UNASSIGNED, Headroom, Health, Snapshot
from kronos.policies.models import Policy
from kronos.snapshots.collect import Collector, ScopeRequest
from tests.unit.clients import keystone
from tests.unit.clients.keystone import NOVA, PLACEMENT
from tests.unit.clients.test_nova import migration
from tests.unit.clients.test_nova_reader import (
    AGGREGATES,
    GROUPS,
    HYPERVISORS,
    SERVERS,
    SERVICE,
    SERVICES,
    aggregate,
    group,
    hypervisor,
    server,
)

NOW = 1700000000.0
PROMETHEUS = 'http://metrics.example.org:9090'
HOSTS = ('a1', 'a2', 'b1', 'b2', 'ab', 'free')


def policy(**more: Any) -> Policy:
    fields = {
        'name': 'cpu',
        'mode': 'spread',
        'weight': 1.0,
        'imbalance_query': 'host_cpu',
        'vm_profile_query': 'vm_cpu',
    }
    return Policy(**(fields | more))


class CollectTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())
        self.wire = self.keystone.wire
        self.fill()

    def fill(self) -> None:
        self.wire.get(
            HYPERVISORS,
            json={
                'hypervisors': [
                    *(hypervisor(host) for host in HOSTS),
                    hypervisor('metal', 'ironic'),
                ]
            },
        )
        self.aggregates(
            aggregate(1, 'a', 'a1', 'a2', 'ab'),
            aggregate(2, 'b', 'b1', 'b2', 'ab', 'metal', 'gone'),
            aggregate(3, 'empty'),
            aggregate(4, 'metals', 'metal'),
        )
        self.wire.get(
            SERVICES,
            json={'services': [SERVICE | {'host': host} for host in HOSTS]},
        )
        self.servers(
            server('vm-a1', **{'OS-EXT-SRV-ATTR:host': 'a1'}),
            server('vm-ab', **{'OS-EXT-SRV-ATTR:host': 'ab'}),
            server('vm-free', **{'OS-EXT-SRV-ATTR:host': 'free'}),
        )
        self.wire.get(GROUPS, json={'server_groups': []})
        self.wire.get(f'{NOVA}/os-migrations', json={'migrations': []})
        self.wire.get(
            f'{PLACEMENT}/resource_providers',
            json={
                'resource_providers': [
                    {
                        'uuid': 'u',
                        'root_provider_uuid': 'u',
                        'name': 'a1.example.org',
                    }
                ]
            },
        )
        self.wire.get(
            f'{PLACEMENT}/allocation_candidates',
            json={
                'provider_summaries': {
                    'u': {
                        'resources': {'VCPU': {'capacity': 8, 'used': 2}},
                        'traits': ['COMPUTE_NODE'],
                    }
                }
            },
        )
        self.wire.post(f'{PROMETHEUS}/api/v1/query', json=self.answer)

    def aggregates(self, *rows: Any) -> None:
        self.wire.get(AGGREGATES, json={'aggregates': list(rows)})

    def servers(self, *rows: Any) -> None:
        self.wire.get(SERVERS, json={'servers': list(rows)})

    def answer(self, request: Any, context: Any) -> Any:
        """Each query is answered with one series that holds its labels."""
        labels = {
            'host': 'a1',
            'node': 'a1',
            'instance_name': 'i',
            'domain': 'd',
        }
        return {
            'status': 'success',
            'data': {
                'resultType': 'vector',
                'result': [{'metric': labels, 'value': [NOW, '0.5']}],
            },
        }

    def queries(self) -> list[str]:
        return [
            parse.parse_qs(request.text)['query'][0]
            for request in self.wire.request_history
            if request.path == '/api/v1/query'
        ]

    def collect(
        self, *policies: Policy, cooldown: float = 600.0, **request: Any
    ) -> list[Snapshot]:
        connection = cloud.connect(self.keystone.session, 'one')
        collector = Collector(
            nova.NovaClient(connection.compute, retry_backoff=0),
            placement.PlacementClient(connection.placement, retry_backoff=0),
            prometheus_client.PrometheusClient(
                PROMETHEUS,
                requests.Session(),
                retry_backoff=0,
                clock=lambda: NOW,
            ),
            clock=lambda: NOW,
        )
        return collector.collect(
            ScopeRequest(**request),
            policies or (policy(),),
            Settings(cooldown_seconds=cooldown),
        )

    def scopes(self, **request: Any) -> dict[str, list[str]]:
        return {
            snapshot.scope: list(snapshot.hosts)
            for snapshot in self.collect(**request)
        }

    def refused(self, **request: Any) -> str:
        error = self.assertRaises(
            exceptions.ScopeError, self.collect, **request
        )
        return str(error)


class TestScopes(CollectTestCase):
    def test_named(self) -> None:
        found = self.scopes(aggregates=['b', 'a', 'b'])
        self.assertEqual(
            [('b', ['b1', 'b2', 'ab']), ('a', ['a1', 'a2', 'ab'])],
            list(found.items()),
        )

    def test_by_id_and_uuid(self) -> None:
        self.assertEqual(['a'], list(self.scopes(aggregates=['1'])))
        self.assertEqual(['b'], list(self.scopes(aggregates=['uuid-2'])))
        self.aggregates(aggregate(1, '2', 'a1'), aggregate(2, 'x', 'b1'))
        self.assertEqual({'2': ['a1']}, self.scopes(aggregates=['2']))

    def test_all(self) -> None:
        found = self.scopes(aggregates=['*'])
        self.assertEqual(['a', 'b'], list(found))

    def test_unassigned(self) -> None:
        found = self.scopes(aggregates=['a'], include_unassigned=True)
        self.assertEqual(['a', UNASSIGNED], list(found))
        self.assertEqual(['free'], found[UNASSIGNED])
        self.assertEqual(
            {UNASSIGNED: ['free']}, self.scopes(include_unassigned=True)
        )

    def test_nothing_unassigned(self) -> None:
        self.aggregates(aggregate(1, 'a', *HOSTS))
        found = self.scopes(aggregates=['a'], include_unassigned=True)
        self.assertEqual(['a'], list(found))
        self.assertIn(
            'include_unassigned_hosts', self.refused(include_unassigned=True)
        )

    def test_availability_zone(self) -> None:
        zone = aggregate(5, 'west', 'a1', 'b1') | {'availability_zone': 'az1'}
        self.aggregates(zone, aggregate(1, 'a', 'a1', 'a2'))
        found = self.scopes(availability_zones=['az1'])
        self.assertEqual({'west': ['a1', 'b1']}, found)
        self.assertIn(
            'no availability zone "az2"; known: az1',
            self.refused(availability_zones=['az2']),
        )

    def test_no_scope(self) -> None:
        text = self.refused()
        self.assertIn('aggregates', text)
        self.assertIn('include_unassigned_hosts', text)

    def test_unknown(self) -> None:
        text = self.refused(aggregates=['a', 'gold'])
        self.assertIn('no aggregate "gold"; known: a, b, empty', text)

    def test_empty(self) -> None:
        self.assertIn(
            '"empty" has no host that may be planned (it is empty)',
            self.refused(aggregates=['empty']),
        )

    def test_other_hypervisors(self) -> None:
        text = self.refused(aggregates=['metals'])
        self.assertIn('metal: type ironic', text)
        self.assertIn('hypervisor_types', text)

    def test_excluded_hosts(self) -> None:
        found = self.scopes(
            aggregates=['a', 'b'], excluded_hosts=['a1', 'b1.example.org']
        )
        self.assertEqual({'a': ['a2', 'ab'], 'b': ['b2', 'ab']}, found)
        self.assertIn(
            'no host to exclude "a7"',
            self.refused(aggregates=['a'], excluded_hosts=['a7']),
        )
        text = self.refused(
            aggregates=['a'], excluded_hosts=['a1', 'a2', 'ab']
        )
        self.assertIn('a1, a2, ab: excluded', text)

    def test_excluded_aggregates(self) -> None:
        found = self.scopes(aggregates=['a'], excluded_aggregates=['b'])
        self.assertEqual({'a': ['a1', 'a2']}, found)
        self.assertIn(
            '"c"', self.refused(aggregates=['a'], excluded_aggregates=['c'])
        )
        found = self.scopes(aggregates=['*'], excluded_aggregates=['a'])
        self.assertEqual({'b': ['b1', 'b2']}, found)


class TestSnapshot(CollectTestCase):
    def test_hosts(self) -> None:
        (snapshot,) = self.collect(aggregates=['a'])
        host = snapshot.hosts['a1']
        self.assertEqual('a1.example.org', host.node)
        self.assertEqual('az1', host.availability_zone)
        self.assertEqual({'VCPU': Headroom(8, 2)}, host.headroom)
        self.assertEqual(['COMPUTE_NODE'], host.traits)
        # Placement does not know this one.
        self.assertIsNone(snapshot.hosts['a2'].headroom)
        self.assertEqual(NOW, snapshot.taken_at)
        assert snapshot.services is not None
        self.assertTrue(snapshot.services['a1'].is_available)

    def test_instances(self) -> None:
        a, b, free = self.collect(
            aggregates=['a', 'b'], include_unassigned=True
        )
        self.assertEqual({'vm-a1', 'vm-ab'}, set(a.instances))
        self.assertEqual({'vm-ab'}, set(b.instances))
        self.assertEqual({'vm-free'}, set(free.instances))

    def test_excluded_instances_stay_as_load(self) -> None:
        hosts = {'OS-EXT-SRV-ATTR:host': 'a1'}
        self.servers(
            server('by-uuid', **hosts),
            server('by-project', tenant_id='secret', **hosts),
            server('by-metadata', metadata={'optimize': 'False'}, **hosts),
            server('other', metadata={'optimize': 'true'}, **hosts),
        )
        (snapshot,) = self.collect(
            aggregates=['a'],
            excluded_instances=['by-uuid'],
            excluded_projects=['secret'],
            excluded_metadata=[{}, {'optimize': 'false'}],
        )
        reasons = {u: i.unmovable for u, i in snapshot.instances.items()}
        self.assertEqual('', reasons.pop('other'))
        self.assertIn('excluded', reasons['by-uuid'])
        self.assertIn('project', reasons['by-project'])
        self.assertIn('optimize=false', reasons['by-metadata'])

    def test_groups_of_the_scope(self) -> None:
        ours = group('ours', members=['vm-a1', 'elsewhere'])
        others = group('others', members=['vm-free'])
        self.wire.get(
            GROUPS,
            [
                {'json': {'server_groups': [ours, others]}},
                {'json': {'server_groups': [others]}},
            ],
        )
        (snapshot,) = self.collect(aggregates=['a'])
        self.assertEqual(['ours'], [g.uuid for g in snapshot.groups])
        self.assertEqual(['vm-a1', 'elsewhere'], snapshot.groups[0].members)

    def test_recent_moves_of_the_scope(self) -> None:
        self.wire.get(
            f'{NOVA}/os-migrations',
            json={
                'migrations': [
                    migration(1, source_compute='a1', dest_compute=None),
                    migration(2, source_compute='x', dest_compute='a2'),
                    migration(3, source_compute='b1', dest_compute='b2'),
                ]
            },
        )
        (snapshot,) = self.collect(aggregates=['a'])
        self.assertEqual(
            [('a1', ''), ('x', 'a2')],
            [(m.source, m.destination) for m in snapshot.recent_moves],
        )
        (request,) = self.keystone.requests('/os-migrations')
        self.assertEqual(['2023-11-14t22:03:20z'], request.qs['changes-since'])

    def test_without_a_cooldown_nobody_asks_for_moves(self) -> None:
        self.collect(aggregates=['a'], cooldown=0)
        self.assertEqual([], self.keystone.requests('/os-migrations'))

    def test_every_listing_is_read_once(self) -> None:
        self.collect(aggregates=['a', 'b'], include_unassigned=True)
        for path in (
            '/os-services',
            '/os-hypervisors/detail',
            '/os-aggregates',
            '/servers/detail',
            '/os-migrations',
            '/resource_providers',
            '/allocation_candidates',
        ):
            self.assertEqual(1, len(self.keystone.requests(path)), path)
        self.assertEqual(['host_cpu', 'vm_cpu'], sorted(self.queries()))


class TestReadings(CollectTestCase):
    def test_labels_and_kinds(self) -> None:
        (snapshot,) = self.collect(
            policy(
                host_label='node',
                vm_profile_label='domain',
                host_capacity_query='host_cores',
                capacity_query='host_full',
            ),
            aggregates=['a'],
        )
        readings = snapshot.readings['cpu']
        assert readings.profile and readings.host_capacity
        self.assertEqual('a1', readings.imbalance.samples[0].label)
        self.assertEqual('d', readings.profile.samples[0].label)
        self.assertEqual('host_cores', readings.host_capacity.query)
        # For pack alone.
        self.assertIsNone(readings.capacity)

    def test_pack(self) -> None:
        pack = policy(mode='pack', capacity_query='host_full')
        (snapshot,) = self.collect(pack, aggregates=['a'])
        capacity = snapshot.readings['cpu'].capacity
        assert capacity
        self.assertEqual('host_full', capacity.query)

    def test_disabled_policies_are_not_asked(self) -> None:
        off = policy(name='off', enabled=False)
        (snapshot,) = self.collect(policy(), off, aggregates=['a'])
        self.assertEqual(['cpu'], list(snapshot.readings))
        self.assertEqual(2, len(self.queries()))

    def test_prometheus_is_away(self) -> None:
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        (snapshot,) = self.collect(aggregates=['a'])
        reading = snapshot.readings['cpu'].imbalance
        self.assertEqual(Health.UNREACHABLE, reading.health)
        self.assertIn('503', reading.error)


class TestFailures(CollectTestCase):
    def test_services(self) -> None:
        self.wire.get(SERVICES, status_code=500)
        (snapshot,) = self.collect(aggregates=['a'])
        self.assertIsNone(snapshot.services)
        self.assertEqual(['a1', 'a2', 'ab'], list(snapshot.hosts))

    def test_placement(self) -> None:
        self.wire.get(f'{PLACEMENT}/resource_providers', status_code=500)
        (snapshot,) = self.collect(aggregates=['a'])
        self.assertIsNone(snapshot.hosts['a1'].headroom)

    def test_what_nothing_can_be_planned_without(self) -> None:
        for path in (
            '/os-hypervisors/detail',
            '/os-aggregates',
            '/servers/detail',
            '/os-server-groups',
            '/os-migrations',
        ):
            self.wire.get(f'{NOVA}{path}', status_code=500)
            error = self.assertRaises(
                exceptions.NovaClientError, self.collect, aggregates=['a']
            )
            self.assertIn(path, str(error))
            self.fill()
