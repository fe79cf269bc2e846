# SPDX-License-Identifier: Apache-2.0
"""The state file: an SQLite database of one agent, readable by it alone.

It has a write-ahead log. An incident is synchronised to the disk before
anything follows from it; that one was delivered is not, for at worst it is
delivered again under the same id.
"""

import contextlib
import fcntl
import functools
import os
import pathlib
import sqlite3
import stat
from collections.abc import Callable, Iterator
from urllib import parse

from oslo_log import log as logging

from kronos.common import exceptions, plain_files, plain_text

LOG = logging.getLogger(__name__)

MODE = 0o600
VERSION = 1
"""Of the tables below, which set it."""
MOST_VERSIONS = 100
"""A version from here on is none, but damage."""
HEADER_BYTES = 100
ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; its messages are not always UTF-8."""
LOG_PAGES = 256
"""Pages of the write-ahead log after which it is worked off."""
LOG_BYTES = 4 * 2**20
"""What the write-ahead log may have; the rest is the database's."""
SLACK_BYTES = 2 * 2**20
"""Of the database's, what stays free for the changes of one transaction."""
BROKEN = '.broken'
"""What the name of a file ends in that was moved aside; the last is kept."""
_PARTS = ('', '-wal', '-shm')
_IS_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TELLING = {'domains', 'incidents', 'deliveries'}
"""Tables that other applications hardly have."""
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
            except ERRORS as error:
                if not is_broken(error):
                    raise
        self._move_aside()
        return self._open()

    def close(self) -> None:
        """Let another agent have it."""
        os.close(self._lock)

    def size(self) -> int:
        """Bytes of the file and its log."""
        total = 0
        for part in _PARTS[:2]:
            with contextlib.suppress(OSError):
                total += os.stat(self.path + part).st_size
        return total

    def _open(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        if reason := _unfit(self.path):
            raise _refused(self.path, reason)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self.path, flags, MODE)
        try:
            if reason := _header_fault(os.pread(handle, HEADER_BYTES, 0)):
                raise _broken(reason)
            with contextlib.closing(_connected(self.path, 'rw')) as reader:
                if reason := _strange(reader):
                    raise _refused(self.path, reason)
            os.fchmod(handle, MODE)
        finally:
            os.close(handle)
        writer = self._connect('FULL')
        try:
            _prepare(writer)
            return writer, self._connect('NORMAL')
        except BaseException:
            writer.close()
            raise

    def _connect(self, synchronous: str) -> sqlite3.Connection:
        connection = _connected(self.path, 'rw')
        try:
            for pragma in (
                'journal_mode = WAL',
                f'synchronous = {synchronous}',
                f'wal_autocheckpoint = {LOG_PAGES}',
                f'journal_size_limit = {LOG_BYTES}',
            ):
                connection.execute(f'PRAGMA {pragma}')
            (size,) = connection.execute('PRAGMA page_size').fetchone()
            connection.execute(f'PRAGMA max_page_count = {self.limit // size}')
        except BaseException:
            connection.close()
            raise
        return connection

    def _move_aside(self) -> None:
        for part in _PARTS:
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.path + part, self.path + BROKEN + part)
        self.is_broken = False
        LOG.error(
            'State file %s is broken and was moved to %s%s. Incidents that '
            'were not delivered yet are lost, and of the state of servers '
            'only what this process has in memory is left',
            self.path,
            self.path,
            BROKEN,
        )


def check(
    path: str, look: Callable[[sqlite3.Connection], str] | None = None
) -> str:
    """What keeps a state file from being used; '': nothing.

    An agent may be using it meanwhile; nothing is changed.

    :param look: what further is wrong with its tables; '': nothing
    """
    folder = os.path.dirname(path) or '.'
    if not os.path.isdir(folder):
        return f'{folder} is no directory'
    if not os.access(folder, os.W_OK | os.X_OK):
        return f'{folder} is not writable'
    if os.path.islink(path):
        return 'it is a link'
    if reason := _unfit(path):
        return reason
    if not os.path.exists(path):
        return ''
    if not os.access(path, os.R_OK | os.W_OK):
        return 'it is not writable'
    try:
        if reason := _header_fault(plain_files.read(path, HEADER_BYTES)):
            return reason
        with contextlib.closing(_connected(path, 'ro')) as reader:
            return _fault(reader) or (look(reader) if look else '')
    except (OSError, *ERRORS) as error:
        return str(error)


