# SPDX-License-Identifier: Apache-2.0
"""Answers of Prometheus that are incomplete, or lie, in all combinations.

Whatever comes over the wire, no plan has a server go to a host that may be at
fault, and whatever is left out or may be missing is named in the plan.
"""

import dataclasses
import email.utils
import itertools
import random
from collections.abc import Iterator
from typing import Any
from urllib import parse

import fixtures
import requests
from oslotest import base

from kronos.clients import connection, placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.prometheus import client as prometheus_client
from kronos.engine.planning import propose
from kronos.engine.settings import HostMatch, PartialAnswers, Settings
from kronos.engine.types import AggregateResult, Snapshot
from kronos.extensions.recovery import failures
from kronos.extensions.recovery.readings.failures import FailureQueries
from kronos.extensions.recovery.readings.reader import RecoveryReader
from kronos.policies import loader
from kronos.policies.models import DirtyRateQuery, LabelType, Policy
from kronos.recordings import load
from kronos.recordings.recording import Recording
from kronos.snapshots.collector import (
    CollectedCloud,
    Collector,
    ScopeRequest,
)
from tests.fakes import keystone
from tests.unit.snapshots import test_collector
from tests.unit.snapshots.test_collector import NOW, PROMETHEUS

BUSY, CALM, FAULTY = 'cmp1', 'cmp2', 'cmp3'
HOSTS = {BUSY: '0.8', CALM: '0.3', FAULTY: '0.05'}
SERVERS = [f'vm-{number}' for number in range(6)]
EXCLUSIONS, HOST_FAULTS, SERVER_FAULTS = 'excluded', 'faulty', 'broken'
OF_POLICY = {
    'host_cpu': 'imbalance_query',
    'vm_cpu': 'vm_profile_query',
    'host_size': 'host_capacity_query',
    'host_full': 'capacity_query',
}
DIRTY = 'dirty'
QUERIES = (*OF_POLICY, DIRTY, EXCLUSIONS, HOST_FAULTS, SERVER_FAULTS)
PARTIAL = ({}, {'isPartial': True}, {'warnings': ['store 2 is away']})
WHOLE = ({'infos': ['PromQL info: x']}, {'isPartial': False, 'warnings': []})
CLOCKS = (-3600.0, -400.0, -200.0, -4.0, 0.0, 4.0, 200.0, 3600.0)
"""Seconds that the clock of Prometheus is ahead."""
FORMS = {
    'plain': '{}',
    'capitals': '{}',
    'port': '{}:9100',
    'domain': '{}.example.org',
    'both': '{}.EXAMPLE.org:9100',
    'address': '10.0.0.{}:9100',
}
LACKING = ('none', 'one', 'all')
"""Which series lack their label."""


@dataclasses.dataclass(frozen=True)
class Distortion:
    """What is odd about the answer to one query."""

    extra: Any = dataclasses.field(default_factory=dict)
    ahead: float = 0.0
    form: str = 'plain'
    lacking: str = 'none'

    @property
    def is_partial(self) -> bool:
        return self.extra in PARTIAL[1:]


def spelled(host: str, form: str) -> str:
    name = host[3:] if form == 'address' else host
    return FORMS[form].format(name.upper() if form == 'capitals' else name)


def server_id(name: str) -> str:
    return f'{int(name[3:]):08x}-0000-4000-8000-000000000000'


