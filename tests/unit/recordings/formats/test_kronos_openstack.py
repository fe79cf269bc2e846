# SPDX-License-Identifier: Apache-2.0
"""Are recordings of kronos-openstack 0.2 read, whatever they lack?"""

import json
import pathlib
import shutil
from typing import Any

import fixtures
from oslotest import base

from kronos.common.exceptions import ArchiveError
from kronos.engine.types import (
    UNASSIGNED,
    AggregateResult,
    Health,
    MigrationPhase,
)
from kronos.policies import loader
from kronos.recordings import load
from kronos.recordings.recording import ANY_LABEL
from kronos.recordings.replay import ReplayOptions, replay
from tests.builders.recordings import DAEMONS, changed

HOST = 'fake-host-0000'


class DaemonsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = top / 'recording'
        shutil.copytree(DAEMONS, self.path)

    def change(self, name: str, *keys: Any, value: Any) -> None:
        changed(self.path / name, *keys, value=value)

    def json(self, name: str) -> Any:
        return json.loads((self.path / name).read_text())

    def plan(self, **options: Any) -> AggregateResult:
        (scope,) = replay(
            load.read(str(self.path)), ReplayOptions(**options)
        ).report.scopes
        return scope

    def fault(self) -> str:
        error = self.assertRaises(ArchiveError, load.read, str(self.path))
        return str(error).removeprefix(f'{self.path}/')


class TestReading(DaemonsTestCase):
    def test_planned(self) -> None:
        scope = self.plan()
        self.assertEqual(UNASSIGNED, scope.name)
        # What the hosts show beyond their servers moves with these.
        self.assertEqual(5, len(scope.steps))
        self.assertEqual(
            {MigrationPhase.SPREAD}, {s.phase for s in scope.steps}
        )
        self.assertLess(scope.combined_after, scope.combined_before)

    def test_what_is_unknown_is_said(self) -> None:
        warnings = '\n'.join(self.plan().warnings)
        for word in ('headroom', 'locked', 'past moves'):
            self.assertIn(word, warnings)
        # Unknown room stops the plan only where somebody wants that.
        scope = self.plan(overrides={'require_headroom': 'true'})
        self.assertEqual([], scope.steps)

    def test_no_services(self) -> None:
        before = self.plan().steps
        (self.path / 'nova/services.json').unlink()
        scope = self.plan()
        self.assertEqual(before, scope.steps)
        self.assertIn('all hosts as up and enabled', '\n'.join(scope.warnings))

    def test_services(self) -> None:
        """And hosts of which os-services tells nothing stay out."""
        rows = self.json('nova/services.json')
        rows[0]['status'] = 'disabled'
        rows[1]['state'] = 'down'
        rows.append(rows[1] | {'binary': 'nova-conductor', 'state': 'up'})
        del rows[2]
        self.change('nova/services.json', value=rows)
        self.assertEqual(
            {f'fake-host-000{number}' for number in range(3)},
            set(self.plan().unavailable_hosts),
        )

    def test_traits_and_cooldowns_are_optional(self) -> None:
        (self.path / 'placement').mkdir()
        (self.path / 'placement/cpu_traits.json').write_text(
            json.dumps({HOST: ['HW_CPU_X86_AVX']})
        )
        (self.path / 'cooldowns.json').write_text(
            json.dumps(
                {
                    'aggregate_cooldowns': {UNASSIGNED: 99999, 'nowhere': 1},
                    'instance_cooldowns': {'nobody': 1},
                }
            )
        )
        recording = load.read(str(self.path))
        hosts = recording.gathered.cloud.hosts
        self.assertEqual(['HW_CPU_X86_AVX'], hosts[HOST].traits)
        scope = self.plan()
        self.assertIn('cools down for 10 min', scope.reason)
        for text in ('no aggregate nowhere', 'no instance nobody'):
            self.assertIn(text, '\n'.join(scope.warnings))

    def test_groups_of_either_form(self) -> None:
        """And an instance knows its groups, too."""
        name = 'nova/server_groups.json'
        rows = self.json(name)[:1]
        rows[0]['policies'] = []
        rows[0] |= {'policy': 'anti-affinity', 'rules': None, 'more': [1]}
        rows[0]['rules'] = {'max_server_per_host': 2}
        self.change(name, value=rows)
        instances = self.json('nova/instances.json')
        stranger = instances[HOST][0]
        stranger['server_groups'] = [rows[0]['id'], 'unheard-of']
        self.change('nova/instances.json', value=instances)
        recording = load.read(str(self.path))
        (group,) = recording.gathered.groups
        self.assertEqual('anti-affinity', group.policy)
        self.assertEqual(2, group.max_server_per_host)
        self.assertIn(stranger['uuid'], group.members)
        self.assertIn(
            'their rules are not known', '\n'.join(recording.unknown)
        )

    def test_aggregates_overlap(self) -> None:
        hosts = self.json('nova/aggregates.json')[UNASSIGNED]
        self.change(
            'nova/aggregates.json',
            value={
                'a': hosts[:4],
                'b': hosts[2:],
                'empty': [],
                UNASSIGNED: [],
            },
        )
        self.change('meta.json', 'aggregates', value=['b', 'a', 'empty'])
        found = replay(
            load.read(str(self.path)), ReplayOptions()
        ).report.scopes
        self.assertEqual(['b', 'a'], [one.name for one in found])
        self.assertIn('aggregate empty has no host', found[0].warnings)

    def test_hosts_without_instances(self) -> None:
        table = self.json('nova/instances.json')
        table['fake-host-0003'] = []
        del table['fake-host-0005']
        table['elsewhere'] = table.pop('fake-host-0002')
        self.change('nova/instances.json', value=table)
        self.assertIn('in no aggregate', '\n'.join(self.plan().warnings))

    def test_an_instance_on_its_way(self) -> None:
        """It was listed on both hosts, so nobody knows where it is."""
        table = self.json('nova/instances.json')
        twice = table[HOST][0]
        table['fake-host-0001'].append(twice)
        self.change('nova/instances.json', value=table)
        self.assertIn('and on', self.plan().unmovable[twice['uuid']])

    def test_health(self) -> None:
        name = 'prometheus/imbalance_cpu-spread.json'
        for health in ('stale', 'unreachable'):
            self.change(name, 'health', value=health)
            cpu, memory = self.plan().policies
            self.assertIn(f'it was {health}', cpu.skipped)
            self.assertEqual('', memory.skipped)
        series = self.json(name)['series']
        del series['fake-host-0004']
        series['fake-host-0000'] = None
        self.change(name, 'health', value='partial')
        self.change(name, 'series', value=series)
        cpu, _ = self.plan(overrides={'min_host_coverage': '0.5'}).policies
        self.assertEqual(Health.PARTIAL, cpu.health)
        self.assertEqual(
            ['fake-host-0000', 'fake-host-0004'], cpu.missing_hosts
        )

    def test_policies_beside_it(self) -> None:
        policies = loader.load(str(self.path / 'policies.yaml')).policies
        before = self.plan().steps
        (self.path / 'policies.yaml').unlink()
        self.assertIn('--policies', self.fault())
        recording = load.read(str(self.path), policies)
        found = replay(recording, ReplayOptions()).report.scopes
        self.assertEqual(before, found[0].steps)

    def test_the_query_decides(self) -> None:
        """Not the file's name, nor blanks around the query."""
        old = 'prometheus/imbalance_cpu-spread.json'
        (self.path / old).rename(self.path / 'prometheus/x.json')
        self.change('prometheus/x.json', 'query', value='FAKE:cpu-imbalance\n')
        recording = load.read(str(self.path))
        self.assertIn(('FAKE:cpu-imbalance', ANY_LABEL), recording.answers)
        (self.path / 'prometheus/x.json').unlink()
        self.assertIn('no answer', self.plan().policies[0].skipped)


