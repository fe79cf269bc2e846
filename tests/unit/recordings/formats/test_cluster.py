# SPDX-License-Identifier: Apache-2.0
"""Is a cluster file read right, and a bad one refused with the place?"""

import copy
import gzip
import json
import os
import pathlib
from typing import Any

import fixtures
from oslotest import base

from kronos.common.exceptions import ArchiveError
from kronos.recordings.formats import cluster
from tests import places

FIXTURES = places.CLUSTERS

GOOD: dict[str, Any] = {
    'format': 'cluster/1',
    'policies': [
        {'name': 'cpu', 'mode': 'spread', 'weight': 0.5, 'threshold': 0.1},
        {'name': 'ram', 'mode': 'spread', 'weight': 0.5, 'threshold': 0.2},
    ],
    'hosts': [
        {
            'name': name,
            'scores': {'cpu': 0.5, 'ram': 0.25},
            'available': name == 'a',
            'memory_mb': 8192,
            'vcpus': 8,
        }
        for name in 'ab'
    ],
    'instances': [
        {
            'name': name,
            'host': 'a',
            'shares': {'cpu': 0.1, 'ram': 0.05},
            'memory_mb': 1024,
            'vcpus': 2,
            'movable': name == 'v',
        }
        for name in 'vw'
    ],
    'groups': [
        {'name': 'g', 'policy': 'anti-affinity', 'members': ['v', 'w']}
    ],
}


class ClusterTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'file'

    def read(self, data: bytes) -> cluster.Cluster:
        self.path.write_bytes(data)
        return cluster.read(str(self.path))

    def refused(self, data: bytes, words: str) -> None:
        error = self.assertRaises(ArchiveError, self.read, data)
        self.assertIn(words, str(error))
        self.assertIn(str(self.path), str(error))

    def refused_with(self, path: list[Any], value: Any, words: str) -> None:
        """A file in which one thing is another, or not there."""
        document = copy.deepcopy(GOOD)
        at = document
        for part in path[:-1]:
            at = at[part]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        with self.subTest(path=path, value=value):
            self.refused(json.dumps(document).encode(), words)


