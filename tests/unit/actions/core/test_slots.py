# SPDX-License-Identifier: Apache-2.0
"""Does a move get its slot, and only while it is its own?

One database in memory, and nobody else; tests/functional/watcher has the
others.
"""

import json

import fixtures
import sqlalchemy as sa
from oslotest import base
from sqlalchemy import orm
from watcher import objects
from watcher.db.sqlalchemy import models

from kronos.actions.core import slots
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.cells.cell_drain import CELL_MOVE
from kronos.snapshots import watcher_actions
from kronos.watcher_db import lock, marks

NOW = 1763752294.5
TOLD = {
    'aggregate': 'alpha',
    'resource_id': 'server',
    'source_node': 'cmp1',
    'destination_node': 'cmp2',
}


class SlotsTestCase(base.BaseTestCase):
    """A plan that goes on, with the moves ``own`` and ``other``."""

    def setUp(self):
        super().setUp()
        objects.register_all()
        engine = sa.create_engine('sqlite://')
        self.addCleanup(engine.dispose)
        tables = [models.ActionPlan.__table__, models.Action.__table__]
        models.Base.metadata.create_all(engine, tables=tables)
        self.session = orm.Session(engine)
        self.addCleanup(self.session.close)
        self.execute(
            sa.insert(models.ActionPlan).values(
                id=1,
                uuid='plan',
                audit_id=1,
                strategy_id=1,
                state='ONGOING',
            )
        )
        for uuid in ('own', 'other'):
            self.execute(
                sa.insert(models.Action).values(
                    uuid=uuid,
                    action_plan_id=1,
                    action_type=watcher_actions.ACTION_TYPE,
                    input_parameters=TOLD,
                    state='PENDING',
                )
            )
        self.fails = None
        self.marked = 0
        self.useFixture(
            fixtures.MockPatchObject(lock, 'exclusively', self.exclusively)
        )
        self.useFixture(fixtures.MockPatchObject(lock, 'mark', self.mark))
        self.now = NOW

    def execute(self, statement):
        return self.session.execute(statement)

    def exclusively(self, work):
        if self.fails:
            raise self.fails
        return work(self.session)

    def mark(self, session):
        self.marked += 1

    def slots(self, uuid='own', **more):
        return slots.Slots(uuid, clock=lambda: self.now, **more)

    def told(self, uuid):
        text = self.execute(
            sa.select(sa.cast(models.Action.input_parameters, sa.Text)).where(
                models.Action.uuid == uuid
            )
        ).scalar()
        return json.loads(text)

    def update(self, uuid, **values):
        self.execute(
            sa.update(models.Action)
            .where(models.Action.uuid == uuid)
            .values(**values)
        )

    def seen(self, **more):
        """What ``own`` is told of the others."""
        found = []
        self.slots(**more).take(lambda others: found.extend(others) or 'no')
        return found


class TestTake(SlotsTestCase):
    def test_held_and_given_back(self):
        own = self.slots()
        self.assertEqual('', own.take(lambda others: ''))
        self.assertEqual(
            {'at': NOW, 'held': True}, self.told('own')[marks.TURN]
        )
        self.assertEqual(1, self.marked)
        own.release()
        self.assertFalse(self.told('own')[marks.TURN]['held'])

    def test_what_stands_against_it(self):
        """Nothing is written then."""
        self.assertEqual('no', self.slots().take(lambda others: 'no'))
        self.assertEqual(TOLD, self.told('own'))

    def test_the_other_one(self):
        self.slots('other').take(lambda others: '')
        [one] = self.seen()
        self.assertEqual(
            slots.Slot(
                'other',
                'plan',
                'alpha',
                'server',
                'cmp1',
                'cmp2',
                NOW,
                True,
                is_own_plan=True,
            ),
            one,
        )

    def test_one_whose_turn_is_over(self):
        """It is told for as long as it counts for the next start."""
        other = self.slots('other')
        other.take(lambda others: '')
        other.release()
        self.assertEqual([], self.seen())
        self.now += 30
        [one] = self.seen(recent=60.0)
        self.assertFalse(one.is_held)
        self.now += 60
        self.assertEqual([], self.seen(recent=60.0))

    def test_one_that_is_too_old(self):
        """Its applier is dead."""
        self.slots('other').take(lambda others: '')
        self.now += 7201
        self.assertEqual([], self.seen(max_age=7200.0))

    def test_one_whose_row_makes_no_sense(self):
        for told in (
            {**TOLD, marks.TURN: {'at': 'soon', 'held': True}},
            {**TOLD, marks.TURN: [NOW, True]},
            {marks.TURN: {'at': NOW, 'held': True}},
        ):
            self.update('other', input_parameters=told)
            self.assertEqual([], self.seen())

    def test_one_that_watcher_has_given_up(self):
        self.slots('other').take(lambda others: '')
        self.update('other', state='CANCELLED')
        self.now += slots.GIVEN_UP_SECONDS + 1
        self.assertEqual([], self.seen())

    def test_one_that_watcher_has_just_given_up(self):
        """Who carries it out may be about to ask Nova."""
        self.slots('other').take(lambda others: '')
        self.update('other', state='CANCELLED')
        [slot] = self.seen()
        self.assertTrue(slot.is_held)

    def test_watcher_has_given_this_one_up(self):
        self.update('own', state='CANCELLED')
        error = self.assertRaises(
            exceptions.MigrationCancelled,
            self.slots().take,
            lambda others: '',
        )
        self.assertIs(Fault.GIVEN_UP, faults.of_error(error))
        self.assertIn('action own is CANCELLED', str(error))


