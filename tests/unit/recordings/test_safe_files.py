# SPDX-License-Identifier: Apache-2.0
"""Is nothing read that is no part of a recording, and nothing endless?"""

import gzip
import os
import shutil
import subprocess
import sys

import fixtures

from kronos.common import json_size
from kronos.common.exceptions import ArchiveError, PolicyFileError
from kronos.recordings import load, safe_files
from tests import places
from tests.unit.recordings import test_load

FULL_FILES = f'{safe_files.__name__}.FULL_FILES'
READ = """
import resource, sys
from kronos.common.exceptions import ArchiveError
from kronos.recordings import load
limit = 900 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[1:]:
    try:
        load.read(path)
    except ArchiveError as error:
        print(error)
"""
"""Reads recordings in no more memory than that."""


class TestWhatIsNoJson(test_load.ArchiveTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.write()

    def test_not_json(self) -> None:
        for data in (b'', b'{', b'[' * 10**6, b'\xff\xfe', b'[1,]'):
            path = self.path / 'nova/server_groups.json'
            path.write_bytes(data)
            with self.subTest(data=data[:9]):
                self.assertIn('nova/server_groups.json: Inv', self.fault())


class TestTricks(test_load.ArchiveTestCase):
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

    def test_many_full_files(self) -> None:
        """None is too large by itself."""
        names = [
            str(file.relative_to(self.path))
            for file in self.path.rglob('*.json')
        ]
        data = {name: (self.path / name).read_bytes() for name in names}
        for name, most, text in (
            (
                f'{safe_files.__name__}.MAX_BYTES',
                max(map(len, data.values())),
                'contain more than 0 MiB together',
            ),
            (
                f'{json_size.__name__}.MOST',
                max(map(json_size.memory_of, data.values())),
                'contain more than what takes 0 GB together',
            ),
        ):
            with self.subTest(name), fixtures.MonkeyPatch(name, most):
                with fixtures.MonkeyPatch(FULL_FILES, 99):
                    load.read(str(self.path))
                with fixtures.MonkeyPatch(FULL_FILES, 1):
                    self.assertIn(text, self.fault())

    def test_what_unpacks_to_much(self) -> None:
        path = self.folder / 'much.json.gz'
        path.write_bytes(gzip.compress(b' ' * 20 * 2**20))
        error = self.assertRaises(ArchiveError, load.read, str(path))
        self.assertIn('more than 200 times its size', str(error))


class TestMemory(test_load.ArchiveTestCase):
    """In a process that may not have much, and dies where it takes more."""

    def setUp(self) -> None:
        super().setUp()
        self.write()

    def spoilt(self, name: str, data: bytes) -> str:
        """The path of a recording with one file of these bytes."""
        folder = self.folder / f'spoilt-{len(os.listdir(self.folder))}'
        shutil.copytree(self.path, folder)
        (folder / name).write_bytes(data)
        return str(folder)

    def zipped(self, hosts: bytes) -> str:
        path = self.folder / 'cluster.json.gz'
        path.write_bytes(
            gzip.compress(
                b'{"format": "cluster/1", "policies": [], "groups": [], '
                b'"instances": [], "hosts": %s}' % hosts
            )
        )
        return str(path)

    def test_many_faults(self) -> None:
        ones = b'[' + b'1,' * 2 * 10**6 + b'1]'
        keys = b','.join(b'"%x": 1' % number for number in range(500_000))
        row = b'[{"uuid": "a", "host": "b", %s}]'
        cases = {
            self.zipped(ones): 'hosts[0]: must be an object, is 1',
            self.spoilt('nova/services.json', ones): '[0]: Input should be an',
            self.spoilt('nova/instances.json', row % keys): 'Unexpected key',
            self.spoilt(
                'nova/instances.json', row % b'"metadata": {%s}' % keys
            ): 'more than 200000 entries',
            self.spoilt('placement/traits.json', b'{%s}' % keys): 'entries',
            self.spoilt(
                'nova/services.json', b'[' + b'{},' * 5 * 10**6 + b'1]'
            ): 'it contains too many values',
        }
        done = subprocess.run(
            [sys.executable, '-c', READ, *cases],
            cwd=places.TOP,
            env=os.environ | {'OPENBLAS_NUM_THREADS': '1'},
            capture_output=True,
            text=True,
        )
        lines = done.stdout.splitlines()
        self.assertEqual(len(cases), len(lines), done.stderr[-2000:])
        for text, line in zip(cases.values(), lines, strict=True):
            self.assertIn(text, line)
