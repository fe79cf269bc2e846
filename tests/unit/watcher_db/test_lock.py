# SPDX-License-Identifier: Apache-2.0
"""The lock is one row, and what is done under it is done whole or not."""

import threading

import fixtures
import sqlalchemy as sa
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
from watcher import objects
from watcher.common import context
from watcher.db.sqlalchemy import models

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

    def hang(self):
        """Somebody holds the row until the test lets go.

        :returns: the event that lets go, and the threads that wait
        """
        released, threads = threading.Event(), []
        self.addCleanup(released.set)
        real = lock._lock

        def wait(session):
            threads.append(threading.current_thread())
            released.wait(60)
            real(session)

        self.useFixture(
            fixtures.MonkeyPatch('kronos.watcher_db.lock._lock', wait)
        )
        return released, threads

    def connections(self):
        """Those in use, kept up to date."""
        in_use = set()

        def add(connection, record, proxy):
            in_use.add(record)

        def discard(connection, record):
            in_use.discard(record)

        pool = enginefacade.writer.get_engine().pool
        for name, listener in (('checkout', add), ('checkin', discard)):
            sa.event.listen(pool, name, listener)
            self.addCleanup(sa.event.remove, pool, name, listener)
        return in_use

    def test_patience(self):
        """Nothing is done where the time is over; the caller goes on."""
        over = threading.Event()
        self.addCleanup(over.set)

        def work(session):
            self.rename(session)
            over.wait()

        error = self.assertRaises(
            lock.LockTimeout, lock.exclusively, work, patience=0.2
        )
        self.assertIn('no answer within 0.2 s', str(error))
        over.set()
        lock.exclusively(lambda session: None)
        self.assertEqual(TEXT, self.row().description)

    def test_a_holder_that_hangs(self):
        """However often it is tried: two threads, and two connections."""
        released, threads = self.hang()
        connections = self.connections()
        for _ in range(40):
            error = self.assertRaises(
                lock.LockTimeout, lock.exclusively, self.rename, patience=0.02
            )
            self.assertEqual(
                'a connection has locked action_descriptions for 0.02 s. '
                'Find it in information_schema.innodb_trx and KILL it',
                str(error),
            )
            self.assertLessEqual(len(connections), 2)
        self.assertEqual(2, len(threads))
        released.set()
        for thread in threads:
            thread.join(60)
        self.assertEqual(set(), connections)
        self.assertEqual(TEXT, self.row().description)
        self.assertEqual('done', lock.exclusively(self.rename))
        self.assertEqual('ours', self.row().description)

    def test_a_lock_that_times_out_is_not_tried_for_ever(self):
        """The server's own timeout counts as a deadlock."""
        released, tries = threading.Event(), []
        self.addCleanup(released.set)

        def refuse(session):
            tries.append(threading.current_thread())
            released.wait(60)
            raise db_exc.DBDeadlock

        self.useFixture(
            fixtures.MonkeyPatch('kronos.watcher_db.lock._lock', refuse)
        )
        self.assertRaises(
            lock.LockTimeout, lock.exclusively, self.rename, patience=0.05
        )
        released.set()
        tries[0].join(60)
        self.assertEqual(1, len(tries))

    def test_who_is_refused_again_and_again(self):
        """A timeout of the server that is shorter than ours."""

        def refuse(session):
            raise db_exc.DBDeadlock

        self.useFixture(
            fixtures.MonkeyPatch('kronos.watcher_db.lock._lock', refuse)
        )
        error = self.assertRaises(
            lock.LockTimeout, lock.exclusively, self.rename, patience=0.2
        )
        self.assertIn('has locked action_descriptions', str(error))

    def test_reads_that_hang(self):
        released, threads = threading.Event(), []
        self.addCleanup(released.set)
        self.useFixture(
            fixtures.MonkeyPatch('kronos.watcher_db.lock.PATIENCE', 0.02)
        )

        def work():
            threads.append(threading.current_thread())
            released.wait(60)

        for _ in range(10):
            error = self.assertRaises(lock.LockTimeout, lock.read, work)
            self.assertIn('no answer within 0.02 s', lock.reason(error))
        self.assertEqual(2, len(threads))
        # The lock is not theirs.
        self.assertEqual('done', lock.exclusively(self.rename, patience=60))
        released.set()
        for thread in threads:
            thread.join(60)
        self.useFixture(
            fixtures.MonkeyPatch('kronos.watcher_db.lock.PATIENCE', 60)
        )
        self.assertEqual(7, lock.read(lambda: 7))

    def test_the_reason_has_no_statement(self):
        error = db_exc.DBError('UPDATE x SET password')
        self.assertEqual('DBError', lock.reason(error))

    def test_a_mark_changes_the_row_every_time(self):
        moments = []
        for _ in range(3):
            lock.exclusively(lock.mark)
            moments.append(self.row().updated_at)
        for earlier, other in zip(moments, moments[1:], strict=False):
            self.assertNotEqual(earlier, other)

    def test_failures(self):
        """What a caller has to expect of a database."""
        self.execute(sa.text('DROP TABLE action_descriptions'))
        self.assertRaises(lock.FAILURES, lock.exclusively, self.rename)
