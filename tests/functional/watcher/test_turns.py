# SPDX-License-Identifier: Apache-2.0
"""Turns in Watcher's database."""

import pathlib

import fixtures
import sqlalchemy as sa
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
from oslotest import base
from watcher import objects
from watcher.common import context
from watcher.db.sqlalchemy import models

from kronos.actions.core import slots
from kronos.common import exceptions
from kronos.snapshots import watcher_actions
from tests import turntaking
from tests.watcher_tests import db_base
from tests.watcher_tests import db_utils as utils

NOW = 1763752294.5


class TurnsTestCase(db_base.DbTestCase):
    """A plan that goes on, with three moves that wait."""

    def setUp(self):
        super().setUp()
        goal = utils.create_test_goal()
        strategy = utils.create_test_strategy(goal_id=goal.id)
        audit = utils.create_test_audit(
            goal_id=goal.id, strategy_id=strategy.id
        )
        self.plan = utils.create_test_action_plan(
            audit_id=audit.id, strategy_id=strategy.id, state='ONGOING'
        )
        objects.ActionDescription(
            context.make_context(),
            action_type=watcher_actions.ACTION_TYPE,
            description='as Watcher has it',
        ).create()
        self.uuids = [turntaking.move_uuid(n) for n in range(3)]
        for uuid in self.uuids:
            self.add(uuid)
        self.now = NOW
        self.asked = []

    def add(self, uuid, **fields):
        row = turntaking.action(uuid, **fields)
        self.execute(
            sa.insert(models.Action).values(
                {**row, 'action_plan_id': self.plan.id}
            )
        )

    def execute(self, statement):
        with enginefacade.writer.using(context.make_context()) as session:
            return session.execute(statement)

    def update(self, model, uuid, **values):
        self.execute(
            sa.update(model).where(model.uuid == uuid).values(**values)
        )

    def slots(self, number, **more):
        return slots.Slots(self.uuids[number], clock=lambda: self.now, **more)

    def seen(self, number=2, **more):
        """The others that a move is shown; it takes no turn."""
        others = []

        def decide(told):
            others.extend(told)
            return 'no'

        self.assertEqual('no', self.slots(number, **more).take(decide))
        return others

    def held(self, number=2, **more):
        """Which moves hold a claim, and whether they still do."""
        return [
            (self.uuids.index(claim.action), claim.is_held)
            for claim in self.seen(number, **more)
            if not claim.is_ahead
        ]

    def take(self, number, **more):
        self.assertEqual('', self.slots(number, **more).take(lambda told: ''))

    def parameters(self, number):
        return objects.Action.get_by_uuid(
            context.make_context(), self.uuids[number]
        ).input_parameters