class TestFaults(DaemonsTestCase):
    def test_fields(self) -> None:
        for name, keys, value, text in (
            ('meta.json', ['recorded_at'], 'soon', 'recorded_at: must be a'),
            ('meta.json', ['recorded_at'], '0001-01-01', 'recorded_at: must'),
            ('meta.json', ['aggregates'], ['x'], 'aggregates: nova/aggreg'),
            ('nova/aggregates.json', [UNASSIGNED], 7, f'{UNASSIGNED}: Input'),
            ('nova/instances.json', [HOST, 0, 'uuid'], None, '[0].uuid: '),
            (
                'nova/instances.json',
                [HOST, 0, 'flavor_ram_mb'],
                2**60,
                f'{HOST}[0]: flavor_vcpus',
            ),
            (
                'nova/server_groups.json',
                [0, 'policies'],
                [],
                '[0]: contains neither policy',
            ),
            (
                'prometheus/imbalance_cpu-spread.json',
                ['series', HOST],
                float('nan'),
                f'series.{HOST}',
            ),
            (
                'prometheus/imbalance_cpu-spread.json',
                ['health'],
                'fine',
                'health: Input',
            ),
        ):
            path = self.path / name
            before = path.read_bytes()
            self.change(name, *keys, value=value)
            with self.subTest(name=name, keys=keys):
                fault = self.fault()
                self.assertTrue(fault.startswith(f'{name}: '), fault)
                self.assertIn(text, fault)
            path.write_bytes(before)

    def test_missing_files(self) -> None:
        for name in ('meta', 'nova/aggregates', 'nova/instances'):
            path = self.path / f'{name}.json'
            before = path.read_bytes()
            path.unlink()
            self.assertEqual(f'{name}.json: it is missing', self.fault())
            path.write_bytes(before)

    def test_unknown_time(self) -> None:
        self.change('meta.json', value={})
        recording = load.read(str(self.path))
        self.assertEqual(0.0, recording.recorded_at)
        self.assertIn(
            'does not contain its time', '\n'.join(recording.unknown)
        )