class DistortedTestCase(base.BaseTestCase):
    """A cloud of three hosts; the calmest one is at fault."""

    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())
        self.wire = self.keystone.wire
        self.distortions: dict[str, Distortion] = {}
        self.fill()

    def fill(self) -> None:
        one = test_collector
        self.wire.get(
            one.HYPERVISORS,
            json={'hypervisors': [one.hypervisor(host) for host in HOSTS]},
        )
        aggregate = one.aggregate(1, 'a', *HOSTS)
        self.wire.get(one.AGGREGATES, json={'aggregates': [aggregate]})
        self.wire.get(
            one.SERVICES,
            json={'services': [one.SERVICE | {'host': h} for h in HOSTS]},
        )
        self.wire.get(
            one.SERVERS,
            json={
                'servers': [
                    one.server(
                        server_id(name), **{'OS-EXT-SRV-ATTR:host': BUSY}
                    )
                    for name in SERVERS
                ]
            },
        )
        self.wire.get(one.GROUPS, json={'server_groups': []})
        self.wire.get(f'{one.NOVA}/os-migrations', json={'migrations': []})
        self.wire.get(
            f'{one.PLACEMENT}/resource_providers',
            json={'resource_providers': []},
        )
        self.wire.get(
            f'{one.PLACEMENT}/allocation_candidates',
            json={'provider_summaries': {}},
        )
        self.wire.post(f'{PROMETHEUS}/api/v1/query', json=self.answer)
        found = connection.connect(self.keystone.session, 'one')
        self.nova = NovaClient(found.compute, retry_backoff=0)
        self.placement = placement.PlacementClient(
            found.placement, retry_backoff=0
        )

    def answer(self, request: Any, context: Any) -> Any:
        query = parse.parse_qs(request.text)['query'][0]
        odd = self.distortions.get(query, Distortion())
        at = NOW + odd.ahead
        context.headers['Date'] = email.utils.formatdate(at, usegmt=True)
        rows = list(self.rows(query, odd))
        if odd.is_partial:
            # The store that is away has what matters.
            rows = [row for row in rows if FAULTY[3:] not in str(row)]
        for number, (labels, _) in enumerate(rows):
            last = number == len(rows) - 1
            if odd.lacking == 'all' or (odd.lacking == 'one' and last):
                labels.clear()
                labels['job'] = 'database'
        result = [
            {'metric': labels, 'value': [at, value]} for labels, value in rows
        ]
        data = {'resultType': 'vector', 'result': result}
        return {'status': 'success', 'data': data} | odd.extra

    def rows(
        self, query: str, odd: Distortion
    ) -> Iterator[tuple[dict[str, str], str]]:
        """The label sets of an answer, with their values."""
        if query == SERVER_FAULTS:
            yield {'instance_uuid': server_id(SERVERS[0])}, str(NOW - 60)
        elif query in ('vm_cpu', DIRTY):
            for name in SERVERS:
                yield {'uuid': server_id(name)}, '0.1'
        else:
            for host, load in HOSTS.items():
                label = {'host': spelled(host, odd.form)}
                is_faulty = str(int(host == FAULTY))
                values = {
                    'host_size': '1',
                    EXCLUSIONS: is_faulty,
                    HOST_FAULTS: is_faulty,
                }
                yield label, values.get(query, load)

    def collect(self, settings: Settings) -> CollectedCloud:
        collector = Collector(
            self.nova,
            self.placement,
            prometheus_client.PrometheusClient(
                PROMETHEUS,
                requests.Session(),
                max_retries=0,
                clock=lambda: NOW,
                complain=lambda *_: None,
            ),
            exclude_hosts_query=EXCLUSIONS,
            reader=RecoveryReader(FailureQueries(HOST_FAULTS, SERVER_FAULTS)),
            dirty_rates=DirtyRateQuery(
                DIRTY, 'uuid', LabelType.NOVA_INSTANCE_UUID
            ),
            clock=lambda: NOW,
        )
        return collector.collect(REQUEST, [POLICY], settings)

    def planned(
        self, settings: Settings, **distortions: Distortion
    ) -> tuple[Snapshot, AggregateResult]:
        self.distortions = distortions
        collected = self.collect(settings)
        self.inventory = collected.gathered
        [snapshot] = collected.snapshots
        [scope] = propose.propose([snapshot], [POLICY], settings).scopes
        return snapshot, scope