class TestTurns(TurnsTestCase):
    def test_a_claim_tells_the_whole_move(self):
        self.take(0)
        told = self.parameters(0)
        [claim] = self.seen()
        self.assertEqual(
            slots.Slot(
                action=self.uuids[0],
                plan=self.plan.uuid,
                scope='alpha',
                instance=told['resource_id'],
                source='h1',
                destination='h2',
                since=NOW,
                is_held=True,
                is_own_plan=True,
            ),
            claim,
        )
        self.assertEqual({'at': NOW, 'held': True}, told['turn'])

    def test_nobody_is_shown_their_own_claim(self):
        self.take(0)
        self.assertEqual([], self.held(0))

    def test_those_before_it_in_the_plan_that_wait(self):
        """In the order of their rows, from when a worker has them."""
        for number in (1, 0, 2):
            self.slots(number).enter()
        for number in range(3):
            others = self.slots(number).look()
            ahead = [one for one in others if one.is_ahead]
            self.assertEqual(
                self.uuids[:number], [one.action for one in ahead]
            )

    def test_who_has_to_wait_holds_nothing(self):
        self.assertEqual([], self.held(1))
        self.assertEqual([], self.held(2))
        self.assertNotIn('turn', self.parameters(1))

    def test_others_come_in_the_order_of_their_turns(self):
        self.take(1)
        self.now -= 5
        self.take(0)
        self.assertEqual([(0, True), (1, True)], self.held())

    def test_released(self):
        """It is told for a while, for the stagger, then no more."""
        self.take(0)
        self.slots(0).release()
        self.assertEqual([], self.held())
        self.now += 10
        self.assertEqual([(0, False)], self.held(recent=11))
        self.assertEqual([], self.held(recent=10))

    def test_another_turn_is_another_time(self):
        self.take(0)
        self.slots(0).release()
        self.now += 60
        self.take(0)
        [claim] = self.seen()
        self.assertEqual((NOW + 60, True), (claim.since, claim.is_held))

    def test_released_without_a_claim(self):
        before = self.parameters(0)
        self.slots(0).release()
        self.assertEqual(before, self.parameters(0))

    def test_over(self):
        """However its action ended, and though it was not released."""
        self.take(0)
        for state in ('SUCCEEDED', 'FAILED', 'SKIPPED'):
            self.update(models.Action, self.uuids[0], state=state)
            self.assertEqual([], self.held(), state)
            self.assertEqual([(0, False)], self.held(recent=1), state)
        self.update(models.Action, self.uuids[0], state='ONGOING')
        self.assertEqual([(0, True)], self.held())

    def test_its_plan_is_over(self):
        """Watcher gave it up, say because its applier died."""
        self.take(0)
        self.update(models.ActionPlan, self.plan.uuid, state='CANCELLING')
        self.assertEqual([(0, True)], self.held())
        other = utils.create_test_action_plan(
            id=99,
            uuid=turntaking.move_uuid(99),
            audit_id=self.plan.audit_id,
            strategy_id=self.plan.strategy_id,
            state='CANCELLED',
        )
        self.update(models.Action, self.uuids[0], action_plan_id=other.id)
        self.assertEqual([], self.held())
        self.now = other.created_at.timestamp()
        self.update(models.ActionPlan, other.uuid, state='CANCELLED')
        for age, is_held in ((0.0, True), (slots.GIVEN_UP_SECONDS + 1, False)):
            mark = {'at': self.now - age, 'held': True}
            turn = {**self.parameters(0), 'turn': mark}
            self.update(models.Action, self.uuids[0], input_parameters=turn)
            self.assertEqual([(0, is_held)], self.held(recent=60))

    def test_too_old_to_be_believed(self):
        self.take(0)
        self.now += 100
        self.assertEqual([(0, True)], self.held(max_age=100))
        self.assertEqual([], self.held(max_age=99))

    def test_who_was_given_up_gets_no_turn(self):
        for model, uuid, before in (
            (models.Action, self.uuids[0], 'PENDING'),
            (models.ActionPlan, self.plan.uuid, 'ONGOING'),
        ):
            self.update(model, uuid, state='CANCELLED')
            error = self.assertRaises(
                exceptions.MigrationCancelled,
                self.slots(0).take,
                lambda told: '',
            )
            self.assertIn('CANCELLED', str(error))
            self.assertNotIn('turn', self.parameters(0))
            self.update(model, uuid, state=before)

    def test_rows_that_make_no_sense(self):
        whole = self.parameters(0)
        turn = {'at': NOW, 'held': True}
        for told in (
            {**whole, 'turn': 'mine'},
            {**whole, 'turn': {**turn, 'at': '12'}},
            {**whole, 'turn': {**turn, 'at': True}},
            {**whole, 'turn': {**turn, 'at': float('nan')}},
            {**whole, 'turn': {**turn, 'at': 10**400}},
            {**whole, 'turn': {**turn, 'held': 'yes'}},
            {**whole, 'turn': turn, 'aggregate': 7},
            {'turn': turn},
        ):
            self.update(models.Action, self.uuids[0], input_parameters=told)
            self.assertEqual([], self.held(), told)
        column = sa.type_coerce('{no json', sa.Text)
        self.update(models.Action, self.uuids[0], input_parameters=column)
        self.assertEqual([], self.held())
        self.update(
            models.Action,
            self.uuids[0],
            input_parameters={**whole, 'turn': turn},
        )
        self.assertEqual([(0, True)], self.held())

    def test_other_actions_are_none_of_ours(self):
        self.take(0)
        self.update(models.Action, self.uuids[0], action_type='migrate')
        self.assertEqual([], self.held())

    def test_what_watcher_writes_keeps_the_claim(self):
        """Objects save what has changed only."""
        row = objects.Action.get_by_uuid(
            context.make_context(), self.uuids[0], eager=True
        )
        self.take(0)
        row.state = 'ONGOING'
        row.save()
        self.assertEqual([(0, True)], self.held())

    def test_a_decision_that_fails_changes_nothing(self):
        def decide(told):
            raise ValueError('no')

        self.assertRaises(ValueError, self.slots(0).take, decide)
        self.assertEqual([], self.held())


