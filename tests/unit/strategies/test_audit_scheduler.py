# SPDX-License-Identifier: Apache-2.0
"""Do audits run again after the database has refused a write?"""

import datetime
import threading
from unittest import mock

import fixtures
from apscheduler.jobstores import memory
from apscheduler.schedulers import background
from oslotest import base

from kronos.strategies import audit_scheduler

PATIENCE = 60


class Refusing(memory.MemoryJobStore):
    """A job store that refuses to note the next time of a job, once."""

    refusals = 1

    def update_job(self, job):
        if self.refusals:
            self.refusals -= 1
            raise OSError('the node is cut off')
        super().update_job(job)


class TestRevive(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        # The thread that ends would say so on standard error.
        self.useFixture(
            fixtures.MonkeyPatch('threading.excepthook', lambda args: None)
        )
        self.scheduler = background.BackgroundScheduler()
        self.scheduler.add_jobstore(Refusing())
        self.runs = threading.Semaphore(0)
        self.scheduler.add_job(
            self.runs.release,
            'interval',
            seconds=1,
            next_run_time=datetime.datetime.now(datetime.UTC),
            misfire_grace_time=None,
        )

    def test_a_dead_one(self):
        self.scheduler.start()
        self.addCleanup(self.scheduler.shutdown)
        self.scheduler._thread.join(PATIENCE)
        self.assertTrue(self.scheduler.running)
        self.assertTrue(audit_scheduler.revive(self.scheduler))
        for _ in range(3):
            self.assertTrue(self.runs.acquire(timeout=PATIENCE))
        self.assertFalse(audit_scheduler.revive(self.scheduler))

    def test_one_that_was_not_started(self):
        self.assertFalse(audit_scheduler.revive(self.scheduler))

    def test_one_that_was_shut_down(self):
        self.scheduler.start()
        self.scheduler.shutdown()
        self.assertFalse(audit_scheduler.revive(self.scheduler))


class TestWatch(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.guard = mock.patch.object(audit_scheduler, '_guard').start()
        self.addCleanup(mock.patch.stopall)

    def test_no_engine(self):
        audit_scheduler.watch()
        self.guard.assert_not_called()

    def test_an_engine(self):
        scheduler = background.BackgroundScheduler()
        scheduler.start()
        self.addCleanup(scheduler.shutdown)
        audit_scheduler.watch()
        self.guard.assert_called_once_with()
