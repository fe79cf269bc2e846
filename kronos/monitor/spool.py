# SPDX-License-Identifier: Apache-2.0
"""The spool: incidents until they are delivered, and the memory of domains.

What happens together is on disk together: an incident, to whom it goes, and
the state of its domain that it changed.
"""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from kronos.common import exceptions
from kronos.monitor import state_file, state_rows
from kronos.monitor.domains import State
from kronos.monitor.memory import Row

_Both = tuple[sqlite3.Connection, sqlite3.Connection]
KEPT_SENT = 86400.0
"""Seconds for which it is known that an incident was sent; rules ask for no
longer."""
_SHED = 50
"""Incidents that are let go at once, so that each further one takes no
search."""
_ODD = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)
"""What is wrong with what is to be kept, and not with the disk."""


class SpoolError(exceptions.KronosException):
    """The disk is full, or the file cannot be used just now."""

    msg_fmt = 'State file %(path)s: %(reason)s'


@dataclass
class Entry:
    """An incident that is to be sent."""

    id: str
    instance: str
    severity: int
    """Its rank: the least severe has the lowest."""
    seen: float
    run: int | None
    state: State
    body: str
    sinks: tuple[str, ...]


@dataclass
class Waiting:
    """A delivery to one sink that is still to be made."""

    seq: int
    """Grows with each incident."""
    id: str
    instance: str
    seen: float
    run: int | None
    state: str
    body: str


@dataclass
class Changes:
    """What is to be on disk together."""

    rows: dict[str, Row | None] = field(default_factory=dict)
    """By instance; None: it is gone."""
    entries: list[Entry] = field(default_factory=list)
    sent: dict[tuple[str, str], float] = field(default_factory=dict)
    """Instance and kind to Unix seconds of the last incident that was sent."""
    is_baseline: bool = False
    """Whether all domains are remembered from now on."""


@dataclass
class Kept:
    """What was on disk when the agent began."""

    rows: dict[str, Row] = field(default_factory=dict)
    sent: dict[tuple[str, str], float] = field(default_factory=dict)
    alive: float | None = None
    """Unix seconds when an agent last said that it watches; None: never."""
    is_baseline: bool = False