class TestAhead(SlotsTestCase):
    """Those of the plan that wait, and whose rows come before."""

    def ahead(self, uuid='other', **more):
        found = []
        own = self.slots(uuid, **more)
        own.take(lambda others: found.extend(others) or 'no')
        self.assertEqual(found, own.look())
        return [one.action for one in found if one.is_ahead]

    def test_only_while_it_waits(self):
        """Not before a worker has it, nor once it had its turn."""
        self.assertEqual([], self.ahead())
        own = self.slots('own')
        own.enter()
        self.assertEqual(['own'], self.ahead())
        own.take(lambda others: '')
        self.assertEqual([], self.ahead())
        own.release()
        self.assertEqual([], self.ahead())

    def test_nobody_is_behind_those_who_come_later(self):
        self.slots('other').enter()
        self.assertEqual([], self.ahead('own'))

    def test_one_whose_carrier_is_dead(self):
        self.slots('own', max_age=1000.0).enter()
        self.now += 200
        self.assertEqual(['own'], self.ahead(max_age=1000.0))
        self.now += 1
        self.assertEqual([], self.ahead(max_age=1000.0))

    def test_one_of_another_plan(self):
        self.slots('own').enter()
        self.execute(
            sa.insert(models.ActionPlan).values(
                id=2,
                uuid='second',
                audit_id=1,
                strategy_id=1,
                state='ONGOING',
            )
        )
        self.update('other', action_plan_id=2)
        self.assertEqual([], self.ahead())

    def test_one_that_watcher_has_given_up(self):
        self.slots('own').enter()
        self.update('own', state='CANCELLED')
        self.assertEqual([], self.ahead())


class TestCells(SlotsTestCase):
    """Moves between cells have turns among the others."""

    def setUp(self):
        super().setUp()
        self.update(
            'other',
            action_type=CELL_MOVE,
            input_parameters={**TOLD, 'source_cell': 'old'},
        )

    def test_the_cell_that_one_leaves(self):
        self.slots('other').take(lambda others: '')
        [one] = self.seen()
        self.assertEqual('old', one.cell)

    def test_a_cell_that_makes_no_sense(self):
        self.update('other', input_parameters={**TOLD, 'source_cell': 7})
        self.slots('other').take(lambda others: '')
        [one] = self.seen()
        self.assertEqual('', one.cell)


