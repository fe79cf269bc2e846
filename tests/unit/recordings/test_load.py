# SPDX-License-Identifier: Apache-2.0
"""Is a recording read as it was written, and a damaged one refused?"""

import dataclasses
import math
import pathlib
from typing import Any

import fixtures
from oslotest import base

from kronos.common.exceptions import ArchiveError, PolicyFileError
from kronos.engine.reasons import Code
from kronos.engine.types import Event, Origin, Outcome
from kronos.recordings import load
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.replay import ReplayOptions, replay
from tests.builders import recordings


class ArchiveTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'recording'

    def write(self, **more: Any) -> None:
        load.write(str(self.path), recordings.small(**more))

    def fault(self) -> str:
        error = self.assertRaises(ArchiveError, load.read, str(self.path))
        text = str(error)
        self.assertLess(len(text), 500)
        return text.removeprefix(f'{self.path}/')


class TestRoundTrip(ArchiveTestCase):
    def test_nothing_is_lost(self) -> None:
        one = recordings.small()
        self.write()
        other = load.read(str(self.path))
        self.assertEqual(one, dataclasses.replace(other, source=''))
        plan = replay(one, ReplayOptions())
        self.assertEqual(plan.report, replay(other, ReplayOptions()).report)
        self.assertTrue(plan.report.steps)

    def test_a_stuck_migration(self) -> None:
        """It holds its host in every replay, whatever the names."""
        one = recordings.small()
        stuck = Event(
            'u9',
            'a1',
            'x',
            Outcome.UNDER_WAY,
            recordings.NOW - 9e4,
            Origin.NOVA,
        )
        one.gathered.events.append(stuck)
        load.write(str(self.path), one)
        plans = [
            replay(found, ReplayOptions()).report.scopes[0]
            for found in (
                one,
                load.read(str(self.path)),
                anonymizer.anonymized(one),
            )
        ]
        self.assertEqual(plans[0], plans[1])
        for plan in plans:
            codes = [getattr(why, 'code', '') for why in plan.stayed.values()]
            self.assertEqual(2, codes.count(Code.HOST_STUCK_OUT))

    def test_every_format_can_be_written(self) -> None:
        for number, path in enumerate(
            (recordings.DAEMONS, recordings.CLUSTER)
        ):
            one = load.read(str(path))
            target = str(self.folder / str(number))
            load.write(target, one)
            other = load.read(target)
            self.assertEqual(one, dataclasses.replace(other, source=str(path)))

    def test_unknown_services_and_headroom(self) -> None:
        """What failed is not what is empty."""
        one = recordings.small()
        one.gathered.services = None
        one.gathered.cloud.hosts['a1'].headroom = None
        load.write(str(self.path), one)
        found = load.read(str(self.path)).gathered
        self.assertIsNone(found.services)
        self.assertIsNone(found.cloud.hosts['a1'].headroom)
        self.assertIsNotNone(found.cloud.hosts['a2'].headroom)


class TestDamage(ArchiveTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.write()

    def test_no_recording(self) -> None:
        self.path = self.folder
        self.assertIn('it is not a recording', self.fault())
        self.path = self.folder / 'none'
        self.assertIn('No such file', self.fault())

    def test_missing_files(self) -> None:
        for path in sorted(self.path.rglob('*.*')):
            name = str(path.relative_to(self.path))
            data = path.read_bytes()
            path.unlink()
            with self.subTest(name=name):
                if name in ('cooldowns.json', 'watcher/effects.json'):
                    load.read(str(self.path))
                else:
                    self.assertEqual(f'{name}: it is missing', self.fault())
            path.write_bytes(data)

    def test_fields(self) -> None:
        far = 2**41
        for name, keys, value, text in (
            ('meta.json', ['format_version'], 2, 'must be the number 1'),
            ('meta.json', ['format_version'], '1', 'is "1"; replay'),
            ('meta.json', ['nonsense'], 1, 'nonsense: Unexpected'),
            ('meta.json', ['taken_at'], -1.0, 'taken_at: must be Unix'),
            ('meta.json', ['taken_at'], math.nan, 'taken_at: '),
            ('meta.json', ['settings', 'keep_hosts'], 0, 'settings.keep_h'),
            ('meta.json', ['settings', 'rebalance'], False, 'no phase'),
            ('meta.json', ['settings', 'x'], 1, 'settings.x: Unexpected'),
            ('meta.json', ['max_concurrent_migrations'], 0, 'at least 1'),
            ('nova/hosts.json', [0, 'name'], 'a2', '[1].name: a2 is there tw'),
            ('nova/instances.json', [2, 'vcpus'], '2', '[2].vcpus: Input'),
            ('nova/instances.json', [2, 'vcpus'], far, '[2].vcpus: must be'),
            ('nova/instances.json', [2, 'vcpus'], -1, '[2].vcpus: must be'),
            ('nova/instances.json', [2], 7, '[2]: Input'),
            ('nova/instances.json', [0, 'uuid'], 'u1', '[1].uuid: u1 is th'),
            ('nova/instances.json', [0, 'name'], 'n' * 70000, '[0].name: St'),
            ('nova/migrations.json', [0, 'at'], math.inf, '[0].at: '),
            ('nova/migrations.json', [0, 'outcome'], 'no', '[0].outcome: '),
            ('nova/services.json', [], {}, 'Input should be'),
            (
                'placement/headroom.json',
                ['zz'],
                {},
                'zz: there is no such host in nova/hosts.json',
            ),
            (
                'placement/headroom.json',
                ['a1', 'VCPU', 'used'],
                -1,
                'a1.VCPU.used: must be',
            ),
            ('prometheus/cpu.imbalance.json', ['query'], 'x', 'query: is not'),
            (
                'prometheus/cpu.imbalance.json',
                ['samples', 0, 'value'],
                math.nan,
                'samples[0].value',
            ),
            (
                'prometheus/cpu.imbalance.json',
                ['samples', 0, 'value'],
                'much',
                'samples[0].value',
            ),
            ('cooldowns.json', ['cooldown'], {}, 'cooldown: there is no such'),
            (
                'cooldowns.json',
                ['instance_cooldowns'],
                [],
                'instance_cooldowns: must be a mapping',
            ),
            (
                'cooldowns.json',
                ['instance_quarantines'],
                {'u1': -2},
                'instance_quarantines.u1: must be seconds',
            ),
        ):
            path = self.path / name
            before = path.read_bytes()
            recordings.changed(path, *keys, value=value)
            with self.subTest(name=name, keys=keys):
                fault = self.fault()
                self.assertTrue(fault.startswith(f'{name}: '), fault)
                self.assertIn(text, fault)
            path.write_bytes(before)

    def test_a_bad_policies_file(self) -> None:
        """The loader's own words."""
        (self.path / 'policies.yaml').write_text('policies: []\n')
        error = self.assertRaises(PolicyFileError, load.read, str(self.path))
        self.assertIn(f'{self.path}/policies.yaml', str(error))
        (self.path / 'policies.yaml').write_bytes(b'\xff')
        self.assertIn('policies.yaml: it is not UTF-8', self.fault())

    def test_two_answers_to_one_query(self) -> None:
        text = (self.path / 'policies.yaml').read_text()
        (self.path / 'policies.yaml').write_text(
            text.replace('ram_of_host', 'cpu_of_host')
        )
        path = self.path / 'prometheus/ram.imbalance.json'
        recordings.changed(path, 'query', value='cpu_of_host')
        load.read(str(self.path))
        recordings.changed(path, 'samples', 0, 'value', value=0.25)
        self.assertIn('another file has a different answer', self.fault())
