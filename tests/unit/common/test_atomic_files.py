# SPDX-License-Identifier: Apache-2.0
"""Are files whole or not there, and old ones deleted that are ours?"""

import datetime
import os
import pathlib
import re
import stat
import threading
from unittest import mock

import fixtures
from oslotest import base

from kronos.common import atomic_files
from tests import places

NOW = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
FILES = {'top.txt': 'one', 'inner/a.txt': 'two', 'inner/b.txt': 'three'}
ELSEWHERE = re.compile(
    r'mkstemp|mkdtemp|os\.(replace|rename|unlink|remove)|rmtree|\.unlink\('
    r'|\.write_(text|bytes)\(|fsync'
)


class FilesTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def umask(self, mask: int) -> None:
        self.addCleanup(os.umask, os.umask(mask))


def mode_of(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


class TestReplace(FilesTestCase):
    def test_mode(self) -> None:
        """Whatever the umask, and whatever was there."""
        path = self.folder / 'file'
        path.touch(0o600)
        for mask in (0, 0o022, 0o777):
            with self.subTest(mask=mask):
                self.umask(mask)
                atomic_files.replace(path, 'd\u00e9j\u00e0', 0o640)
                self.assertEqual(0o640, mode_of(path))
                self.assertEqual('d\u00e9j\u00e0', path.read_text('utf-8'))
        self.assertEqual(['file'], self.names())

    def test_on_the_disk_before_it_has_its_name(self) -> None:
        calls = mock.Mock()
        with (
            mock.patch('os.fsync', calls.sync),
            mock.patch('os.replace', calls.name),
        ):
            atomic_files.replace(self.folder / 'file', 'x', 0o640)
        self.assertEqual(
            ['sync', 'name'], [call[0] for call in calls.method_calls]
        )

    def test_a_link_is_replaced(self) -> None:
        """What it points at stays as it is."""
        other = self.folder / 'other'
        other.write_text('mine')
        link = self.folder / 'link'
        link.symlink_to(other)
        atomic_files.replace(link, 'x', 0o640)
        self.assertFalse(link.is_symlink())
        self.assertEqual('mine', other.read_text())

    def test_what_fails_leaves_what_was_there(self) -> None:
        path = self.folder / 'file'
        path.write_text('before')
        full = OSError('no space left')
        for call in ('os.fsync', 'os.fchmod', 'os.replace'):
            with self.subTest(call=call), mock.patch(call, side_effect=full):
                self.assertRaises(
                    OSError, atomic_files.replace, path, 'x', 0o640
                )
        self.assertRaises(
            UnicodeEncodeError, atomic_files.replace, path, '\ud800', 0o640
        )
        self.assertEqual('before', path.read_text())
        self.assertEqual(['file'], self.names())


class TestWrite(FilesTestCase):
    def test_mode(self) -> None:
        """By the umask of who asked for it."""
        for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
            with self.subTest(mask=mask):
                self.umask(mask)
                atomic_files.write(self.folder / 'file', 'x')
                self.assertEqual(mode, mode_of(self.folder / 'file'))
                self.assertEqual(mask, os.umask(mask))

    def test_a_pipe(self) -> None:
        """It is no file that could be replaced."""
        path = self.folder / 'pipe'
        os.mkfifo(path)
        read: list[str] = []
        reader = threading.Thread(target=lambda: read.append(path.read_text()))
        reader.start()
        atomic_files.write(path, 'x')
        reader.join()
        self.assertEqual(['x'], read)
        self.assertTrue(path.is_fifo())
        atomic_files.write('/dev/null', 'x')
        self.assertTrue(pathlib.Path('/dev/null').is_char_device())

    def test_a_pipe_without_a_reader(self) -> None:
        path = self.folder / 'pipe'
        os.mkfifo(path)
        with mock.patch.object(atomic_files, 'READER_SECONDS', 0.0):
            error = self.assertRaises(OSError, atomic_files.write, path, 'x')
        self.assertIn('no process reads this pipe', str(error))


class TestReplaceDirectory(FilesTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / 'there'

    def write(self) -> None:
        atomic_files.replace_directory(self.path, FILES, 0o750, 0o640)

    def texts(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.path)): path.read_text()
            for path in self.path.rglob('*')
            if path.is_file()
        }

    def test_content_and_modes(self) -> None:
        self.write()
        self.assertEqual(FILES, self.texts())
        self.assertEqual(['there'], self.names())
        self.assertEqual(0o750, mode_of(self.path))
        for name in FILES:
            self.assertEqual(0o640, mode_of(self.path / name))

    def test_another_one_goes(self) -> None:
        self.path.mkdir()
        self.write()
        (self.path / 'more').touch()
        self.write()
        self.assertEqual(FILES, self.texts())
        self.assertEqual(['there'], self.names())

    def test_what_fails_leaves_what_was_there(self) -> None:
        self.path.mkdir()
        (self.path / 'more').write_text('before')
        full = OSError('no space left')
        for call in ('os.fsync', 'os.fchmod', 'tempfile.mkdtemp'):
            with self.subTest(call=call), mock.patch(call, side_effect=full):
                self.assertRaises(OSError, self.write)
                self.assertEqual({'more': 'before'}, self.texts())
                self.assertEqual(['there'], self.names())