class TestMarks(SlotsTestCase):
    def write(self, value, uuid='own', **more):
        self.slots(uuid).mark('cell_move', value, **more)

    def mark_of(self, *given):
        return self.slots().mark_of('cell_move', *given)

    def test_there_and_back(self):
        self.write({'at': 5.0, 'known': ['a']})
        self.assertEqual({'at': 5.0, 'known': ['a']}, self.mark_of())
        self.write({'at': 6.0})
        self.assertEqual({'at': 6.0}, self.mark_of())

    def test_all_else_stays(self):
        self.slots().take(lambda others: '')
        before = self.told('own')
        self.write({'at': 5.0})
        self.assertEqual(
            {**before, 'cell_move': {'at': 5.0}}, self.told('own')
        )
        self.slots().release()
        self.assertEqual({'at': 5.0}, self.mark_of())

    def test_of_another_action(self):
        self.write({'at': 7.0}, 'other')
        self.assertEqual({'at': 7.0}, self.mark_of('other'))
        self.assertEqual({}, self.mark_of())

    def test_none(self):
        self.assertEqual({}, self.mark_of())
        self.assertEqual({}, self.mark_of('gone'))

    def test_one_that_makes_no_sense(self):
        for told in ({**TOLD, 'cell_move': 'x'}, {**TOLD, 'cell_move': [1]}):
            self.update('own', input_parameters=told)
            self.assertEqual({}, self.mark_of())

    def test_watcher_has_given_the_move_up(self):
        """Nobody begins one then; one that goes on is still marked."""
        for model, uuid in (('action', 'own'), ('plan', 'plan')):
            if model == 'action':
                self.update(uuid, state='CANCELLED')
            else:
                self.update('own', state='ONGOING')
                self.execute(
                    sa.update(models.ActionPlan).values(state='CANCELLED')
                )
            self.assertRaises(
                exceptions.MigrationCancelled, self.write, {'at': 8.0}
            )
            self.assertEqual({}, self.mark_of())
        self.write({'at': 9.0}, must_go_on=False)
        self.assertEqual({'at': 9.0}, self.mark_of())

    def test_another_delivery_is_at_it(self):
        first, second = self.slots(), self.slots()
        first.enter()
        self.now += 7201
        second.enter()
        self.assertRaises(slots.Replaced, first.mark, 'cell_move', {'at': 1.0})
        second.mark('cell_move', {'at': 2.0})
        self.assertEqual({'at': 2.0}, self.mark_of())

    def test_the_database_is_away(self):
        self.fails = lock.RowMissing('secret')
        for do in (lambda: self.write({}), self.mark_of):
            error = self.assertRaises(exceptions.TurnUnknown, do)
            self.assertTrue(error.kwargs['transient'])
            self.assertNotIn('secret', str(error))


class TestDeliveries(SlotsTestCase):
    def test_the_first_and_the_second(self):
        first, second = self.slots(), self.slots()
        self.assertIs(slots.DeliveryState.FREE, first.enter())
        self.assertIs(slots.DeliveryState.TAKEN, second.enter())
        self.update('own', state='SUCCEEDED')
        self.assertIs(slots.DeliveryState.OVER, second.enter())

    def test_one_that_says_nothing_for_long(self):
        """The second takes it for dead, and the first then knows."""
        first, second = self.slots(), self.slots()
        first.enter()
        self.now += 7201
        self.assertIs(slots.DeliveryState.FREE, second.enter())
        self.assertRaises(slots.Replaced, first.take, lambda others: '')
        self.assertRaises(slots.Replaced, first.renew)
        second.take(lambda others: '')
        first.release()
        self.assertTrue(self.told('own')[marks.TURN]['held'])

    def test_one_that_waits_and_says_so(self):
        """Ten times within the age at which it would be taken for dead."""
        first, second = self.slots(), self.slots()
        first.enter()
        for _ in range(20):
            self.now += 7200.0 / slots.RENEWALS
            first.renew()
        self.assertIs(slots.DeliveryState.TAKEN, second.enter())
        written = self.marked
        first.renew()
        self.assertEqual(written, self.marked)


class TestDatabase(SlotsTestCase):
    def test_one_that_fails(self):
        """Its text is not repeated: it may have values of the statement."""
        self.fails = lock.RowMissing('secret')
        error = self.assertRaises(
            exceptions.KronosException, self.slots().take, lambda others: ''
        )
        self.assertIs(Fault.WATCHER_ERROR, faults.of_error(error))
        self.assertIn('RowMissing', str(error))
        self.assertNotIn('secret', str(error))

    def test_a_slot_that_cannot_be_given_back(self):
        """It is logged: the move is over all the same."""
        log = self.useFixture(fixtures.FakeLogger())
        self.fails = lock.RowMissing()
        self.slots().release()
        self.assertIn('The slot of action own', log.output)

    def test_an_action_that_is_not_there(self):
        error = self.assertRaises(
            exceptions.KronosException, self.slots('gone').enter
        )
        self.assertIn('action gone has no input parameters', str(error))
        self.assertFalse(error.kwargs.get('transient'))
