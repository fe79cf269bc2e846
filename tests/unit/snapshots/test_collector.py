# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a cloud at the wire."""

from collections.abc import Sequence
from typing import Any
from urllib import parse

import requests
from oslotest import base

from kronos.clients import connection, placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.prometheus import client as prometheus_client
from kronos.common import exceptions
from kronos.engine.settings import Settings
from kronos.engine.types import (
    UNASSIGNED,
    Event,
    Headroom,
    Health,
    Origin,
    Outcome,
    Reading,
    Snapshot,
)
from kronos.policies.models import DirtyRateQuery, LabelType, Policy
from kronos.snapshots.collector import Collector, ScopeRequest
from tests.fakes import keystone
from tests.fakes.keystone import NOVA, PLACEMENT
from tests.unit.clients.nova.test_client import (
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
from tests.unit.clients.nova.test_live_migration import MIGRATIONS, migration

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
        self,
        *policies: Policy,
        settings: Settings | None = None,
        events: Sequence[Event] = (),
        exclude: str = '',
        dirty: DirtyRateQuery | None = None,
        **request: Any,
    ) -> list[Snapshot]:
        found = connection.connect(self.keystone.session, 'one')
        collector = Collector(
            NovaClient(found.compute, retry_backoff=0),
            placement.PlacementClient(found.placement, retry_backoff=0),
            prometheus_client.PrometheusClient(
                PROMETHEUS,
                requests.Session(),
                max_retries=1,
                retry_backoff=0,
                clock=lambda: NOW,
            ),
            exclude_hosts_query=exclude,
            dirty_rates=dirty,
            clock=lambda: NOW,
        )
        return collector.collect(
            ScopeRequest(**request),
            policies or (policy(),),
            settings or Settings(cooldown_seconds=600.0),
            events,
        ).snapshots

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


class TestDownCell(CollectTestCase):
    """Nova lists no hypervisor then: os-services and Placement tell."""

    def fill(self) -> None:
        super().fill()
        self.wire.get(HYPERVISORS, status_code=500, json={})
        down = {'binary': 'nova-compute', 'status': 'UNKNOWN'}
        self.services(
            *(SERVICE | {'host': host} for host in ('a1', 'a2', 'ab')),
            *(down | {'host': host} for host in ('b1', 'b2')),
        )
        self.wire.get(
            f'{PLACEMENT}/resource_providers',
            json={
                'resource_providers': [
                    {'uuid': name, 'root_provider_uuid': name, 'name': name}
                    for name in ('a1.example.org', 'ab', 'rack-7')
                ]
            },
        )

    def services(self, *rows: Any) -> None:
        self.wire.get(SERVICES, json={'services': list(rows)})

    def test_scopes_whose_cells_are_up(self) -> None:
        a, b = self.collect(aggregates=['a', 'b'])
        self.assertEqual(
            {'a1': 'a1.example.org', 'a2': '', 'ab': 'ab'},
            {host.name: host.node for host in a.hosts.values()},
        )
        frozen = {host.name: bool(host.frozen) for host in a.hosts.values()}
        self.assertEqual({'a1': False, 'a2': True, 'ab': False}, frozen)
        self.assertIn('no provider with its name', a.hosts['a2'].frozen)
        self.assertIsNotNone(a.hosts['a1'].headroom)
        [warning] = a.warnings
        self.assertIn('has no data about b1, b2', warning)
        self.assertEqual(['b1', 'b2', 'ab'], list(b.hosts))
        self.assertEqual(['vm-a1', 'vm-ab'], list(a.instances))

    def test_any_other_failure_ends_it(self) -> None:
        self.wire.get(HYPERVISORS, status_code=503, json={})
        self.assertRaises(
            exceptions.NovaClientError, self.collect, aggregates=['a']
        )
        self.wire.get(HYPERVISORS, status_code=500, json={})
        self.services(*(SERVICE | {'host': host} for host in HOSTS))
        self.assertRaises(
            exceptions.NovaClientError, self.collect, aggregates=['a']
        )

    def test_without_placement_nothing_takes_part(self) -> None:
        self.wire.get(
            f'{PLACEMENT}/resource_providers', status_code=404, json={}
        )
        [a] = self.collect(aggregates=['a'])
        self.assertTrue(all(host.frozen for host in a.hosts.values()))


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
            'no availability zone "az2"; did you mean az1?',
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


