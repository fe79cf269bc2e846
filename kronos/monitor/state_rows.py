# SPDX-License-Identifier: Apache-2.0
"""The rows of a state file, and those of them that cannot be read.

A flipped bit or another hand may leave a value that is no number any more.
Such a row is dropped: the agent starts without it, and says so once.
"""

import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import pydantic
import pydantic_core
from oslo_log import log as logging

from kronos.common import first_fault, plain_text
from kronos.monitor.memory import Row

LOG = logging.getLogger(__name__)

MAX_SEQ = 2**62
"""Of an incident."""
NAME_LENGTH = 60
TEXT_LENGTH = 200
"""Characters of what a row is called, and of its fault, that are shown."""
_MOST_INTEGER = 2**63
_ROW: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(
    pydantic.dataclasses.dataclass(
        Row,
        config=pydantic.ConfigDict(
            strict=True, allow_inf_nan=False, extra='forbid'
        ),
    )
)


@dataclass
class UnreadableRow:
    table: str
    key: tuple[Any, ...]
    name: str
    """What its first column has."""
    reason: str

    def __str__(self) -> str:
        text = f'{self.table} {self.name}: {self.reason}'
        return plain_text.line(text)[:TEXT_LENGTH]


def domain_of(instance: object, text: object) -> Row:
    """The memory of a domain.

    :raises ValueError: it cannot be read
    """
    row = Row.of(asdict(_ROW.validate_json(_text(text))))
    if row.instance != instance:
        raise ValueError('it is the row of another instance')
    _integer(row.run or 0)
    _integer(row.episode)
    return row


def seconds_of(value: object) -> float:
    """Unix seconds, be they a number or its text.

    :raises ValueError: they are neither
    """
    if not isinstance(value, str | int | float):
        raise ValueError('it is no number')
    seconds = float(value)
    if not math.isfinite(seconds):
        raise ValueError('it is not finite')
    return seconds


def unreadable(connection: sqlite3.Connection) -> Iterator[UnreadableRow]:
    """All rows that cannot be read."""
    for table, (key, columns, check) in _CHECKS.items():
        size = key.count(',') + 1
        for row in connection.execute(f'SELECT {key}, {columns}'):  # noqa: S608
            reason = _reason(check, row[size:])
            if reason:
                yield UnreadableRow(
                    table, row[:size], str(row[size])[:NAME_LENGTH], reason
                )


def drop_unreadable(connection: sqlite3.Connection, path: str) -> None:
    """Delete them, and say so.

    :param path: of the file, for the log
    :raises sqlite3.Error: such as for a full disk
    """
    rows = [*unreadable(connection)]
    if not rows:
        return
    with connection:
        connection.execute('BEGIN IMMEDIATE')
        for row in rows:
            key = _CHECKS[row.table][0].split(', ')
            where = ' AND '.join(f'{column} IS ?' for column in key)
            connection.execute(
                f'DELETE FROM {row.table} WHERE {where}',  # noqa: S608
                row.key,
            )
        # Those of the incidents above.
        connection.execute(
            'DELETE FROM deliveries WHERE seq NOT IN '
            '(SELECT seq FROM incidents)'
        )
    LOG.error('State file %s: %s; they are dropped', path, _summary(rows))


def fault(connection: sqlite3.Connection) -> str:
    """What an agent would drop; '': nothing."""
    rows = [*unreadable(connection)]
    return f'{_summary(rows)}; the agent drops them' if rows else ''


def _summary(rows: Sequence[UnreadableRow]) -> str:
    """How many rows cannot be read, and the first of them."""
    return f'{len(rows)} rows cannot be read, such as {rows[0]}'


def _reason(check: '_Check', values: Sequence[Any]) -> str:
    """Why a row cannot be read; '': it can be."""
    try:
        check(*values)
    except pydantic.ValidationError as error:
        return first_fault.sentence(error)
    except (ValueError, TypeError) as error:
        return str(error)
    return ''


def _check_meta(key: object, value: object) -> None:
    if key == 'alive':
        seconds_of(value)


def _check_sent(instance: object, kind: object, seconds: object) -> None:
    _text(instance)
    _text(kind)
    _number(seconds)


def _check_incident(
    seq: int, severity: object, seen: object, run: object, *texts: object
) -> None:
    _check_seq(seq)
    _integer(severity)
    _number(seen)
    if run is not None:
        _integer(run)
    for text in texts:
        _text(text)
    pydantic_core.from_json(_text(texts[-1]))


def _check_seq(seq: object) -> None:
    """SQLite gives no further number after the largest one."""
    _integer(seq)
    if not 0 <= cast(int, seq) < MAX_SEQ:
        raise ValueError('its number is out of range')


def _check_delivery(sink: object, seq: object, incident: object) -> None:
    _text(sink)
    _integer(seq)
    if incident is None:
        raise ValueError('there is no incident of this number')


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError('a value is no text')
    return value


def _integer(value: object) -> None:
    if not isinstance(value, int) or abs(value) >= _MOST_INTEGER:
        raise ValueError('a value is no integer, or too large')


def _number(value: object) -> None:
    if isinstance(value, str):
        raise ValueError('a value is no number')
    seconds_of(value)


_Check = Callable[..., object]
_CHECKS: dict[str, tuple[str, str, _Check]] = {
    'meta': ('rowid', 'key, value FROM meta', _check_meta),
    'domains': ('rowid', 'instance, row FROM domains', domain_of),
    'sent': (
        'CAST(instance AS BLOB), CAST(kind AS BLOB)',
        'instance, kind, at FROM sent',
        _check_sent,
    ),
    'sqlite_sequence': ('rowid', 'seq FROM sqlite_sequence', _check_seq),
    'incidents': (
        'rowid',
        'seq, severity, seen, run, id, instance, state, body FROM incidents',
        _check_incident,
    ),
    'deliveries': (
        'CAST(sink AS BLOB), deliveries.seq',
        'sink, deliveries.seq, incidents.seq FROM deliveries '
        'LEFT JOIN incidents USING (seq)',
        _check_delivery,
    ),
}
"""By table: what names a row, its columns, and what they have to be."""
