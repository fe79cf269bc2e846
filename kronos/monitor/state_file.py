# SPDX-License-Identifier: Apache-2.0
"""The state file: an SQLite database of one agent, readable by it alone.

It has a write-ahead log. An incident is synchronised to the disk before
anything follows from it; that one was delivered is not, for at worst it is
delivered again under the same id.
"""

import contextlib
import fcntl
import os
import pathlib
import sqlite3

from oslo_log import log as logging

from kronos.common import exceptions

LOG = logging.getLogger(__name__)

MODE = 0o600
VERSION = 1
"""Of the tables below, which set it."""
LOG_PAGES = 256
"""Pages of the write-ahead log after which it is worked off."""
LOG_BYTES = 4 * 2**20
"""What the write-ahead log may have; the rest is the database's."""
SLACK_BYTES = 2 * 2**20
"""Of the database's, what stays free for the changes of one transaction."""
LEAST_MB = 16
"""MiB that the file and its log need."""
BROKEN = '.broken'
"""What the name of a file ends in that was moved aside; the last is kept."""
_PARTS = ('', '-wal', '-shm')
_IS_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE domains (instance TEXT PRIMARY KEY, row TEXT NOT NULL);
CREATE TABLE incidents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    instance TEXT NOT NULL,
    severity INTEGER NOT NULL,
    seen REAL NOT NULL,
    run INTEGER,
    state TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX by_severity ON incidents (severity, seq);
CREATE TABLE deliveries (
    sink TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (sink, seq)
) WITHOUT ROWID;
CREATE INDEX by_seq ON deliveries (seq);
CREATE TABLE sent (
    instance TEXT NOT NULL,
    kind TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (instance, kind)
) WITHOUT ROWID;
INSERT INTO meta VALUES ('made', lower(hex(randomblob(16))));
PRAGMA user_version = 1;
COMMIT;
"""


class StateFile:
    """The file, and the connections to it.

    :param path: a link there is not followed
    :param max_bytes: of the file and its log
    :raises ConfigurationError: it cannot be there, or another agent has it
    """

    def __init__(self, path: str, max_bytes: int) -> None:
        self.path = path
        self.limit = max_bytes - LOG_BYTES
        """Bytes that the database itself may have."""
        self.is_broken = False
        """Whether it is to be moved aside."""
        self._lock = _locked(path)

    def open(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        """Connect to it, and put another in its place if it is broken.

        :returns: a connection whose changes are on the disk when they are
            made, and one whose changes are there soon
        :raises sqlite3.Error: such as for a full disk
        :raises OSError: the same
        :raises ConfigurationError: a newer Kronos wrote it
        """
        if not self.is_broken:
            try:
                return self._open()
            except sqlite3.DatabaseError as error:
                if not is_broken(error):
                    raise
        self._move_aside()
        return self._open()

    def close(self) -> None:
        """Let another agent have it."""
        os.close(self._lock)

    def size(self) -> int:
        """Bytes of the file and its log."""
        found = 0
        for part in _PARTS[:2]:
            with contextlib.suppress(OSError):
                found += os.stat(self.path + part).st_size
        return found

    def _open(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self.path, flags, MODE)
        try:
            os.fchmod(handle, MODE)
        finally:
            os.close(handle)
        writer = self._connect('FULL')
        try:
            _prepare(writer, self.path)
            return writer, self._connect('NORMAL')
        except BaseException:
            writer.close()
            raise

    def _connect(self, synchronous: str) -> sqlite3.Connection:
        made = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False
        )
        try:
            made.execute('PRAGMA journal_mode = WAL')
            made.execute(f'PRAGMA synchronous = {synchronous}')
            made.execute(f'PRAGMA wal_autocheckpoint = {LOG_PAGES}')
            made.execute(f'PRAGMA journal_size_limit = {LOG_BYTES}')
            (size,) = made.execute('PRAGMA page_size').fetchone()
            made.execute(f'PRAGMA max_page_count = {self.limit // size}')
        except BaseException:
            made.close()
            raise
        return made

    def _move_aside(self) -> None:
        for part in _PARTS:
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.path + part, self.path + BROKEN + part)
        self.is_broken = False
        LOG.error(
            'State file %s is broken and was moved to %s%s. What was not '
            'delivered yet is lost, and what was remembered of servers is '
            'known only as far as this process remembers it',
            self.path,
            self.path,
            BROKEN,
        )


def check(path: str) -> str:
    """What keeps a state file from being used; '': nothing.

    An agent may be using it meanwhile; nothing is changed.
    """
    folder = os.path.dirname(path) or '.'
    if not os.path.isdir(folder):
        return f'{folder} is no directory'
    if not os.access(folder, os.W_OK | os.X_OK):
        return f'{folder} is not writable'
    if os.path.islink(path):
        return 'it is a link'
    if not os.path.exists(path):
        return ''
    try:
        with contextlib.closing(
            sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        ) as reader:
            (version,) = reader.execute('PRAGMA user_version').fetchone()
            (told,) = reader.execute('PRAGMA quick_check(1)').fetchone()
    except sqlite3.Error as error:
        return str(error)
    if version not in (0, VERSION):
        return f'it has version {version}'
    return '' if told == 'ok' else str(told)


def is_broken(error: BaseException) -> bool:
    """Whether an error says that the file itself is no good."""
    code = getattr(error, 'sqlite_errorcode', None)
    return code is not None and (code & 0xFF) in _IS_BROKEN


def _locked(path: str) -> int:
    """A lock that ends with the process."""
    name = path + '.lock'
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, MODE)
    except OSError as error:
        folder = pathlib.Path(path).parent
        raise _refused(
            path,
            f'{name} cannot be written: {error.strerror}; {folder} must be '
            'there, and writable for the user of the agent',
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise _refused(path, 'another agent that runs has it') from None
    return handle


def _prepare(writer: sqlite3.Connection, path: str) -> None:
    """Make the tables, or make sure that they are good."""
    (version,) = writer.execute('PRAGMA user_version').fetchone()
    if version == 0:
        writer.executescript(_TABLES)
        return
    if version != VERSION:
        raise _refused(
            path,
            f'it has version {version} and this Kronos knows {VERSION}; move '
            'it aside, or run the Kronos that wrote it',
        )
    (told,) = writer.execute('PRAGMA quick_check(1)').fetchone()
    if told != 'ok':
        error = sqlite3.DatabaseError(told)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _refused(path: str, reason: str) -> exceptions.ConfigurationError:
    return exceptions.ConfigurationError(
        reason=f'[kronos_monitor] state_file {path}: {reason}'
    )