def _fault(reader: sqlite3.Connection) -> str:
    version = _version(reader)
    if version in range(VERSION + 1, MOST_VERSIONS):
        return f'it has version {version}'
    return _strange(reader) or _damage(reader)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is changed meanwhile, or nothing of it."""
    connection.execute('BEGIN IMMEDIATE')
    try:
        yield
        connection.execute('COMMIT')
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute('ROLLBACK')
        raise


def is_broken(error: BaseException) -> bool:
    """Whether an error says that the file itself is no good."""
    if isinstance(error, UnicodeDecodeError):
        # It is in SQLite's own message, which repeats what it has read.
        return True
    code = getattr(error, 'sqlite_errorcode', None)
    return code is not None and (code & 0xFF) in _IS_BROKEN


def _locked(path: str) -> int:
    """A lock that ends with the process."""
    name = path + '.lock'
    if reason := _unfit(name):
        raise _refused(path, f'{name}: {reason}')
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, MODE)
    except OSError as error:
        folder = pathlib.Path(path).parent
        raise _refused(
            path,
            f'{name} cannot be written: {error.strerror}; {folder} must '
            'exist, and be writable for the user of the agent',
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise _refused(path, 'another running agent uses it') from None
    return handle


def _prepare(writer: sqlite3.Connection) -> None:
    """Make the tables, or make sure that they are good."""
    if reason := _damage(writer):
        raise _broken(reason)
    if not _columns(writer):
        writer.executescript(_TABLES)


def _connected(path: str, mode: str) -> sqlite3.Connection:
    """A connection to a file, for several threads.

    :param mode: ``rw`` or ``ro``
    """
    connection = sqlite3.connect(
        f'file:{parse.quote(path)}?mode={mode}',
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )
    # Else a text that is not UTF-8 ends the query that it is part of.
    connection.text_factory = lambda data: data.decode(errors='replace')
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute('PRAGMA user_version').fetchone()[0])


def _unfit(path: str) -> str:
    """Why no database can be there: SQLite would wait for a pipe."""
    for part in (*_PARTS, '-journal'):
        with contextlib.suppress(OSError):
            mode = os.lstat(path + part).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                return plain_files.NO_PLAIN_FILE
    return ''


def _columns(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """All tables and their columns."""
    rows = connection.execute(
        'SELECT tables.name, columns.name FROM sqlite_master AS tables, '
        'pragma_table_info(tables.name) AS columns '
        "WHERE tables.type = 'table'"
    )
    return {(str(table), str(column)) for table, column in rows}


@functools.cache
def _own_columns() -> set[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(':memory:')) as memory:
        memory.executescript(_TABLES)
        return _columns(memory)


def _strange(connection: sqlite3.Connection) -> str:
    """Why a database is not that of an agent of this version; '': it is."""
    version = _version(connection)
    tables = {table for table, _ in _columns(connection)}
    if version in range(VERSION + 1, MOST_VERSIONS):
        return (
            f'it has version {version} and this Kronos supports {VERSION}; '
            'move it aside, or run the Kronos that wrote it'
        )
    if tables and not tables & _TELLING:
        return (
            'it is the database of another application, with the table '
            f'{plain_text.line(min(tables))}; use another file'
        )
    return ''


def _damage(connection: sqlite3.Connection) -> str:
    """Why the tables cannot be used; '': they can be, or there are none."""
    (report,) = connection.execute('PRAGMA quick_check(1)').fetchone()
    if report != 'ok':
        return str(report)
    columns = _columns(connection)
    missing = _own_columns() - columns
    if columns and missing:
        table, column = min(missing)
        return f'the table {table} has no column {column}'
    if _version(connection) != (VERSION if columns else 0):
        return 'its version does not fit its tables'
    return ''


def _header_fault(header: bytes) -> str:
    """What SQLite would take for another format, or a file to read only."""
    if not header.startswith(b'SQLite format 3\0'):
        return ''
    schema = int.from_bytes(header[44:48], 'big')
    is_known = set(header[18:20]) <= {1, 2} and schema <= 4
    return '' if is_known else 'its header is damaged'


def _broken(reason: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(reason)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _refused(path: str, reason: str) -> exceptions.ConfigurationError:
    return exceptions.ConfigurationError(
        reason=f'[kronos_monitor] state_file {path}: {reason}'
    )
