# SPDX-License-Identifier: Apache-2.0
"""The lock is one row, and what is done under it is done whole or not."""

import threading

import sqlalchemy as sa
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
from watcher import objects
from watcher.common import context
from watcher.db.sqlalchemy import models

from kronos.common import deadline
from kronos.snapshots import watcher_actions
from kronos.watcher_db import lock
from tests.watcher_tests import db_base

TEXT = 'as Watcher has it'


class LockTestCase(db_base.DbTestCase):
    def setUp(self):
        super().setUp()
        self.context = context.make_context()
        objects.ActionDescription(
            self.context,
            action_type=watcher_actions.ACTION_TYPE,
            description=TEXT,
        ).create()

    def row(self):
        return objects.ActionDescription.get_by_type(
            self.context, watcher_actions.ACTION_TYPE
        )

    def execute(self, statement):
        with enginefacade.writer.using(self.context) as session:
            return session.execute(statement)

    def rename(self, session):
        table = models.ActionDescription
        session.execute(sa.update(table).values(description='ours'))
        return 'done'

    def test_work_is_done(self):
        self.assertEqual('done', lock.exclusively(self.rename))
        self.assertEqual('ours', self.row().description)

    def test_what_fails_leaves_nothing(self):
        def fail(session):
            self.rename(session)
            raise ValueError('no')

        self.assertRaises(ValueError, lock.exclusively, fail)
        self.assertEqual(TEXT, self.row().description)

    def test_a_deadlock_is_tried_again(self):
        tries = []

        def work(session):
            tries.append(session)
            if len(tries) < 3:
                raise db_exc.DBDeadlock
            return self.rename(session)

        self.assertEqual('done', lock.exclusively(work))
        self.assertEqual(3, len(tries))

    def test_the_row_comes_back(self):
        self.execute(sa.delete(models.ActionDescription))
        self.assertEqual('done', lock.exclusively(self.rename))
        self.assertEqual('ours', self.row().description)

    def test_patience(self):
        """Nothing is done where the time is over; the caller goes on."""
        over = threading.Event()
        self.addCleanup(over.set)

        def work(session):
            self.rename(session)
            over.wait()

        self.assertRaises(
            deadline.DeadlinePassed, lock.exclusively, work, patience=0.2
        )
        over.set()
        lock.exclusively(lambda session: None)
        self.assertEqual(TEXT, self.row().description)

    def test_a_mark_changes_the_row_every_time(self):
        found = []
        for _ in range(3):
            lock.exclusively(lock.mark)
            found.append(self.row().updated_at)
        for one, other in zip(found, found[1:], strict=False):
            self.assertNotEqual(one, other)

    def test_failures(self):
        """What a caller has to expect of a database."""
        self.execute(sa.text('DROP TABLE action_descriptions'))
        self.assertRaises(lock.FAILURES, lock.exclusively, self.rename)
