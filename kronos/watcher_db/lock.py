# SPDX-License-Identifier: Apache-2.0
"""The lock that all decision engines and appliers of a Watcher share.

They share nothing but its database, so they queue up for one row that every
Watcher has and that is ours: the description of our action. A process has one
place in that queue, or two while a transaction hangs.
"""

import types
from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa
from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
from oslo_log import log as logging
from oslo_utils import timeutils
from sqlalchemy import exc as sa_exc
from watcher.db.sqlalchemy import models

from kronos.common import deadline
from kronos.snapshots import watcher_actions

LOG = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds that anybody waits for the lock and for the database: who holds
the one may have died with its machine, and the other may say nothing."""
_LOCKED = (
    'a connection has locked action_descriptions for {seconds:g} s. Find it '
    'in information_schema.innodb_trx and KILL it'
)
_SILENT = (
    'no answer within {seconds:g} s. Check the database server and the '
    'network to it'
)

_T = TypeVar('_T')
_Row = models.ActionDescription.__table__
_OURS = _Row.c.action_type == watcher_actions.ACTION_TYPE


class RowMissing(Exception):
    """Our row of the action descriptions is not there."""


class LockTimeout(deadline.DeadlinePassed):
    """The lock or the database could not be had in time; says which."""


FAILURES = (
    db_exc.DBError,
    db_exc.CantStartEngineError,
    sa_exc.SQLAlchemyError,
    deadline.DeadlinePassed,
    RowMissing,
)
"""What :func:`exclusively` raises if the database is to blame."""

# In a Galera cluster the one who was later is told so by a deadlock. Tries
# come often: who waits for long loses its turn to those who wait less.
_retried = oslo_db_api.wrap_db_retry(
    retry_interval=0.05,
    max_retries=80,
    max_retry_interval=0.25,
    retry_on_deadlock=True,
)


_transactions = deadline.Queue()
_reads = deadline.Queue()
_waits_for_row = set[deadline.Check]()
"""The transactions of this process that have asked for the row."""


def exclusively(
    work: Callable[[Any], _T], patience: float | None = None
) -> _T:
    """Do some work in a transaction that overlaps with no other one of these.

    :param work: is given the session; it is done again after a deadlock
    :param patience: seconds; None: ``PATIENCE``
    :raises LockTimeout: the lock or the database could not be had in time;
        nothing was done, unless the connection hangs at the very last word
    :raises RowMissing: even though it was written anew
    :raises Exception: what oslo.db and SQLAlchemy raise
    """

    def attempt(check: deadline.Check) -> _T:
        try:
            return _transaction(work, check)
        except RowMissing:
            _insert()
            return _transaction(work, check)
        finally:
            _waits_for_row.discard(check)

    seconds = PATIENCE if patience is None else patience
    try:
        return _transactions.within(seconds, attempt)
    except deadline.DeadlinePassed as error:
        text = _LOCKED if _waits_for_row else _SILENT
        raise LockTimeout(text.format(seconds=seconds)) from error


def read(work: Callable[[], _T]) -> _T:
    """Read from the database, which may accept and say nothing.

    :raises LockTimeout: it did not answer in time
    :raises Exception: what the work raises
    """
    return write(work, _reads)


def write(work: Callable[[], _T], queue: deadline.Queue) -> _T:
    """Write without the lock.

    :param queue: of what waits for the same rows
    :raises LockTimeout, Exception: see :func:`read`
    """
    try:
        return queue.within(PATIENCE, lambda check: work())
    except deadline.DeadlinePassed as error:
        raise LockTimeout(_SILENT.format(seconds=PATIENCE)) from error


def reason(error: Exception) -> str:
    """What a message says of one of ``FAILURES``.

    The text of the others may have the statement and its values.
    """
    if isinstance(error, LockTimeout):
        return str(error)
    return type(error).__name__


def mark(session: Any) -> None:
    """Change our row, so that two nodes of a Galera cluster collide.

    They do not see each other's locks, only rows that really change. The
    times of MySQL have whole seconds, so it must not be the last one again.
    """
    query = sa.select(_Row.c.updated_at).where(_OURS)
    last = session.execute(query).scalar()
    now = timeutils.utcnow().replace(microsecond=0)
    if now == last:
        now = now.replace(second=now.second - 1 if now.second else 1)
    session.execute(sa.update(_Row).where(_OURS).values(updated_at=now))


def _transaction(work: Callable[[Any], _T], check: deadline.Check) -> _T:
    def once() -> _T:
        check.again()
        # A context of its own: no part of what the thread may be in.
        context = types.SimpleNamespace()
        with enginefacade.writer.using(context) as session:
            _waits_for_row.add(check)
            _lock(session)
            _waits_for_row.discard(check)
            answer = work(session)
            check()
            return answer

    answer: _T = _retried(once)()
    return answer


def _lock(session: Any) -> None:
    """Let the others wait until this transaction is over.

    An UPDATE, though nothing changes: SQLite knows no SELECT FOR UPDATE. It
    must be the first statement: only then is what is read next what the one
    before has left, in MySQL's REPEATABLE READ as well.
    """
    values = {
        'description': _Row.c.description,
        'updated_at': _Row.c.updated_at,
    }
    session.execute(sa.update(_Row).where(_OURS).values(values))
    if session.execute(sa.select(_Row.c.id).where(_OURS)).first() is None:
        raise RowMissing


def _insert() -> None:
    """Write our row, as every applier does when it starts.

    Somebody has deleted it. The next start corrects the text.
    """
    text = {
        'action_type': watcher_actions.ACTION_TYPE,
        'description': 'Live-migrate a server',
    }
    try:
        with enginefacade.writer.using(types.SimpleNamespace()) as session:
            session.execute(sa.insert(_Row).values(text))
    except db_exc.DBDuplicateEntry:
        LOG.debug('Another applier has written it')
