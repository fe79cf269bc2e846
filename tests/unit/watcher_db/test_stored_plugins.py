# SPDX-License-Identifier: Apache-2.0
"""Is it told beforehand what the start of a decision engine would cancel?"""

import copy

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from watcher import objects
from watcher.decision_engine import sync

from kronos.strategies import goals, pack, spread
from kronos.watcher_db import stored_plugins, work_in_hand
from tests.unit.strategies.test_history import uuid
from tests.watcher_tests import db_base as base
from tests.watcher_tests import object_utils as utils

GOALS = [goals.Balance, goals.Consolidate]
STRATEGIES = [spread.Spread, pack.Pack]


class StoredTestCase(base.DbTestCase):
    """The database has what a decision engine of today writes."""

    def setUp(self):
        super().setUp()
        sync.Syncer().sync()
        self.made = 0

    def compare(self, known_goals=GOALS, known_strategies=STRATEGIES):
        """Against some other code: only of its plugins it is told here."""
        with work_in_hand.reading() as session:
            return stored_plugins.compare(
                session, known_goals, known_strategies
            )

    def stale(self, **classes):
        """The goals and strategies of ours that differ, and in what.

        Those that are not among the code's are left out.
        """
        result = self.compare(**classes)
        return {
            row['name']: row['differs']
            for kind in ('goals', 'strategies')
            for row in result[kind]
            if row['differs'][0] != stored_plugins.GONE
        }

    def row(self, kind, name):
        return kind.get_by_name(self.context, name)

    def audit(self, strategy='kronos_spread', **fields):
        """An audit, and its plan if a state of that is given."""
        self.made += 1
        stored = self.row(objects.Strategy, strategy)
        plan = fields.pop('plan', '')
        audit = utils.create_test_audit(
            self.context,
            id=self.made,
            uuid=uuid(self.made),
            name=f'audit {self.made}',
            goal_id=stored.goal_id,
            strategy_id=stored.id,
            **fields,
        )
        if plan:
            utils.create_test_action_plan(
                self.context,
                id=self.made,
                uuid=uuid(100 + self.made),
                audit_id=audit.id,
                strategy_id=stored.id,
                state=plan,
            )
        return audit


class OtherSpread(spread.Spread):
    """As another release may have it: one default differs."""

    @classmethod
    def get_schema(cls):
        schema = copy.deepcopy(super().get_schema())
        schema['properties']['max_migrations']['default'] = 7
        return schema


class NamedSpread(spread.Spread):
    @classmethod
    def get_translatable_display_name(cls):
        return 'Kronos: spread out'


class TurnedSpread(spread.Spread):
    """Its parameters come in another order, which is no change."""

    @classmethod
    def get_schema(cls):
        schema = copy.deepcopy(super().get_schema())
        properties = schema['properties']
        schema['properties'] = dict(reversed(properties.items()))
        return schema


class OtherBalance(goals.Balance):
    @classmethod
    def get_translatable_display_name(cls):
        return 'Kronos: balance it'


class MeasuredBalance(goals.Balance):
    @classmethod
    def get_efficacy_specification(cls):
        return goals.Drain.get_efficacy_specification()


class TestCompare(StoredTestCase):
    def test_equal(self):
        """Also as Watcher loads it, and in another order."""
        self.assertEqual({}, self.stale())
        turned = [TurnedSpread, pack.Pack]
        self.assertEqual({}, self.stale(known_strategies=turned))
        stored = sync.default
        equal = self.compare(
            stored.DefaultGoalLoader().list_available().values(),
            stored.DefaultStrategyLoader().list_available().values(),
        )
        self.assertEqual(([], []), (equal['goals'], equal['strategies']))
        self.assertEqual((8, []), (equal['known'], equal['new']))

    def test_strategies(self):
        for strategy, why in (
            (OtherSpread, 'its parameters max_migrations'),
            (NamedSpread, 'its display name'),
        ):
            self.assertEqual(
                {'kronos_spread': [why]},
                self.stale(known_strategies=[strategy, pack.Pack]),
            )

    def test_goals(self):
        """With each its strategies are stale, too."""
        for goal, why in (
            (OtherBalance, 'its display name'),
            (MeasuredBalance, 'its efficacy indicators'),
        ):
            self.assertEqual(
                {
                    'kronos_balance': [why],
                    'kronos_spread': ['its goal kronos_balance'],
                },
                self.stale(known_goals=[goal, goals.Consolidate]),
            )

    def test_rows_that_are_no_json(self):
        """They differ, as Watcher will find, and spoil no others."""
        for text in ('', 'no', '3', '[3]', '{}', '[' * 10**5):
            for table, column in (
                ('goals', 'efficacy_specification'),
                ('strategies', 'parameters_spec'),
            ):
                with enginefacade.writer.using(self.context) as session:
                    session.execute(
                        sa.text(
                            f'UPDATE {table} SET {column} = :text '
                            "WHERE name IN ('kronos_balance', 'kronos_pack')"
                        ),
                        {'text': text},
                    )
            result = self.stale()
            self.assertEqual(
                ['its efficacy indicators'], result['kronos_balance']
            )
            self.assertIn('its parameters', result['kronos_pack'][0])
            self.assertEqual(
                ['its goal kronos_balance'], result['kronos_spread']
            )

    def test_one_that_is_gone_and_a_new_one(self):
        differences = self.compare(known_strategies=[pack.Pack])['strategies']
        self.assertIn(
            {'name': 'kronos_spread', 'differs': [stored_plugins.GONE]},
            differences,
        )
        self.row(objects.Strategy, 'kronos_spread').soft_delete()
        differences = self.compare()
        self.assertEqual(['kronos_spread'], differences['new'])
        self.assertEqual(7, differences['known'])


class TestCancelled(StoredTestCase):
    """What hangs on a strategy that differs."""

    def cancelled(self):
        return self.compare(known_strategies=[OtherSpread, pack.Pack])

    def test_audits(self):
        """Under way, or waiting for an event."""
        for state in ('PENDING', 'ONGOING', 'SUSPENDED'):
            self.audit(state=state)
        for state in ('SUCCEEDED', 'FAILED', 'CANCELLED'):
            self.audit(state=state)
        self.audit(state='SUCCEEDED', audit_type='EVENT')
        self.audit(state='CANCELLED', audit_type='EVENT')
        result = self.cancelled()
        self.assertEqual(
            [
                {'uuid': uuid(1), 'name': 'audit 1', 'state': 'PENDING'},
                {'uuid': uuid(2), 'name': 'audit 2', 'state': 'ONGOING'},
                {'uuid': uuid(3), 'name': 'audit 3', 'state': 'SUSPENDED'},
                {'uuid': uuid(7), 'name': 'audit 7', 'state': 'SUCCEEDED'},
            ],
            result['audits'],
        )
        self.assertEqual(4, result['finished_audits'])

    def test_plans(self):
        """Also of audits that are over, but not of other strategies."""
        self.audit('dummy', state='ONGOING', plan='ONGOING')
        for plan in ('RECOMMENDED', 'PENDING', 'ONGOING', 'SUCCEEDED'):
            self.audit(state='SUCCEEDED', plan=plan)
        result = self.cancelled()
        self.assertEqual([], result['audits'])
        self.assertEqual(3, result['waiting_plans'])
