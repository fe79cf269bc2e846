# SPDX-License-Identifier: Apache-2.0
"""Are plain files read, and is nothing else waited for?"""

import os
import pathlib

import fixtures
from oslotest import base

from kronos.common import plain_files


class FilesTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.file = self.folder / 'file'
        self.file.write_bytes(b'content')
        self.pipe = self.folder / 'pipe'
        os.mkfifo(self.pipe)


class TestRead(FilesTestCase):
    def test_no_more_than_wanted(self) -> None:
        self.assertEqual(b'content', plain_files.read(self.file, 99))
        self.assertEqual(b'con', plain_files.read(self.file, 3))

    def test_through_a_link(self) -> None:
        link = self.folder / 'link'
        link.symlink_to(self.file)
        self.assertEqual(b'content', plain_files.read(link, 99))
        self.assertRaises(
            OSError, plain_files.read, link, 99, follow_links=False
        )

    def test_what_is_no_plain_file(self) -> None:
        link = self.folder / 'link'
        link.symlink_to(self.pipe)
        for path in (self.pipe, link, '/dev/zero', '/dev/tty'):
            self.assertRaises(OSError, plain_files.read, path, 9)

    def test_nothing_stays_open(self) -> None:
        before = os.listdir('/proc/self/fd')
        for path in (self.file, self.pipe, self.folder, self.folder / 'no'):
            plain_files.fault(str(path))
        self.assertEqual(len(before), len(os.listdir('/proc/self/fd')))


class TestFault(FilesTestCase):
    def test_each(self) -> None:
        for path, reason in (
            ('', ''),
            (self.file, ''),
            (self.pipe, plain_files.NO_PLAIN_FILE),
            (self.folder, 'Is a directory'),
            (self.folder / 'no', 'No such file or directory'),
        ):
            self.assertEqual(reason, plain_files.fault(str(path)))


class TestVersions(base.BaseTestCase):
    def test_each_change(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path, other = folder / 'file', folder / 'other'
        path.write_text('one')
        seen = [plain_files.versions(str(path), '')]
        self.assertEqual(seen[0], plain_files.versions(str(path), ''))
        path.write_text('longer')
        seen.append(plain_files.versions(str(path), ''))
        other.write_text('longer')
        stat = path.stat()
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        other.replace(path)
        seen.append(plain_files.versions(str(path), ''))
        path.unlink()
        seen.append(plain_files.versions(str(path), ''))
        self.assertEqual(4, len({*seen}))
        self.assertEqual((None, None), seen[-1])