class TestRetention(FilesTestCase):
    def drop(
        self, count: int, oldest: str = '', are_directories: bool = False
    ) -> list[str]:
        kind = atomic_files.Retention(
            re.compile(r'(ours-\d)(?:\.\w+)?'),
            re.compile(r'\.half-.*'),
            '.half-',
            are_directories,
        )
        kind.drop_old(self.folder, count, NOW, oldest)
        return self.names()

    def files(self, *names: str) -> None:
        for name in names:
            (self.folder / name).touch()

    def directories(self, *names: str) -> None:
        for name in names:
            (self.folder / name).mkdir()
            (self.folder / name / 'file').touch()

    def test_the_newest_stay(self) -> None:
        self.files('ours-2.a', 'ours-1.a', 'ours-1.b', 'ours-3.a', 'others-0')
        self.assertEqual(['others-0', 'ours-2.a', 'ours-3.a'], self.drop(2))
        self.assertEqual(['others-0', 'ours-2.a', 'ours-3.a'], self.drop(9))
        self.assertEqual(['others-0'], self.drop(0))

    def test_the_oldest_go_in_any_case(self) -> None:
        self.directories('ours-1', 'ours-2', 'ours-3')
        self.assertEqual(
            ['ours-2', 'ours-3'], self.drop(9, 'ours-2', are_directories=True)
        )

    def test_of_another_kind(self) -> None:
        """A file or a link is none of our directories."""
        self.files('ours-1', '.half-1')
        (self.folder / 'ours-2').symlink_to('/')
        (self.folder / '.half-2').symlink_to('/')
        names = self.names()
        for name in names:
            path = self.folder / name
            os.utime(path, (0.0, 0.0), follow_symlinks=False)
        self.directories('ours-3')
        self.assertEqual(names, self.drop(0, are_directories=True))

    def test_a_link_to_a_file(self) -> None:
        """It is deleted itself, and what it points at stays."""
        self.files('mine')
        (self.folder / 'ours-1').symlink_to(self.folder / 'mine')
        self.assertEqual(['mine'], self.drop(0))

    def test_unfinished(self) -> None:
        names = ['.half-old', '.half-young', '.other-old']
        for are_directories in (False, True):
            self.folder = pathlib.Path(
                self.useFixture(fixtures.TempDir()).path
            )
            make = self.directories if are_directories else self.files
            make(*names)
            for name, hours in zip(names, (25, 23, 25), strict=True):
                then = (NOW - datetime.timedelta(hours=hours)).timestamp()
                os.utime(self.folder / name, (then, then))
            with self.subTest(are_directories=are_directories):
                remaining = self.drop(1, are_directories=are_directories)
                self.assertEqual(names[1:], remaining)

    def test_another_process_was_faster(self) -> None:
        self.files('ours-1', 'ours-2')
        real = pathlib.Path.unlink

        def twice(path: pathlib.Path) -> None:
            real(path)
            real(path)

        with mock.patch.object(pathlib.Path, 'unlink', twice):
            self.assertEqual(['ours-2'], self.drop(1))


class TestOpened(FilesTestCase):
    def test_whole_or_not_at_all(self) -> None:
        path = self.folder / 'file'
        beside = self.folder / 'beside'
        beside.mkdir()
        path.write_bytes(b'old')
        try:
            with atomic_files.opened(path, 0o640, 'x-', beside) as file:
                file.write(b'ne')
                [part] = beside.iterdir()
                self.assertTrue(part.name.startswith('x-'))
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        self.assertEqual(b'old', path.read_bytes())
        with atomic_files.opened(path, 0o640, 'x-', beside) as file:
            file.write(b'new')
            self.assertEqual(b'old', path.read_bytes())
        self.assertEqual((b'new', 0o640), (path.read_bytes(), mode_of(path)))
        self.assertEqual([], list(beside.iterdir()))


class TestDirectory(FilesTestCase):
    def test_whole_or_not_at_all(self) -> None:
        path = self.folder / 'directory'
        try:
            with atomic_files.directory(path, 0o750) as temporary:
                (temporary / 'file').touch()
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        self.assertEqual([], self.names())
        with atomic_files.directory(path, 0o750) as temporary:
            (temporary / 'file').touch()
            self.assertFalse(path.exists())
        self.assertEqual(['directory'], self.names())
        self.assertEqual(0o750, mode_of(path))
        self.assertTrue((path / 'file').exists())


class TestDelete(FilesTestCase):
    def test_whatever_is_there(self) -> None:
        """Where a link leads to stays."""
        directory = self.folder / 'directory'
        link = self.folder / 'link'
        (directory / 'more').mkdir(parents=True)
        link.symlink_to(directory)
        for path in (link, self.folder / 'missing'):
            atomic_files.delete(path)
        self.assertEqual(['directory'], self.names())
        (self.folder / 'file').touch()
        atomic_files.delete(self.folder / 'file')
        atomic_files.delete(directory)
        self.assertEqual([], self.names())

    def test_move(self) -> None:
        for name in ('old', 'new'):
            (self.folder / name).mkdir()
            (self.folder / name / name).touch()
        atomic_files.move(self.folder / 'new', self.folder / 'old')
        self.assertEqual(['old'], self.names())
        self.assertTrue((self.folder / 'old' / 'new').exists())


class TestHouse(base.BaseTestCase):
    def test_nobody_else_writes_or_deletes_files(self) -> None:
        """One writer and one loop, so that all of them are safe."""
        offenders = {
            str(path.relative_to(places.TOP))
            for path in (places.TOP / 'kronos').rglob('*.py')
            if ELSEWHERE.search(path.read_text())
        }
        # A database is no file that could be written anew as a whole.
        database = 'kronos/monitor/state_file.py'
        self.assertEqual(
            {'kronos/common/atomic_files.py', database}, offenders
        )
