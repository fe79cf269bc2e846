# SPDX-License-Identifier: Apache-2.0
"""Why is Watcher's database of a test never locked?

Watcher's harness lets one thread write at a time, but its scheduler of
continuous audits keeps its jobs in the same SQLite file and knows nothing of
that lock. A job that is written between the SELECT and the UPDATE of another
transaction makes that UPDATE fail at once. So whoever is going to write says
so at the beginning, and SQLite makes the others wait.

Whoever waits for a state looks after a write, not after an interval: a look
through Watcher's API takes as long as a step of the plan that it waits for.
"""

import contextlib
import threading
import time
from collections.abc import Collection

import fixtures
import sqlalchemy
from oslo_db.sqlalchemy import enginefacade
from watcher.db.sqlalchemy import api

LONGEST_SECONDS = 1.0
"""Between two looks, for writes that do not pass by Watcher's own sessions."""


class WritersFirst(fixtures.Fixture):
    """Lets the transactions that write begin with BEGIN IMMEDIATE."""

    def _setUp(self):
        self._written = threading.Event()
        self._thread = threading.local()
        engine = enginefacade.writer.get_engine()
        sqlalchemy.event.listen(engine, 'begin', self._begin)
        self.addCleanup(sqlalchemy.event.remove, engine, 'begin', self._begin)
        session_for_write = api._session_for_write

        @contextlib.contextmanager
        def declared():
            before = getattr(self._thread, 'writes', False)
            self._thread.writes = True
            try:
                with session_for_write() as session:
                    yield session
            finally:
                self._thread.writes = before
                self._written.set()

        self.useFixture(
            fixtures.MockPatchObject(api, '_session_for_write', declared)
        )

    def _begin(self, connection):
        # oslo.db's own listener came first, and its BEGIN has read nothing.
        if getattr(self._thread, 'writes', False):
            connection.exec_driver_sql('ROLLBACK')
            connection.exec_driver_sql('BEGIN IMMEDIATE')

    def wait_for(
        self, table: str, uuid: str, states: Collection[str], patience: float
    ) -> None:
        """Wait until a row is in one of the states, or patience has ended."""
        deadline = time.monotonic() + patience
        query = sqlalchemy.text(f'SELECT state FROM {table} WHERE uuid = :id')
        engine = enginefacade.reader.get_engine()
        while time.monotonic() < deadline:
            self._written.clear()
            with engine.connect() as connection:
                if connection.scalar(query, {'id': uuid}) in states:
                    return
            self._written.wait(LONGEST_SECONDS)