class TestMarks(TurnsTestCase):
    """What an action tells of its move, for whoever finishes it."""

    def test_the_database_keeps_it(self):
        self.take(0)
        self.slots(0).mark('cell_move', {'at': NOW, 'known': ['a']})
        told = {'at': NOW, 'known': ['a']}
        self.assertEqual(told, self.parameters(0)['cell_move'])
        self.assertEqual(
            told, self.slots(1).mark_of('cell_move', self.uuids[0])
        )
        self.assertEqual([(0, True)], self.held())

    def test_what_watcher_writes_keeps_it(self):
        row = objects.Action.get_by_uuid(
            context.make_context(), self.uuids[0], eager=True
        )
        self.slots(0).mark('cell_move', {'at': NOW})
        row.state = 'ONGOING'
        row.save()
        self.assertEqual({'at': NOW}, self.slots(0).mark_of('cell_move'))


class TestDeliveredTwice(TurnsTestCase):
    """One of two deliveries of a plan carries its moves out."""

    def enter(self, **more):
        return self.slots(0, **more).enter()

    def test_the_first_one_does(self):
        first = self.slots(0)
        self.assertEqual(slots.DeliveryState.FREE, first.enter())
        self.assertEqual(slots.DeliveryState.TAKEN, self.enter())
        self.assertEqual(slots.DeliveryState.FREE, first.enter())

    def test_also_between_two_tries(self):
        first = self.slots(0)
        first.enter()
        first.take(lambda told: '')
        first.release()
        self.assertEqual(slots.DeliveryState.TAKEN, self.enter())
        self.assertEqual([(0, False)], self.held(recent=60))

    def test_when_it_is_over(self):
        self.enter()
        for state in ('SUCCEEDED', 'FAILED', 'SKIPPED'):
            self.update(models.Action, self.uuids[0], state=state)
            self.assertEqual(slots.DeliveryState.OVER, self.enter())

    def test_when_it_was_cancelled(self):
        self.enter()
        self.update(models.Action, self.uuids[0], state='CANCELLED')
        self.assertRaises(exceptions.MigrationCancelled, self.enter)

    def test_one_that_is_not_heard_of_any_more(self):
        """Its applier is dead, and Watcher takes the other one for it."""
        first = self.slots(0)
        first.enter()
        self.now += 100
        first.take(lambda told: '')
        self.now += 100
        self.assertEqual(slots.DeliveryState.TAKEN, self.enter(max_age=100))
        self.assertEqual(slots.DeliveryState.FREE, self.enter(max_age=99))

    def test_one_that_waits_is_heard_of(self):
        first = self.slots(0, max_age=100)
        first.enter()
        for _ in range(5):
            self.now += 60
            first.renew()
            self.assertEqual(
                slots.DeliveryState.TAKEN, self.enter(max_age=100)
            )

    def test_one_that_was_replaced_gets_no_turn(self):
        """Such as one whose machine stood still meanwhile."""
        first, second = (self.slots(0, max_age=100) for _ in range(2))
        first.enter()
        self.now += 101
        self.assertEqual(slots.DeliveryState.FREE, second.enter())
        self.assertRaises(slots.Replaced, first.take, lambda told: '')
        self.assertRaises(slots.Replaced, first.renew)
        self.assertEqual([], self.held())
        second.take(lambda told: '')
        first.release()
        self.assertEqual([(0, True)], self.held())

    def test_marks_that_make_no_sense(self):
        whole = self.parameters(0)
        for carrier in ('me', {}, {'by': 'me'}, {'by': 'me', 'at': 'now'}):
            told = {**whole, 'carrier': carrier}
            self.update(models.Action, self.uuids[0], input_parameters=told)
            self.assertEqual(slots.DeliveryState.FREE, self.enter(), carrier)

    def test_all_else_stays(self):
        before = self.parameters(0)
        self.enter()
        now = self.parameters(0)
        self.assertEqual(NOW, now.pop('carrier')['at'])
        self.assertEqual(before, now)


