# SPDX-License-Identifier: Apache-2.0
"""A plan is published unless another one for its hosts came up first."""

import datetime
import uuid

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
from watcher import objects
from watcher.common import context
from watcher.db.sqlalchemy import models

from kronos.extensions.cells.cell_drain import CELL_MOVE
from kronos.snapshots import stale_migrations, watcher_actions
from kronos.watcher_db import publishing
from tests import pipeline_plans, turntaking
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State
from tests.unit.strategies.test_history import uuid as uuid_of
from tests.watcher_tests import db_base
from tests.watcher_tests import db_utils as utils

OLD = datetime.timedelta(hours=2)
CELL = {'kind': CELL_MOVE}
PIPELINE = {'has_audit': False}
TAKEN = {'hostname': 'ctl1'}


class TestRivals(db_base.DbTestCase):
    """Another plan that moves servers from h1 to h2."""

    scenarios = [
        (
            f'{state} {word}'.strip(),
            {'state': state, 'move': move, 'is_rival': is_rival, **more},
        )
        for state, move, is_rival, word, more in (
            ('PENDING', 'PENDING', True, '', {}),
            ('ONGOING', 'ONGOING', True, '', {}),
            ('CANCELLING', 'PENDING', True, '', {}),
            ('SUCCEEDED', 'SUCCEEDED', True, '', {}),
            ('FAILED', 'FAILED', True, '', {}),
            ('RECOMMENDED', 'PENDING', True, '', {}),
            ('RECOMMENDED', 'PENDING', False, 'asked', {'is_asked': True}),
            ('RECOMMENDED', 'PENDING', False, 'long ago', {'age': OLD}),
            ('SUCCEEDED', 'SUCCEEDED', False, 'long ago', {'age': OLD}),
            ('CANCELLED', 'CANCELLED', False, '', {}),
            ('ONGOING', 'ONGOING', False, 'elsewhere', {'hosts': {'h3'}}),
            ('ONGOING', 'ONGOING', False, 'known', {'is_known': True}),
            ('ONGOING', 'ONGOING', True, 'to a cell', CELL),
            ('ONGOING', 'ONGOING', False, 'other kind', {'kind': 'nop'}),
            ('ONGOING', 'ONGOING', True, 'of a pipeline', PIPELINE),
            ('RECOMMENDED', 'PENDING', False, 'of a pipeline', PIPELINE),
            ('RECOMMENDED', 'PENDING', True, 'taken', PIPELINE | TAKEN),
        )
    ]
    age = datetime.timedelta()
    hosts = frozenset({'h2', 'h4'})
    kind = watcher_actions.ACTION_TYPE
    is_asked = False
    """Whether an operator has to start it."""
    is_known = False
    has_audit = True
    hostname = None
    """Of the applier that has taken it."""

    def setUp(self):
        super().setUp()
        if not self.has_audit:
            self.loose = self.useFixture(pipeline_plans.PipelinePlans())
        goal = utils.create_test_goal()
        self.strategy = utils.create_test_strategy(goal_id=goal.id)
        self.audits = 0
        objects.ActionDescription(
            context.make_context(),
            action_type=watcher_actions.ACTION_TYPE,
            description='as Watcher has it',
        ).create()

    def plan(self, state, auto_trigger=True):
        self.audits += 1
        audit = utils.create_test_audit(
            id=self.audits,
            uuid=str(uuid.uuid4()),
            name=f'audit {self.audits}',
            goal_id=self.strategy.goal_id,
            strategy_id=self.strategy.id,
            auto_trigger=auto_trigger,
        )
        return utils.create_test_action_plan(
            id=self.audits,
            uuid=str(uuid.uuid4()),
            audit_id=audit.id,
            strategy_id=self.strategy.id,
            state=state,
        )

    def test_publish(self):
        ours = self.plan('CANCELLED')
        other = self.plan(self.state, not self.is_asked)
        moment = timeutils.utcnow() - self.age
        row = turntaking.action(
            turntaking.move_uuid(1), state=self.move, action_type=self.kind
        )
        with enginefacade.writer.using(context.make_context()) as session:
            session.execute(
                sa.insert(models.Action).values(
                    {**row, 'action_plan_id': other.id}
                )
            )
            session.execute(
                sa.update(models.ActionPlan)
                .where(models.ActionPlan.id == other.id)
                .values(created_at=moment, updated_at=moment)
            )
        if not self.has_audit:
            self.loose.cut_loose(other.id, hostname=self.hostname)
        seen = {other.uuid} if self.is_known else set()
        basis = publishing.Basis(frozenset(seen), frozenset(self.hosts))
        rival = publishing.publish(ours.uuid, basis)
        state = objects.ActionPlan.get_by_uuid(
            context.make_context(), ours.uuid
        ).state
        if self.is_rival:
            self.assertIn(other.uuid, rival)
            self.assertEqual('CANCELLED', state)
        else:
            self.assertEqual('', rival)
            self.assertEqual('RECOMMENDED', state)


_Plan = models.ActionPlan.__table__
_Audit = models.Audit.__table__


class TestCondition(test_history.HistoryTestCase):
    def found(self):
        joined = _Plan.join(_Audit, _Plan.c.audit_id == _Audit.c.id)
        query = (
            sa.select(_Plan.c.uuid)
            .select_from(joined)
            .where(publishing.is_active())
        )
        with enginefacade.reader.using(self.context) as session:
            return session.execute(query).scalars().all()

    def test_another_strategy_s_counts_too(self):
        self.plan('ONGOING', (State.ONGOING, {'action_type': 'nop'}))
        self.plan('FAILED', (State.FAILED, {}))
        self.assertEqual([uuid_of(101)], self.found())

    def test_one_handed_over_counts_until_its_applier_must_have_begun(self):
        self.plan('RECOMMENDED', (State.PENDING, {}), auto_trigger=True)
        grace = stale_migrations.GRACE_SECONDS
        for age, expected in ((grace - 60, [uuid_of(101)]), (grace + 60, [])):
            moment = timeutils.utcnow() - datetime.timedelta(seconds=age)
            with enginefacade.writer.using(self.context) as session:
                session.execute(_Plan.update().values(created_at=moment))
            self.assertEqual(expected, self.found())
