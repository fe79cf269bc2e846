# SPDX-License-Identifier: Apache-2.0
"""Can a plan be started of which not all rows were written?"""

import itertools
import re

import sqlalchemy
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade

from tests.functional.watcher import base

ROW = re.compile(
    '(INSERT INTO|UPDATE) (action_plans|actions|efficacy_indicators) '
)
PENDING = {'op': 'replace', 'path': '/state', 'value': 'PENDING'}
PLANNED = {'aggregates': 'alpha', 'max_migrations': 2}


class HalfPlanTestCase(base.KronosTestCase):
    """The database is gone at the n-th row of a plan, for every n."""

    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.lose = lambda number: False
        self.written = 0
        engine = enginefacade.writer.get_engine()
        event = engine, 'before_cursor_execute', self.count
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)

    def count(self, connection, cursor, statement, values, *_):
        if ROW.match(statement):
            self.written += 1
            if self.lose(self.written):
                raise db_exception.DBConnectionError('the database is gone')

    def audits(self, lose):
        """Audits, each of which loses its plan one row later.

        The last one got its plan whole, and it has been carried out.
        """
        for number in itertools.count(1):
            self.written = 0
            self.lose = lambda row, n=number: lose(row, n)
            audit = self.create_audit(auto_trigger=True, parameters=PLANNED)
            self.lose = lambda number: False
            if audit['state'] == 'SUCCEEDED':
                self.assertGreater(number, len(PLANNED) + 1)
                return
            self.assertEqual('FAILED', audit['state'])
            self.assertIn('cannot be written', self.message(audit))
            self.assertEqual([], self.cloud.migrations)
            yield audit

    def test_what_was_written_is_deleted(self):
        """The database is back at once."""
        for audit in self.audits(lambda row, n: row == n):
            self.assertEqual([], self.plans(audit))

    def test_what_cannot_be_deleted_cannot_be_started(self):
        """Neither the planner nor a new one can write: as if it had died."""
        found = 0
        for audit in self.audits(lambda row, n: row >= n):
            for plan in self.plans(audit):
                found += 1
                self.assertEqual('CANCELLED', plan['state'])
                url = f'/action_plans/{plan["uuid"]}'
                for answer in (
                    self.admin_api.post(f'{url}/start', {}),
                    self.admin_api.patch(url, [PENDING]),
                ):
                    self.assertEqual(4, answer.status_code // 100)
                again = self.admin_api.get(url).json()
                self.assertEqual('CANCELLED', again['state'])
        self.assertGreater(found, 2)
        self.assertEqual([], self.cloud.migrations)
