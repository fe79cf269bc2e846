# SPDX-License-Identifier: Apache-2.0
"""A damaged recording is planned or refused, and nothing else. (hypothesis)

``KRONOS_FUZZ`` is the number of examples.
"""

import json
import os
import pathlib
import random
import shutil
import tempfile
from typing import Any

import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.common.exceptions import ArchiveError, KronosException
from kronos.engine.types import Disruption, EffectRatio
from kronos.recordings import load, reader, writer
from kronos.recordings.replay import ReplayOptions, replay
from kronos.reports import document
from tests import places
from tests.builders import recordings

FUZZED = hypothesis.settings(
    max_examples=int(os.environ.get('KRONOS_FUZZ', '150')),
    derandomize=True,
    database=None,
)
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    2**40,
    2**63,
    10**400,
    0.5,
    -0.0,
    1e308,
    float('nan'),
    float('inf'),
    '',
    'a1',
    '../../etc/passwd',
    '\x00\x1b[2J',
    'x' * 10**6,
    '\ud800',
    [],
    {},
    [[[[[[]]]]]],
    {'a': {'a': {'a': {}}}},
]
YAML = [
    'a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\npolicies: [*c,*c]\n',
    'policies: &a [*a]\n',
    'policies: ' + '[' * 5000,
    'policies: 2020-99-99\n',
    'policies: !!set {a, b}\n',
    'policies: [{weight: 0x' + 'f' * 9000 + '}]\n',
    'policies: !!python/object:os.system [ls]\n',
]


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in a document."""
    found = [path]
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        found += paths_in(inner, (*path, key))
    return found


def damage(folder: pathlib.Path, rng: random.Random) -> str:
    """Spoil one thing; returns what."""
    path = rng.choice(sorted(folder.rglob('*.*')))
    data = path.read_bytes()
    kind = rng.choice(['json'] * 6 + ['cut', 'flip', 'remove', 'yaml'])
    if kind == 'yaml':
        (folder / 'policies.yaml').write_text(rng.choice(YAML))
    elif kind == 'remove':
        path.unlink()
    elif kind == 'cut' or not data:
        path.write_bytes(data[: rng.randrange(len(data) + 1)])
    elif kind == 'flip' or path.suffix != '.json':
        at = rng.randrange(len(data))
        path.write_bytes(
            data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        )
    else:
        try:
            document = json.loads(data)
        except ValueError:  # it is spoilt already
            return ''
        kind = _replace(path, document, rng)
    return f'{path}: {kind}'


def _replace(path: pathlib.Path, document: Any, rng: random.Random) -> str:
    way = rng.choice(paths_in(document))
    value = rng.choice(VALUES)
    action = rng.choice(['change', 'change', 'delete', 'double', 'unknown'])
    if not way:
        document = value
    else:
        inner = document
        for key in way[:-1]:
            inner = inner[key]
        if action == 'change':
            inner[way[-1]] = value
        elif action == 'delete':
            del inner[way[-1]]
        elif isinstance(inner, list):
            inner.append(inner[way[-1]])
        else:
            inner['x'] = value
    path.write_text(json.dumps(document))
    return f'{action} {way} {str(value):.30}'


class TestDamaged(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        load.write(str(self.top / 'ours'), recordings.small())
        shutil.copytree(recordings.DAEMONS, self.top / 'daemons')

    @FUZZED
    @hypothesis.given(st.sampled_from(['ours', 'daemons']), st.randoms())
    def test_a_plan_or_an_error(self, which: str, rng: random.Random) -> None:
        folder = self.top / 'damaged'
        shutil.copytree(self.top / which, folder)
        try:
            told = [damage(folder, rng) for _ in range(rng.randint(1, 3))]
            hypothesis.note(str(told))
            try:
                plan = replay(load.read(str(folder)), ReplayOptions())
            except KronosException as error:
                self.assertLess(len(str(error)), 5000)
            else:
                json.dumps(document.document(plan.report), allow_nan=False)
        finally:
            shutil.rmtree(folder)

    @FUZZED
    @hypothesis.given(st.randoms())
    def test_a_single_file(self, rng: random.Random) -> None:
        folder = self.top / 'single'
        folder.mkdir()
        path = folder / 'cluster.json'
        shutil.copy(places.CLUSTERS / 'by-hand.json', path)
        try:
            hypothesis.note(damage(folder, rng))
            try:
                replay(load.read(str(path)), ReplayOptions())
            except KronosException as error:
                self.assertLess(len(str(error)), 5000)
        finally:
            shutil.rmtree(folder)

    def test_each_file_as_something_else(self) -> None:
        """Whatever a file says as a whole."""
        for which in ('ours', 'daemons'):
            for path in sorted((self.top / which).rglob('*.json')):
                was = path.read_bytes()
                for value in VALUES:
                    path.write_text(json.dumps(value))
                    try:
                        replay(
                            load.read(str(self.top / which)), ReplayOptions()
                        )
                    except KronosException as error:
                        self.assertLess(len(str(error)), 5000)
                path.write_bytes(was)

    def test_no_services(self) -> None:
        """An empty listing is not a listing that failed."""
        path = self.top / 'ours' / 'nova' / 'services.json'
        path.write_text('[]')
        found = load.read(str(self.top / 'ours'))
        self.assertEqual({}, found.gathered.services)
        replay(found, ReplayOptions())
        path.write_text('null')
        found = load.read(str(self.top / 'ours'))
        self.assertIsNone(found.gathered.services)

    def test_effects(self) -> None:
        """Recordings of before have none; amounts are checked."""
        path = self.top / 'ours' / reader.EFFECTS
        [was] = load.read(str(self.top / 'ours')).gathered.effects.values()
        self.assertEqual([EffectRatio('cpu', 0.5, 4, 1)], was)
        rows = json.loads(path.read_text())
        for row in (
            {'scope': 'a', 'policy': 'ram', 'ratio': 0.5, 'plans': -1},
            {'scope': 'a', 'policy': 'ram', 'ratio': 'much', 'plans': 1},
            {'scope': 'a', 'policy': 'ram', 'ratio': 0.5},
            rows[0],
        ):
            path.write_text(json.dumps([*rows, row]))
            error = self.assertRaises(
                ArchiveError, load.read, str(self.top / 'ours')
            )
            self.assertIn(reader.EFFECTS, str(error))
        path.unlink()
        self.assertEqual(
            {}, load.read(str(self.top / 'ours')).gathered.effects
        )

    def test_disruptions(self) -> None:
        """Recordings without budgets have none; times are checked."""
        was = recordings.small()
        was.gathered.disruptions = [
            Disruption('u0', 'p', recordings.NOW - 60, is_under_way=True),
            Disruption('u7', 'p'),
        ]
        was.settings.project_budget = '2,5/3600'
        was.settings.project_budgets = {'p': '1'}
        folder = str(self.top / 'budgets')
        writer.write(folder, was)
        now = load.read(folder)
        self.assertEqual(was.gathered.disruptions, now.gathered.disruptions)
        self.assertEqual({'p': '1'}, now.settings.project_budgets)
        [snapshot, *_] = now.snapshots()
        self.assertEqual(was.gathered.disruptions, snapshot.disruptions)
        path = self.top / 'budgets' / reader.DISRUPTIONS
        path.write_text('[{"instance": "u0", "started": 1e300}]')
        error = self.assertRaises(ArchiveError, load.read, folder)
        self.assertIn('[0].started: must be Unix seconds', str(error))
        self.assertFalse((self.top / 'ours' / reader.DISRUPTIONS).exists())

    def test_versions_of_hypervisors(self) -> None:
        """Only what Nova tells is written."""
        hosts = self.top / 'ours' / 'nova' / 'hosts.json'
        rows = json.loads(hosts.read_text())
        self.assertNotIn('hypervisor_version', rows[0])
        rows[0]['hypervisor_version'] = 8002001
        hosts.write_text(json.dumps(rows))
        was = load.read(str(self.top / 'ours'))
        folder = str(self.top / 'versions')
        writer.write(folder, was)
        now = load.read(folder)
        for recording in (was, now):
            host = recording.gathered.cloud.hosts[rows[0]['name']]
            self.assertEqual(8002001, host.hypervisor_version)

    def test_hosts_at_fault(self) -> None:
        """A recording that knows none says nothing, as those of before."""
        meta = self.top / 'ours' / 'meta.json'
        hosts = self.top / 'ours' / 'nova' / 'hosts.json'
        document, rows = (json.loads(p.read_text()) for p in (meta, hosts))
        self.assertNotIn('exclusions_unknown', document)
        self.assertNotIn('excluded', rows[0])
        rows[0]['excluded'] = 'NaN'
        hosts.write_text(json.dumps(rows))
        found = load.read(str(self.top / 'ours'))
        excluded = found.gathered.cloud.hosts[rows[0]['name']].excluded
        self.assertEqual('nan', str(excluded))
        self.assertEqual('', found.gathered.exclusions_unknown)
        meta.write_text(json.dumps(document | {'exclusions_unknown': 'why'}))
        found = load.read(str(self.top / 'ours'))
        told = 'the hosts at fault are unknown: why'
        for scope in replay(found, ReplayOptions()).report.scopes:
            self.assertEqual(told, scope.reason)
