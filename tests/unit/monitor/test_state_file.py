# SPDX-License-Identifier: Apache-2.0
"""Is the state file the agent's own, and another there if it breaks?"""

import contextlib
import logging
import os
import pathlib
import sqlite3
import stat

import fixtures
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.monitor import state_file
from kronos.monitor.state_file import StateFile

LIMIT = 16 * 2**20


class FileTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'monitor.db'

    def file(self) -> StateFile:
        made = StateFile(str(self.path), LIMIT)
        self.addCleanup(made.close)
        return made

    def check(self) -> str:
        return state_file.check(str(self.path))

    def open(self, file: StateFile) -> sqlite3.Connection:
        writer, marker = file.open()
        self.addCleanup(writer.close)
        self.addCleanup(marker.close)
        return writer

    def made(self, writer: sqlite3.Connection) -> str:
        (text,) = writer.execute(
            "SELECT value FROM meta WHERE key = 'made'"
        ).fetchone()
        return str(text)


class TestOpen(FileTestCase):
    def test_nobody_else_reads_it(self) -> None:
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        writer = self.open(self.file())
        writer.execute("INSERT INTO meta VALUES ('a', 'b')")
        for path in self.folder.iterdir():
            self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode), path)

    def test_permissions_are_put_right(self) -> None:
        self.path.touch(0o666)
        self.open(self.file())
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))

    def test_again(self) -> None:
        file = self.file()
        first = self.made(self.open(file))
        self.assertEqual(first, self.made(self.open(file)))
        self.assertGreater(file.size(), 0)

    def test_two_agents(self) -> None:
        self.file()
        error = self.assertRaises(ConfigurationError, self.file)
        self.assertIn('another running agent uses it', str(error))

    def test_no_directory(self) -> None:
        self.path = self.folder / 'no' / 'monitor.db'
        error = self.assertRaises(ConfigurationError, self.file)
        self.assertIn('[kronos_monitor] state_file', str(error))
        self.assertIn('must exist, and be writable', str(error))

    def test_a_link_is_not_followed(self) -> None:
        self.path.symlink_to(self.folder / 'elsewhere')
        file = self.file()
        self.assertRaises(OSError, file.open)
        self.assertFalse((self.folder / 'elsewhere').exists())

    def test_of_a_newer_version(self) -> None:
        file = self.file()
        self.open(file).execute('PRAGMA user_version = 2')
        error = self.assertRaises(ConfigurationError, file.open)
        self.assertIn('version 2 and this Kronos supports 1', str(error))


class TestBroken(FileTestCase):
    def test_moved_aside(self) -> None:
        for content in (b'no database' * 999, b'SQLite format 3\x00' * 999):
            self.path = self.folder / f'{len(content)}.db'
            self.path.write_bytes(content)
            self.assertNotEqual('', self.made(self.open(self.file())))
            aside = self.folder / f'{self.path.name}{state_file.BROKEN}'
            self.assertEqual(len(content), aside.stat().st_size)
            self.assertIn('is broken and was moved', self.log.output)

    def test_a_page_in_the_middle(self) -> None:
        file = self.file()
        writer = self.open(file)
        first = self.made(writer)
        for number in range(999):
            writer.execute(
                'INSERT INTO domains VALUES (?, ?)', (str(number), 'x' * 999)
            )
        writer.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        writer.close()
        with self.path.open('r+b') as stream:
            stream.seek(4096 * 4)
            stream.write(b'\xa5' * 4096 * 20)
        self.assertNotEqual(first, self.made(self.open(file)))

    def test_bytes_of_the_header_and_the_schema(self) -> None:
        """SQLite takes some for another format, or a file to read only."""
        with contextlib.closing(self.open(self.file())) as writer:
            writer.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        good = self.path.read_bytes()
        schema = good.index(b'CREATE TABLE domains')
        for number, (place, data) in enumerate(
            (
                (18, b'\x07'),
                (19, b'\xff'),
                (44, b'\xff'),
                (47, b'\x05'),
                (60, b'\xff\xff\xff\xff'),
                (62, b'\x01'),
                (schema, b'\xff\xfe'),
                (schema + 9, b'\xff'),
            )
        ):
            self.path = self.folder / f'{number}.db'
            end = place + len(data)
            self.path.write_bytes(good[:place] + data + good[end:])
            self.assertNotEqual('', self.check())
            self.assertNotEqual('', self.made(self.open(self.file())))
            aside = self.folder / f'{number}.db{state_file.BROKEN}'
            self.assertTrue(aside.exists(), (place, data))

    def test_a_column_is_missing(self) -> None:
        file = self.file()
        writer = self.open(file)
        made = self.made(writer)
        writer.execute('ALTER TABLE domains RENAME COLUMN row TO line')
        self.assertIn('domains has no column row', self.check())
        self.assertNotEqual(made, self.made(self.open(file)))
        self.assertIn('is broken and was moved', self.log.output)

    def test_the_version_is_gone(self) -> None:
        file = self.file()
        self.open(file).execute('PRAGMA user_version = 0')
        self.assertIn('its version does not fit', self.check())
        self.open(file)
        self.assertIn('is broken and was moved', self.log.output)


class TestAnother(FileTestCase):
    """What is there is not ours, and stays as it is."""

    def test_application(self) -> None:
        for version in (0, 1):
            self.path = self.folder / f'{version}.db'
            with contextlib.closing(sqlite3.connect(self.path)) as other:
                other.execute('CREATE TABLE meta (name)')
                other.execute(f'PRAGMA user_version = {version}')
            self.path.chmod(0o644)
            before = self.path.read_bytes()
            error = self.assertRaises(ConfigurationError, self.file().open)
            self.assertIn('of another application, with the', str(error))
            self.assertIn('of another application, with the', self.check())
            self.assertEqual(before, self.path.read_bytes())
            self.assertEqual(0o644, stat.S_IMODE(self.path.stat().st_mode))

    def test_pipes(self) -> None:
        """SQLite would wait for whoever writes to them."""
        for part in ('', '-wal', '-shm', '-journal', '.lock'):
            self.path = self.folder / f'state{part}' / 'monitor.db'
            self.path.parent.mkdir()
            pipe = self.path.with_name(f'monitor.db{part}')
            os.mkfifo(pipe)
            error = self.assertRaises(
                ConfigurationError, lambda: self.file().open()
            )
            self.assertIn('it is no plain file', str(error))
            if part != '.lock':
                self.assertEqual('it is no plain file', self.check())

    def test_a_folder(self) -> None:
        self.path.mkdir()
        self.assertRaises(ConfigurationError, self.file().open)
        self.assertEqual('it is no plain file', self.check())

    def test_a_name_with_signs_of_urls(self) -> None:
        self.path = self.folder / 'a?mode=memory#%41.db'
        self.open(self.file())
        self.assertEqual('', self.check())
        self.assertTrue(self.path.exists())


class TestCheck(FileTestCase):
    def test_good(self) -> None:
        self.assertEqual('', self.check())
        writer = self.open(self.file())
        self.assertEqual('', self.check())
        writer.execute('BEGIN IMMEDIATE')
        self.assertEqual('', self.check())

    def test_bad(self) -> None:
        self.path.write_text('no database')
        self.assertIn('not a database', self.check())
        self.path.unlink()
        self.path.symlink_to('/elsewhere')
        self.assertEqual('it is a link', self.check())
        self.path = self.path.parent / 'no' / 'x'
        self.assertIn('is no directory', self.check())

    def test_of_a_newer_version(self) -> None:
        self.open(self.file()).execute('PRAGMA user_version = 2')
        self.assertEqual('it has version 2', self.check())