class TestCluster(ClusterTestCase):
    def _good(self) -> cluster.Cluster:
        return self.read(json.dumps(GOOD).encode())

    def test_policies(self) -> None:
        policies = self._good().policies
        self.assertEqual(['cpu', 'ram'], [one.name for one in policies])
        self.assertEqual([0.1, 0.2], [one.threshold for one in policies])
        self.assertEqual([0.5, 0.5], [one.weight for one in policies])

    def test_hosts(self) -> None:
        snapshot = self._good().snapshot
        a, b = snapshot.hosts['a'], snapshot.hosts['b']
        assert a.headroom is not None
        self.assertEqual(8192, a.headroom['MEMORY_MB'].capacity)
        self.assertEqual(2048, a.headroom['MEMORY_MB'].used)
        self.assertEqual(4, a.headroom['VCPU'].used)
        self.assertEqual('', a.closed)
        self.assertEqual('available is false', b.closed)
        cpu = snapshot.readings['cpu'].imbalance
        self.assertEqual(
            [('a', 0.5), ('b', 0.5)],
            [(one.label, one.value) for one in cpu.samples],
        )

    def test_instances(self) -> None:
        snapshot = self._good().snapshot
        self.assertEqual('', snapshot.instances['v'].unmovable)
        self.assertEqual('movable is false', snapshot.instances['w'].unmovable)
        ram = snapshot.readings['ram'].profile
        assert ram is not None
        self.assertEqual([0.05, 0.05], [one.value for one in ram.samples])
        self.assertEqual(['v', 'w'], snapshot.groups[0].members)

    def test_gzip(self) -> None:
        packed = self.read(gzip.compress(json.dumps(GOOD).encode()))
        self.assertEqual(self._good(), packed)

    def test_shipped_fixtures(self) -> None:
        paths = list(FIXTURES.glob('*.json'))
        self.assertNotEqual([], paths)
        for path in paths:
            self.assertTrue(cluster.read(str(path)).snapshot.instances)

    def test_rounding(self) -> None:
        """A full host of rounded shares may come out above 1."""
        document = copy.deepcopy(GOOD)
        document['hosts'][1]['scores']['ram'] = 1.01
        found = self.read(json.dumps(document).encode())
        self.assertEqual(
            1.0, found.snapshot.readings['ram'].imbalance.samples[1].value
        )
        self.assertEqual(
            ['hosts[1].scores.ram: 1.01 is taken for 1'], found.warnings
        )
        document['hosts'][1]['scores']['ram'] = 37
        found = self.read(json.dumps(document).encode())
        self.assertEqual([], found.warnings)
        self.assertEqual(
            37.0, found.snapshot.readings['ram'].imbalance.samples[1].value
        )

    def test_unreadable(self) -> None:
        error = self.assertRaises(
            ArchiveError, cluster.read, str(self.folder / 'none')
        )
        self.assertIn('No such file', str(error))
        self.assertIn(str(self.folder / 'none'), str(error))
        self.refused(b'{"format": ', 'not JSON')
        self.refused(b'\xff\xfe', 'not JSON')
        self.refused(gzip.compress(b'{}' * 99)[:-12], 'gzip')
        self.refused(b'\x1f\x8bnonsense', 'gzip')
        self.refused(b'[]', 'document: must be a JSON object')
        self.refused(b'{}', 'format: must be "cluster/1", is null')
        self.refused(b'{"format": "cluster/2"}', 'is "cluster/2"')
        self.refused(b'[' * 100000, 'not JSON')

    def test_faults(self) -> None:
        """The message names the field and what is wrong with it."""
        table: list[tuple[list[Any], Any, str]] = [
            (['hosts', 1, 'name'], 'a', 'hosts[1].name: a is used twice'),
            (
                ['hosts', 0, 'scores', 'net'],
                0.5,
                'hosts[0].scores.net: there is no such policy; known: ',
            ),
            (
                ['instances', 1, 'host'],
                'x',
                'instances[1].host: there is no host x',
            ),
            (
                ['instances', 1, 'name'],
                'v',
                'instances[1].name: v is used twice',
            ),
            (
                ['groups', 0, 'policy'],
                'friends',
                'groups[0].policy: must be one of affinity,',
            ),
            (
                ['policies', 0, 'mode'],
                'pack',
                'policies[0].mode: only spread is supported',
            ),
            (['policies', 0, 'name'], 'A', 'policies[0].name'),
            (['policies', 0, 'weight'], 1.5, 'policies[0].weight'),
            (['policies', 0, 'weight'], 0.1, 'sum to 0.6'),
            (['policies', 1, 'name'], 'cpu', 'cpu is used more than once'),
            (['policies'], [], 'policies'),
        ]
        for path, value, words in table:
            self.refused_with(path, value, words)

    def test_bombs(self) -> None:
        """What is small and wants to be large, or goes deep."""
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.recordings.safe_files.MAX_BYTES', 10**6
            )
        )
        for data, text in (
            (gzip.compress(b' ' * 10**7), 'it is larger than'),
            (b' ' * (10**6 + 1), 'it is larger than'),
            (b'[' * 10**6, 'nested too deeply'),
            (b'9' * 10**5, 'not JSON'),
        ):
            with self.subTest(text=text):
                error = self.assertRaises(ArchiveError, self.read, data)
                self.assertIn(text, str(error))
                self.assertLess(len(str(error)), 400)

    def test_a_pipe(self) -> None:
        """Reading one would wait for ever."""
        os.mkfifo(self.folder / 'pipe')
        error = self.assertRaises(
            ArchiveError, cluster.read, str(self.folder / 'pipe')
        )
        self.assertIn('it is no plain file', str(error))
