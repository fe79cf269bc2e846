# SPDX-License-Identifier: Apache-2.0
"""Which plans are under way, and how long one counts that was handed over."""

import datetime

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
from watcher.db.sqlalchemy import models

from kronos.snapshots import stale_migrations
from kronos.watcher_db import active_plans
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State, uuid

_Plan = models.ActionPlan.__table__
_Audit = models.Audit.__table__


class TestCondition(test_history.HistoryTestCase):
    def found(self):
        joined = _Plan.join(_Audit, _Plan.c.audit_id == _Audit.c.id)
        query = (
            sa.select(_Plan.c.uuid)
            .select_from(joined)
            .where(active_plans.condition())
        )
        with enginefacade.reader.using(self.context) as session:
            return session.execute(query).scalars().all()

    def test_another_strategy_s_counts_too(self):
        self.plan('ONGOING', (State.ONGOING, {'action_type': 'nop'}))
        self.plan('FAILED', (State.FAILED, {}))
        self.assertEqual([uuid(101)], self.found())

    def test_one_handed_over_counts_until_its_applier_must_have_begun(self):
        self.plan('RECOMMENDED', (State.PENDING, {}), auto_trigger=True)
        grace = stale_migrations.GRACE_SECONDS
        for age, expected in ((grace - 60, [uuid(101)]), (grace + 60, [])):
            moment = timeutils.utcnow() - datetime.timedelta(seconds=age)
            with enginefacade.writer.using(self.context) as session:
                session.execute(_Plan.update().values(created_at=moment))
            self.assertEqual(expected, self.found())