REQUEST = ScopeRequest(aggregates=['a'])
POLICY = Policy(
    name='cpu',
    mode='spread',
    weight=1.0,
    imbalance_query='host_cpu',
    vm_profile_query='vm_cpu',
    vm_profile_label='uuid',
    vm_profile_label_type='nova_instance_uuid',
    host_capacity_query='host_size',
    capacity_query='host_full',
)


def settings_of(
    how: HostMatch = HostMatch.SHORT,
    partial: PartialAnswers = PartialAnswers.WARN,
) -> Settings:
    return Settings(
        host_match=how,
        partial_answers=partial,
        evacuate=True,
        max_migrations=3,
        min_host_coverage=0.5,
    )


def text_of(snapshot: Snapshot, scope: AggregateResult) -> str:
    """All that an operator reads of a plan."""
    skipped = [one.skipped for one in scope.policies]
    return ' '.join([scope.reason, *scope.warnings, *skipped])


class TestDistorted(DistortedTestCase):
    def test_nothing_odd(self) -> None:
        """Or the test would be of no use."""
        snapshot, scope = self.planned(settings_of())
        self.assertEqual({CALM}, {one.destination for one in scope.steps})
        self.assertEqual(1.0, snapshot.hosts[FAULTY].excluded)
        self.assertEqual(1.0, snapshot.hosts[FAULTY].faulty)
        self.assertEqual('', failures.why_unknown(self.inventory.beside))
        self.distortions = {EXCLUSIONS: Distortion(lacking='none')}
        self.assertNotIn('partial', text_of(snapshot, scope))

    def test_the_exclusions_in_every_combination(self) -> None:
        for extra, form, lacking, how in itertools.product(
            (*PARTIAL, *WHOLE), FORMS, LACKING, HostMatch
        ):
            odd = Distortion(extra, 0.0, form, lacking)
            self.check(settings_of(how), **{EXCLUSIONS: odd})

    def test_each_query_by_each_clock(self) -> None:
        for query, ahead, partial in itertools.product(
            QUERIES, CLOCKS, PartialAnswers
        ):
            odd = Distortion(ahead=ahead)
            self.check(settings_of(partial=partial), **{query: odd})

    def test_each_query_with_each_gap(self) -> None:
        for query, extra, lacking, partial in itertools.product(
            QUERIES, (*PARTIAL, *WHOLE), LACKING, PartialAnswers
        ):
            odd = Distortion(extra, lacking=lacking)
            self.check(settings_of(partial=partial), **{query: odd})

    def test_all_of_them_together(self) -> None:
        rng = random.Random(38)
        for _ in range(100):
            odd = {
                query: Distortion(
                    rng.choice((*PARTIAL, *WHOLE)),
                    rng.choice(CLOCKS),
                    rng.choice(list(FORMS)),
                    rng.choice(LACKING),
                )
                for query in rng.sample(QUERIES, rng.randint(1, 4))
            }
            how = rng.choice(list(HostMatch))
            partial = rng.choice(list(PartialAnswers))
            self.check(settings_of(how, partial), **odd)

    def check(self, settings: Settings, **odd: Distortion) -> None:
        snapshot, scope = self.planned(settings, **odd)
        text = text_of(snapshot, scope)
        self.check_exclusions(snapshot, scope, odd, text)
        self.check_failures(snapshot, odd, text)
        if snapshot.exclusions_unknown:
            # No policy is looked at.
            self.assertEqual([], scope.steps)
            return
        for query, one in odd.items():
            if abs(one.ahead) > 5:
                self.assertIn('Synchronise the clocks', text, odd)
            if query in OF_POLICY:
                self.check_policy(OF_POLICY[query], one, settings, text)
        dirty = odd.get(DIRTY, Distortion())
        if dirty.is_partial or dirty.lacking != 'none':
            self.assertIn('dirty_rate_query: ', text, odd)

    def check_exclusions(
        self,
        snapshot: Snapshot,
        scope: AggregateResult,
        odd: dict[str, Distortion],
        text: str,
    ) -> None:
        one = odd.get(EXCLUSIONS, Distortion())
        destinations = {step.destination for step in scope.steps}
        self.assertNotIn(FAULTY, destinations, odd)
        if one.is_partial or one.lacking != 'none' or one.form == 'address':
            self.assertTrue(snapshot.exclusions_unknown, odd)
            self.assertIn(snapshot.exclusions_unknown, text)
        if not snapshot.exclusions_unknown:
            self.assertIsNotNone(snapshot.hosts[FAULTY].excluded, odd)

    def check_failures(
        self, snapshot: Snapshot, odd: dict[str, Distortion], text: str
    ) -> None:
        for query in (HOST_FAULTS, SERVER_FAULTS):
            one = odd.get(query, Distortion())
            if one.is_partial or one.lacking != 'none':
                self.assertTrue(
                    failures.why_unknown(self.inventory.beside), odd
                )
        if not failures.why_unknown(self.inventory.beside):
            self.assertIsNotNone(snapshot.hosts[FAULTY].faulty, odd)
            failed = snapshot.instances[server_id(SERVERS[0])]
            self.assertTrue(failed.failure, odd)

    def check_policy(
        self, query: str, one: Distortion, settings: Settings, text: str
    ) -> None:
        """Of a policy that is not judged one reason is enough."""
        if 'no policy can be used' in text:
            return
        if one.is_partial:
            self.assertIs(PartialAnswers.WARN, settings.partial_answers)
            self.assertIn(f'{query}: the answer is partial', text, one)
        if one.lacking == 'one':
            self.assertIn(f'{query}: 1 series of the answer', text, one)
            self.assertIn('""}', text, one)
        self.assertNotEqual('all', one.lacking)
        self.assertGreaterEqual(one.ahead, -300.0)