class Spool:
    """What is kept of incidents and domains; for several threads.

    :param path: of the state file
    :param max_bytes: that it may take
    :raises ConfigurationError: it cannot be there, or another agent has it
    """

    def __init__(self, path: str, max_bytes: int) -> None:
        self._file = state_file.StateFile(path, max_bytes)
        self._lock = threading.RLock()
        self._both: _Both | None = None
        self._is_closed = False
        self.file_id = ''
        """Names the file that is in use: another is there after it broke."""

    def load(self, now: float) -> Kept:
        """Read what is kept, and drop what cannot be read.

        :param now: Unix seconds
        :raises SpoolError: not now
        """
        with self._connections() as (writer, _):
            state_rows.drop_unreadable(writer, self._file.path)
            return _load(writer, now)

    def commit(self, changes: Changes) -> int:
        """Put changes on the disk, all or none.

        :returns: how many incidents were let go to make room: the least
            severe and oldest, be they new or not
        :raises SpoolError: none is; they can be committed later
        :raises ValueError: none is, since one cannot be kept at all
        """
        with (
            self._connections() as (writer, _),
            state_file.transaction(writer),
        ):
            _write(writer, changes)
            return _make_room(writer, self._file.limit)

    def waiting(self, sink: str, after: int, most: int) -> list[Waiting]:
        """Deliveries that a sink still has to get, the oldest first.

        :param after: none up to this ``seq``
        :raises SpoolError: not now
        """
        with self._connections() as (_, lazy):
            rows = lazy.execute(
                'SELECT seq, id, instance, seen, run, state, body FROM '
                'deliveries JOIN incidents USING (seq) WHERE sink = ? AND '
                'seq > ? ORDER BY seq LIMIT ?',
                (sink, after, most),
            ).fetchall()
        return [Waiting(*row) for row in rows]

    def done(self, seq: int, sink: str, first: int | None = None) -> int:
        """A sink has it, or will never take it.

        :param first: all from this ``seq`` on, too
        :returns: how many there were
        :raises SpoolError: not noted; it may be sent again
        """
        span = (seq if first is None else first, seq)
        with self._connections() as (_, lazy), state_file.transaction(lazy):
            gone = lazy.execute(
                'DELETE FROM deliveries WHERE sink = ? AND seq BETWEEN ? '
                'AND ?',
                (sink, *span),
            ).rowcount
            lazy.execute(
                'DELETE FROM incidents WHERE seq BETWEEN ? AND ? AND NOT '
                'EXISTS (SELECT 1 FROM deliveries WHERE deliveries.seq = '
                'incidents.seq)',
                span,
            )
        return gone

    def newest(self, sink: str) -> int | None:
        """``seq`` of the newest that a sink still has to get; None: none.

        :raises SpoolError: not now
        """
        with self._connections() as (_, lazy):
            seq: int | None = lazy.execute(
                'SELECT max(seq) FROM deliveries WHERE sink = ?', (sink,)
            ).fetchone()[0]
        return seq

    def keep_sinks(self, names: Collection[str]) -> int:
        """Forget deliveries to all other sinks: nobody makes them.

        :returns: how many there were
        :raises SpoolError: not now
        """
        marks = ', '.join('?' * len(names))
        with (
            self._connections() as (writer, _),
            state_file.transaction(writer),
        ):
            gone = writer.execute(
                f'DELETE FROM deliveries WHERE sink NOT IN ({marks})',  # noqa: S608
                [*names],
            ).rowcount
            writer.execute(
                'DELETE FROM incidents WHERE seq NOT IN '
                '(SELECT seq FROM deliveries)'
            )
        return gone

    def alive(self, now: float) -> None:
        """Note that the agent watches, so that a gap has a beginning.

        :raises SpoolError: not noted
        """
        with self._connections() as (_, lazy), state_file.transaction(lazy):
            lazy.execute("REPLACE INTO meta VALUES ('alive', ?)", (str(now),))
            lazy.execute('DELETE FROM sent WHERE at < ?', (now - KEPT_SENT,))

    def oldest(self) -> float | None:
        """Unix seconds at which the oldest that waits was seen; None: none.

        :raises SpoolError: not now
        """
        with self._connections() as (_, lazy):
            row = lazy.execute(
                'SELECT seen FROM incidents ORDER BY seq LIMIT 1'
            ).fetchone()
        return float(row[0]) if row else None

    def used(self) -> int:
        """Bytes that what is kept takes, without what is free in the file.

        :raises SpoolError: not now
        """
        with self._connections() as (_, lazy):
            return _used(lazy)

    def size(self) -> int:
        """Bytes of the file and its log."""
        return self._file.size()

    def close(self) -> None:
        """Let another agent have the file; again is no harm."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._disconnect()
            self._file.close()

    @contextlib.contextmanager
    def _connections(self) -> Iterator[_Both]:
        """The one that writes at once and the lazy one.

        Whatever fails with them, they are made anew.
        """
        with self._lock:
            if self._is_closed:
                raise SpoolError(path=self._file.path, reason='it is closed')
            try:
                if self._both is None:
                    self._both = _opened(self._file, not self.file_id)
                    self.file_id = _meta(self._both[0], 'made') or ''
                yield self._both
            except _ODD as error:
                raise ValueError(str(error)) from error
            except (*state_file.ERRORS, OSError) as error:
                self._file.is_broken |= state_file.is_broken(error)
                self._disconnect()
                reason = getattr(error, 'strerror', None) or str(error)
                raise SpoolError(path=self._file.path, reason=reason) from None

    def _disconnect(self) -> None:
        for connection in self._both or ():
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        self._both = None


def _opened(file: state_file.StateFile, is_start: bool) -> _Both:
    """Connections to a file; an agent that runs waits for a better one."""
    try:
        return file.open()
    except exceptions.ConfigurationError as error:
        if is_start:
            raise
        raise OSError(str(error)) from None


def _meta(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute(
        'SELECT value FROM meta WHERE key = ?', (key,)
    ).fetchone()
    return str(row[0]) if row else None


def _used(connection: sqlite3.Connection) -> int:
    counts = [
        int(connection.execute(f'PRAGMA {name}').fetchone()[0])
        for name in ('page_count', 'freelist_count', 'page_size')
    ]
    return (counts[0] - counts[1]) * counts[2]


def _make_room(writer: sqlite3.Connection, limit: int) -> int:
    """Let go the least severe and oldest, as many as must be."""
    dropped = 0
    while _used(writer) > limit - state_file.SLACK_BYTES:
        seqs = writer.execute(
            'SELECT seq FROM incidents ORDER BY severity, seq LIMIT ?',
            (_SHED,),
        ).fetchall()
        if not seqs:
            break
        for table in ('deliveries', 'incidents'):
            writer.executemany(f'DELETE FROM {table} WHERE seq = ?', seqs)  # noqa: S608
        dropped += len(seqs)
    return dropped


def _load(writer: sqlite3.Connection, now: float) -> Kept:
    domains = writer.execute('SELECT instance, row FROM domains')
    sent = writer.execute('SELECT instance, kind, at FROM sent')
    alive = _meta(writer, 'alive')
    return Kept(
        {
            instance: state_rows.domain_of(instance, text)
            for instance, text in domains
        },
        {
            (instance, kind): moment
            for instance, kind, moment in sent
            if abs(now - moment) < KEPT_SENT
        },
        None if alive is None else state_rows.seconds_of(alive),
        _meta(writer, 'baseline') is not None,
    )


def _write(writer: sqlite3.Connection, changes: Changes) -> None:
    for instance, row in changes.rows.items():
        if row is None:
            writer.execute(
                'DELETE FROM domains WHERE instance = ?', [instance]
            )
        else:
            writer.execute(
                'REPLACE INTO domains VALUES (?, ?)',
                (instance, json.dumps(row.document())),
            )
    for entry in changes.entries:
        _write_entry(writer, entry)
    writer.executemany(
        'REPLACE INTO sent VALUES (?, ?, ?)',
        [(*key, moment) for key, moment in changes.sent.items()],
    )
    if changes.is_baseline:
        writer.execute("REPLACE INTO meta VALUES ('baseline', '1')")


def _write_entry(writer: sqlite3.Connection, entry: Entry) -> None:
    cursor = writer.execute(
        'INSERT INTO incidents '
        '(id, instance, severity, seen, run, state, body) '
        'VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
        (
            entry.id,
            entry.instance,
            entry.severity,
            entry.seen,
            entry.run,
            entry.state.value,
            entry.body,
        ),
    )
    if cursor.rowcount:
        writer.executemany(
            'INSERT INTO deliveries VALUES (?, ?)',
            [(sink, cursor.lastrowid) for sink in entry.sinks],
        )
