# SPDX-License-Identifier: Apache-2.0
"""Is a file opened, and nothing waited for?"""

import os
import pathlib
import socket

import fixtures
from oslotest import base

from kronos.common import plain_files


class TestOpened(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_a_file_and_a_link_to_it(self) -> None:
        path = self.folder / 'file'
        path.write_bytes(b'text')
        (self.folder / 'link').symlink_to(path)
        for name in ('file', 'link'):
            with plain_files.opened(self.folder / name) as file:
                self.assertEqual(b'text', file.read())

    def test_what_is_none(self) -> None:
        os.mkfifo(self.folder / 'pipe')
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.folder / 'socket'))
        for path in (
            self.folder,
            self.folder / 'pipe',
            self.folder / 'socket',
            '/dev/null',
        ):
            error = self.assertRaises(OSError, plain_files.opened, path)
            self.assertEqual('it is no plain file', error.strerror)

    def test_what_is_not_there(self) -> None:
        self.assertRaises(
            FileNotFoundError, plain_files.opened, self.folder / 'x'
        )