class TestRecordings(DistortedTestCase):
    """What was judged is kept: a replay says what the audit said."""

    def test_a_replay_equals_its_audit(self) -> None:
        folder = self.useFixture(fixtures.TempDir()).path
        settings = settings_of()
        for number, (query, odd) in enumerate(
            itertools.product(
                ('host_cpu', 'vm_cpu', DIRTY, EXCLUSIONS),
                (
                    Distortion(),
                    Distortion({'isPartial': True}),
                    Distortion(lacking='one'),
                    Distortion(lacking='all'),
                    Distortion(ahead=-200.0),
                    Distortion(ahead=-400.0),
                    Distortion(form='both'),
                ),
            )
        ):
            self.distortions = {query: odd}
            collected = self.collect(settings)
            audit = propose.propose(collected.snapshots, [POLICY], settings)
            was = Recording(
                collected.gathered,
                [POLICY],
                REQUEST,
                settings,
                collected.answers,
                loader.dump([POLICY]),
                recorded_at=NOW,
            )
            load.write(f'{folder}/{number}', was)
            found = load.read(f'{folder}/{number}')
            again = propose.propose(found.snapshots(), [POLICY], settings)
            self.assertEqual(audit.steps, again.steps)
            for one, other in zip(audit.scopes, again.scopes, strict=True):
                self.assertEqual(one.reason, other.reason)
                self.assertEqual(one.policies, other.policies)
                self.assertEqual(sorted(one.warnings), sorted(other.warnings))


class TestStrangers(DistortedTestCase):
    """A label at fault that is no host, beside such as are."""

    def rows(
        self, query: str, odd: Distortion
    ) -> Iterator[tuple[dict[str, str], str]]:
        for labels, value in super().rows(query, odd):
            if query == EXCLUSIONS and value == '1':
                yield {'host': '10.0.0.3:9100'}, '1'
            else:
                yield labels, value

    def test_it_is_named(self) -> None:
        for how in HostMatch:
            snapshot, scope = self.planned(settings_of(how))
            self.assertEqual('', snapshot.exclusions_unknown)
            self.assertIn("'10.0.0.3:9100' (1)", text_of(snapshot, scope))
