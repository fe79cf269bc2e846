# SPDX-License-Identifier: Apache-2.0
"""Is a recording read as it was written, and a damaged one refused?"""

import dataclasses
import json
import math
import os
import pathlib
import stat
from typing import Any

import fixtures
from oslotest import base

from kronos.common.exceptions import ArchiveError, PolicyFileError
from kronos.engine.reasons import Code
from kronos.engine.types import Event, Health, Origin, Outcome, Reading, Sample
from kronos.recordings import load, safe_files
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
        """N4, N5."""
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

    def test_what_is_no_number(self) -> None:
        """L8: NaN is an answer of Prometheus, but no JSON."""
        one = recordings.small()
        odd = Reading(
            'ram_of_host',
            Health.PARTIAL,
            [
                Sample('a1', math.nan, 1.0, 'ram{host="a1"}'),
                Sample('a1', 0.5, 1.0, 'ram{host="a1",x="y"}'),
                Sample('a2', -math.inf, 1.0, 'of no use'),
            ],
        )
        one.answers['ram_of_host', 'host'] = odd
        load.write(str(self.path), one)
        found = load.read(str(self.path)).answers['ram_of_host', 'host']
        odd.samples[2].series = ''
        self.assertEqual(repr(odd), repr(found))

    def test_unknown_services_and_headroom(self) -> None:
        """E12: what failed is not what is empty."""
        one = recordings.small()
        one.gathered.services = None
        one.gathered.cloud.hosts['a1'].headroom = None
        load.write(str(self.path), one)
        found = load.read(str(self.path)).gathered
        self.assertIsNone(found.services)
        self.assertIsNone(found.cloud.hosts['a1'].headroom)
        self.assertIsNotNone(found.cloud.hosts['a2'].headroom)

    def test_prometheus_was_away(self) -> None:
        self.write(answers={})
        plan = replay(load.read(str(self.path)), ReplayOptions())
        self.assertIn(
            'the recording has no answer to this query',
            plan.report.scopes[0].reason,
        )

    def test_template_of_cooldowns(self) -> None:
        """N7."""
        self.write(seeds=recordings.Seeds())
        self.assertEqual(
            {
                'aggregate_cooldowns': {},
                'instance_cooldowns': {},
                'instance_quarantines': {},
            },
            json.loads((self.path / 'cooldowns.json').read_text()),
        )

    def test_files_are_for_people(self) -> None:
        """N4: one row a line, and for nobody else to write."""
        self.write()
        lines = (self.path / 'nova/instances.json').read_text().splitlines()
        self.assertEqual(8 + 2, len(lines))
        for path in self.path.rglob('*'):
            wanted = 0o750 if path.is_dir() else 0o640
            self.assertEqual(wanted, stat.S_IMODE(path.stat().st_mode))


class TestWholeOrNothing(ArchiveTestCase):
    def refused(self, target: pathlib.Path) -> str:
        before = sorted(self.folder.rglob('*'))
        error = self.assertRaises(
            ArchiveError, load.write, str(target), recordings.small()
        )
        self.assertEqual(before, sorted(self.folder.rglob('*')))
        return str(error)

    def test_what_is_there_stays(self) -> None:
        self.path.mkdir()
        self.write()
        self.assertIn('something already', self.refused(self.path))
        (self.folder / 'file').touch()
        self.refused(self.folder / 'file')
        (self.folder / 'link').symlink_to(self.folder / 'elsewhere')
        self.refused(self.folder / 'link')

    def test_no_place(self) -> None:
        text = self.refused(self.folder / 'none' / 'recording')
        self.assertIn('cannot be written: No such file', text)

    def test_broken_off(self) -> None:
        """What cannot be written leaves nothing behind."""
        one = recordings.small()
        one.gathered.events[0].at = math.nan
        self.assertRaises(ValueError, load.write, str(self.path), one)
        self.assertEqual([], os.listdir(self.folder))


class TestDamage(ArchiveTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.write()

    def test_no_recording(self) -> None:
        self.path = self.folder
        self.assertIn('it is no recording', self.fault())
        self.path = self.folder / 'none'
        self.assertIn('No such file', self.fault())

    def test_missing_files(self) -> None:
        for path in sorted(self.path.rglob('*.*')):
            name = str(path.relative_to(self.path))
            data = path.read_bytes()
            path.unlink()
            with self.subTest(name=name):
                if name == 'cooldowns.json':
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
            ('placement/headroom.json', ['zz'], {}, 'zz: nova/hosts.json has'),
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

    def test_not_json(self) -> None:
        for data in (b'', b'{', b'[' * 10**6, b'\xff\xfe', b'[1,]'):
            path = self.path / 'nova/server_groups.json'
            path.write_bytes(data)
            with self.subTest(data=data[:9]):
                self.assertIn('nova/server_groups.json: Inv', self.fault())

    def test_a_bad_policies_file(self) -> None:
        """C21: the loader's own words."""
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
        self.assertIn('another file answers the same', self.fault())


class TestTricks(ArchiveTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.write()

    def test_links(self) -> None:
        """Nothing outside the directory is read."""
        path = self.path / 'nova/instances.json'
        path.rename(self.folder / 'elsewhere.json')
        path.symlink_to(self.folder / 'elsewhere.json')
        self.assertIn('nova/instances.json: it is a symbolic', self.fault())
        path.unlink()
        (self.folder / 'elsewhere.json').rename(path)
        (self.path / 'nova').rename(self.folder / 'nova')
        (self.path / 'nova').symlink_to(self.folder / 'nova')
        self.assertRegex(self.fault(), 'Not a directory|symbolic link')

    def test_pipes(self) -> None:
        """Reading one would wait for ever."""
        path = self.path / 'nova/instances.json'
        path.unlink()
        os.mkfifo(path)
        self.assertIn('it is no plain file', self.fault())

    def test_names_of_policies(self) -> None:
        text = (self.path / 'policies.yaml').read_text()
        (self.path / 'policies.yaml').write_text(
            text.replace('name: cpu', 'name: ../../cpu')
        )
        error = self.assertRaises(PolicyFileError, load.read, str(self.path))
        self.assertIn('name: must be lowercase', str(error))

    def test_large_files(self) -> None:
        self.useFixture(
            fixtures.MonkeyPatch(f'{safe_files.__name__}.MAX_BYTES', 9)
        )
        self.assertIn('it is larger than', self.fault())