class TestExclusions(CollectTestCase):
    """Hosts that an operator's query finds at fault."""

    def of_hosts(self, *hosts: str) -> None:
        """They are, by whichever query."""
        self.answers = [
            {'metric': {'host': host}, 'value': [NOW, '1']} for host in hosts
        ]

    answers: Sequence[Any] = ()

    def answer(self, request: Any, context: Any) -> Any:
        found = super().answer(request, context)
        if parse.parse_qs(request.text)['query'] == ['failed']:
            found['data']['result'] = self.answers
        return found

    def test_hosts_of_the_cloud(self) -> None:
        self.of_hosts('a2', 'b1', 'metal', 'of another cloud')
        a, b = self.collect(aggregates=['a', 'b'], exclude='failed')
        self.assertEqual(
            {'a1': None, 'a2': 1.0, 'ab': None},
            {host.name: host.excluded for host in a.hosts.values()},
        )
        stranger, excluded = b.warnings
        self.assertIn("'of another cloud' (1)", stranger)
        self.assertEqual(
            '1 host takes no instance (b1: exclude_hosts_query gives 1 for '
            'it)',
            excluded,
        )
        self.assertEqual('', a.exclusions_unknown)
        self.assertEqual(1, self.queries().count('failed'))

    def test_it_is_not_asked(self) -> None:
        self.collect(aggregates=['a'])
        self.assertEqual(['host_cpu', 'vm_cpu'], sorted(self.queries()))

    def test_why_it_is_unknown(self) -> None:
        self.answers = [{'metric': {}, 'value': [NOW, '1']}]
        (a,) = self.collect(aggregates=['a'], exclude='failed')
        self.assertIn('neither a label "host"', a.exclusions_unknown)
        self.assertEqual([], a.warnings)

    def test_prometheus_is_away(self) -> None:
        """It is not tried again, query after query."""
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        (a,) = self.collect(aggregates=['a'], exclude='failed')
        self.assertIn('exclude_hosts_query: ', a.exclusions_unknown)
        self.assertIn('503', a.exclusions_unknown)
        self.assertNotIn('failed', self.queries())


class TestDirtyRates(CollectTestCase):
    """How fast guests write to memory, where the policies file asks."""

    query = DirtyRateQuery('dirty', 'uuid', LabelType.NOVA_INSTANCE_UUID)
    answers: Sequence[Any] = ()

    def answer(self, request: Any, context: Any) -> Any:
        found = super().answer(request, context)
        if parse.parse_qs(request.text)['query'] == ['dirty']:
            found['data']['result'] = self.answers
        return found

    def test_each_instance(self) -> None:
        self.answers = [
            {'metric': {'uuid': uuid}, 'value': [NOW, '7e6']}
            for uuid in ('vm-a1', 'gone')
        ]
        (a,) = self.collect(aggregates=['a'], dirty=self.query)
        self.assertEqual(
            {'vm-a1': 7e6, 'vm-ab': 0.0},
            {one.uuid: one.dirty_rate for one in a.instances.values()},
        )
        self.assertEqual([], a.warnings)
        self.assertEqual(1, self.queries().count('dirty'))

    def test_what_is_not_known_is_told(self) -> None:
        """It does not keep anything from being planned."""
        self.answers = [{'metric': {'uuid': 'gone'}, 'value': [NOW, '1']}]
        (a,) = self.collect(aggregates=['a'], dirty=self.query)
        self.assertEqual(
            ['dirty_rate_query: none of its 1 series is of an instance; '
             'the memory write rates of guests are not known, so '
             'migrations may take longer than expected'],
            a.warnings,
        )  # fmt: skip
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        (a,) = self.collect(aggregates=['a'], dirty=self.query)
        [told] = a.warnings
        self.assertIn('503', told)