class TestTheRow(TurnsTestCase):
    """The row that all appliers queue up for."""

    def row(self):
        return objects.ActionDescription.get_by_type(
            context.make_context(), watcher_actions.ACTION_TYPE
        )

    def test_it_changes_with_every_turn(self):
        """Within a second too; else the nodes of a Galera do not collide."""
        found = []
        for _ in range(5):
            self.take(0)
            found.append(self.row().updated_at)
        for one, other in zip(found, found[1:], strict=False):
            self.assertNotEqual(one, other)

    def test_its_text_stays(self):
        self.take(0)
        self.assertEqual('as Watcher has it', self.row().description)

    def test_it_was_deleted(self):
        """It is written anew, by whoever needs it first."""
        self.execute(sa.delete(models.ActionDescription))
        self.take(0)
        self.assertEqual([(0, True)], self.held())
        self.assertEqual(watcher_actions.ACTION_TYPE, self.row().action_type)

    def test_the_lock_is_the_first_word(self):
        """Else MySQL would show what was there before the wait."""
        said = []
        engine = enginefacade.writer.get_engine()

        def note(link, cursor, statement, *more):
            said.append(' '.join(statement.split()))

        sa.event.listen(engine, 'before_cursor_execute', note)
        self.addCleanup(sa.event.remove, engine, 'before_cursor_execute', note)
        self.take(0)
        said = [one for one in said if one != 'BEGIN']
        self.assertTrue(
            said[0].startswith('UPDATE action_descriptions SET'), said[0]
        )


class TestDatabaseAway(TurnsTestCase):
    def test_the_class_of_the_error_and_no_more(self):
        """Its text has the statement, or the address with the password."""
        self.execute(sa.text('DROP TABLE action_descriptions'))
        error = self.assertRaises(
            exceptions.TurnUnknown, self.slots(0).take, lambda told: ''
        )
        self.assertIsInstance(error.__cause__, db_exc.DBError)
        self.assertTrue(
            str(error).endswith(type(error.__cause__).__name__), str(error)
        )
        self.assertTrue(error.kwargs['transient'])

    def test_release_only_warns(self):
        log = self.useFixture(fixtures.FakeLogger())
        self.take(0)
        self.execute(sa.text('DROP TABLE action_descriptions'))
        self.slots(0).release()
        self.assertIn(self.uuids[0], log.output)

    def test_an_unknown_action(self):
        self.uuids[0] = turntaking.move_uuid(77)
        error = self.assertRaises(
            exceptions.TurnUnknown, self.slots(0).take, lambda told: ''
        )
        self.assertIn(self.uuids[0], str(error))


class TestManyAppliers(base.BaseTestCase):
    def test_never_more_than_allowed(self):
        """Processes that share a database, and nothing else."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        seen = turntaking.run(
            # A busy machine: who waits for the file is not let down.
            f'sqlite:///{folder}/watcher.db?timeout=600',
            folder / 'witness',
            moves=4,
            rounds=25,
        )
        self.assertEqual(turntaking.AT_MOST, seen.most, seen)
        self.assertEqual({25}, set(seen.granted.values()), seen)
        self.assertEqual(4, len(seen.granted))
        self.assertGreater(seen.asked, seen.granted.total())
