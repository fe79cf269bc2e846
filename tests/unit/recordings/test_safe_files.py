# SPDX-License-Identifier: Apache-2.0
"""Is nothing read that is no part of a recording, and nothing endless?"""

import os

import fixtures

from kronos.common.exceptions import PolicyFileError
from kronos.recordings import load, safe_files
from tests.unit.recordings import test_load


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