class TestEvents(CollectTestCase):
    """What Watcher tells and what Nova tells."""

    def told(
        self, *rows: Any, **more: Any
    ) -> list[tuple[str, Outcome, Origin]]:
        self.wire.get(MIGRATIONS, json={'migrations': list(rows)})
        (snapshot,) = self.collect(aggregates=['a'], **more)
        return [
            (one.instance, one.outcome, one.origin) for one in snapshot.events
        ]

    def watchers(self, outcome: Outcome, age: float = 0.0) -> Event:
        return Event('vm-a1', 'a1', 'a2', outcome, NOW - age, Origin.WATCHER)

    def asked(self) -> list[dict[str, list[str]]]:
        return [one.qs for one in self.keystone.requests('/os-migrations')]

    def test_of_the_scope(self) -> None:
        self.assertEqual(
            ['from', 'into', 'vm-a1'],
            [
                instance
                for instance, _, _ in self.told(
                    migration(
                        1,
                        instance_uuid='from',
                        source_compute='a1',
                        dest_compute=None,
                    ),
                    migration(
                        2,
                        instance_uuid='into',
                        source_compute='x',
                        dest_compute='a2',
                    ),
                    migration(3, source_compute='b1', dest_compute='b2'),
                    # It is in the scope, and came from elsewhere.
                    migration(
                        4,
                        instance_uuid='vm-a1',
                        source_compute='x',
                        dest_compute='y',
                    ),
                )
            ],
        )

    def test_both_tell(self) -> None:
        known = self.watchers(Outcome.MOVED)
        self.assertEqual(
            [
                ('vm-a1', Outcome.MOVED, Origin.WATCHER),
                ('vm-a1', Outcome.MOVED, Origin.NOVA),
            ],
            self.told(
                migration(1, instance_uuid='vm-a1'),
                events=[known],
            ),
        )

    def test_how_far_back(self) -> None:
        """Nova is asked in any case: moves under way always count."""
        for settings, since in (
            (Settings(cooldown_seconds=600.0), '2023-11-14t22:03:20z'),
            (Settings(return_guard_seconds=60.0), '2023-11-14t22:12:20z'),
            (Settings(), '2023-11-14t22:13:20z'),
            (Settings(quarantine_seconds=-1), '2023-11-14t21:13:20z'),
        ):
            gone = self.watchers(Outcome.FAILED, 7200.0)
            gone.instance = 'deleted'
            self.told(
                settings=settings,
                events=[self.watchers(Outcome.FAILED, 3600.0), gone],
            )
            self.assertEqual({'changes-since': [since]}, self.asked()[-1])

    def test_under_way_for_longer_than_nova_was_asked(self) -> None:
        self.servers(
            server(
                'vm-a1',
                **{
                    'OS-EXT-SRV-ATTR:host': 'a1',
                    'OS-EXT-STS:task_state': 'migrating',
                },
            )
        )
        self.wire.get(MIGRATIONS, json={'migrations': []})
        self.by_status()
        (snapshot,) = self.collect(aggregates=['a'])
        (event,) = snapshot.events
        self.assertEqual(
            ('vm-a1', Outcome.UNDER_WAY), (event.instance, event.outcome)
        )

    def by_status(self) -> None:
        """Matchers of queries go before those of whole paths."""
        old = {'created_at': '2023-11-14T12:00:00.000000'}
        for status, uuid in (('running', 'vm-a1'), ('queued', 'stale')):
            row = migration(
                1,
                uuid=status,
                instance_uuid=uuid,
                source_compute='a1',
                status=status,
                **old,
            )
            self.wire.get(
                f'{MIGRATIONS}?status={status}', json={'migrations': [row]}
            )

    def test_nobody_moves(self) -> None:
        """Then one listing does."""
        self.told()
        self.assertEqual(1, len(self.asked()))

    def test_left_behind(self) -> None:
        """Under way in a row, but the server has been idle for long."""
        row = migration(
            2, instance_uuid='vm-a1', source_compute='a1', status='queued'
        )
        late = row | {'updated_at': '2023-11-14T22:03:00.000000'}
        soon = row | {'updated_at': '2023-11-14T22:04:00.000000'}
        self.assertEqual([], self.told(late))
        self.assertEqual(1, len(self.told(soon)))
        old = self.watchers(Outcome.UNDER_WAY, 700.0)
        self.assertEqual([], self.told(events=[old]))
        # What waits for its turn may wait for long.
        waiting = self.watchers(Outcome.PLANNED, 7000.0)
        self.assertEqual(1, len(self.told(events=[waiting])))
        self.servers(
            server(
                'vm-a1',
                **{
                    'OS-EXT-SRV-ATTR:host': 'a1',
                    'OS-EXT-STS:task_state': 'migrating',
                },
            )
        )
        self.assertEqual(1, len(self.told(late)))
        self.assertEqual(2, len(self.told(late, events=[old])))


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
        # Spread alone has no use for it.
        self.assertIsNone(readings.capacity)

    def test_pack(self) -> None:
        pack = policy(mode='pack', capacity_query='host_full')
        (snapshot,) = self.collect(pack, aggregates=['a'])
        capacity = snapshot.readings['cpu'].capacity
        assert capacity
        self.assertEqual('host_full', capacity.query)

    def test_ceilings_of_a_drain(self) -> None:
        (snapshot,) = self.collect(
            policy(capacity_query='host_full'),
            settings=Settings(evacuate=True),
            aggregates=['a'],
        )
        capacity = snapshot.readings['cpu'].capacity
        assert capacity
        self.assertEqual('host_full', capacity.query)

    def test_disabled_policies_are_not_asked(self) -> None:
        off = policy(name='off', enabled=False)
        (snapshot,) = self.collect(policy(), off, aggregates=['a'])
        self.assertEqual(['cpu'], list(snapshot.readings))
        self.assertEqual(2, len(self.queries()))

    def readings(self) -> list[Reading]:
        """Of two policies, in the order in which they are asked."""
        ram = policy(
            name='ram', imbalance_query='host_ram', vm_profile_query='vm_ram'
        )
        (snapshot,) = self.collect(policy(), ram, aggregates=['a'])
        found = [
            one
            for name in ('cpu', 'ram')
            for one in (
                snapshot.readings[name].imbalance,
                snapshot.readings[name].profile,
            )
        ]
        return [one for one in found if one is not None]

    def test_prometheus_is_away(self) -> None:
        """Every other query would be tried for as long, and in vain."""
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        readings = self.readings()
        self.assertEqual(['host_cpu'] * 2, self.queries())
        self.assertEqual(
            ['host_cpu', 'vm_cpu', 'host_ram', 'vm_ram'],
            [one.query for one in readings],
        )
        for one in readings:
            self.assertEqual(Health.UNREACHABLE, one.health)
            self.assertIn('503', one.error)

    def test_a_query_that_is_refused(self) -> None:
        """The others are asked all the same."""

        def answer(request: Any, context: Any) -> Any:
            if 'host_cpu' in request.text:
                context.status_code = 422
                return {'status': 'error', 'error': 'bad', 'errorType': 'e'}
            return self.answer(request, context)

        self.wire.post(f'{PROMETHEUS}/api/v1/query', json=answer)
        health = [one.health for one in self.readings()]
        self.assertEqual([Health.UNREACHABLE] + [Health.HEALTHY] * 3, health)
        self.assertEqual(4, len(self.queries()))


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
        [warning] = snapshot.warnings
        self.assertIn('Placement: GET /resource_providers: HTTP 500', warning)
        self.assertIn('the headroom of the hosts is not known', warning)

    def test_nothing_to_warn_of(self) -> None:
        (snapshot,) = self.collect(aggregates=['a'])
        self.assertEqual([], snapshot.warnings)

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
