# SPDX-License-Identifier: Apache-2.0
"""Who is going to write keeps other writers out from the first look on."""

import contextlib
import sqlite3

import sqlalchemy
from watcher.db.sqlalchemy import api

from tests.functional.watcher import base


class TestWritersFirst(base.KronosTestCase):
    def is_locked(self):
        """Whether a writer who does not wait is refused."""
        path = self.engine.url.database
        with contextlib.closing(sqlite3.connect(path, timeout=0)) as other:
            try:
                other.execute('BEGIN IMMEDIATE')
            except sqlite3.OperationalError:
                return True
            return False

    def test_a_look_before_a_write(self):
        with api._session_for_write() as session:
            self.engine = session.get_bind()
            session.execute(sqlalchemy.text('SELECT * FROM audits'))
            self.assertTrue(self.is_locked())
        self.assertFalse(self.is_locked())
        with api._session_for_read() as session:
            session.execute(sqlalchemy.text('SELECT * FROM audits'))
            self.assertFalse(self.is_locked())
