# SPDX-License-Identifier: Apache-2.0
"""What an upgrade comes upon, from the rows of Watcher's database."""

import datetime

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
from watcher.applier.loading import default

from kronos.watcher_db import marks, work_in_hand
from tests import pipeline_plans
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State, uuid
from tests.watcher_tests import db_utils as utils

LATER = datetime.timedelta(hours=2)
MOVE = {
    'aggregate': 'alpha',
    'resource_id': uuid(1),
    'source_node': 'h1',
    'destination_node': 'h2',
    'phase': 'spread',
}


class WorkTestCase(test_history.HistoryTestCase):
    def read(self, function, *arguments):
        with work_in_hand.reading() as session:
            return function(session, *arguments)

    def execute(self, statement, **values):
        with enginefacade.writer.using(self.context) as session:
            session.execute(sa.text(statement), values)


class TestPlans(WorkTestCase):
    def found(self):
        return [
            (plan['uuid'], plan['state'])
            for plan in self.read(work_in_hand.plans)
        ]

    def test_by_states(self):
        for state in (
            'PENDING',
            'ONGOING',
            'CANCELLING',
            'RECOMMENDED',
            'SUCCEEDED',
            'CANCELLED',
        ):
            self.plan(state, (State.PENDING, {}), (State.PENDING, {}))
        self.assertEqual(
            [
                (uuid(101), 'PENDING'),
                (uuid(102), 'ONGOING'),
                (uuid(103), 'CANCELLING'),
            ],
            self.found(),
        )

    def test_what_an_applier_has_just_been_told(self):
        """For as long as it may have found no time to say so."""
        for trigger in (True, False):
            self.plan('RECOMMENDED', (State.PENDING, {}), auto_trigger=trigger)
        self.assertEqual([(uuid(101), 'RECOMMENDED')], self.found())
        self.execute(
            'UPDATE action_plans SET created_at = :at',
            at=timeutils.utcnow() - LATER,
        )
        self.assertEqual([], self.found())

    def test_who_carries_it_out(self):
        self.plan('ONGOING', (State.ONGOING, {}))
        self.execute("UPDATE action_plans SET hostname = 'ctl1'")
        [plan] = self.read(work_in_hand.plans)
        self.assertEqual('ctl1', plan['host'])

    def test_a_plan_of_a_pipeline(self):
        """It has no audit."""
        plans = self.useFixture(pipeline_plans.PipelinePlans())
        self.plan('ONGOING', (State.ONGOING, {}))
        plans.cut_loose(1, hostname='ctl1')
        [plan] = self.read(work_in_hand.plans)
        self.assertEqual('ctl1', plan['host'])

    def test_those_of_others(self):
        self.plan('ONGOING', (State.ONGOING, {'action_type': 'nop'}))
        self.assertEqual([], self.found())


class TestServices(WorkTestCase):
    def test_each_is_there(self):
        now = timeutils.utcnow()
        for number, (name, host, seen) in enumerate(
            (
                ('watcher-applier', 'ctl2', now - LATER),
                ('watcher-applier', 'ctl1', now),
                ('watcher-decision-engine', 'ctl1', None),
                ('watcher-api', 'ctl1', now),
            )
        ):
            utils.create_test_service(
                id=number + 1, name=name, host=host, last_seen_up=seen
            )
        self.assertEqual(
            [
                ('watcher-applier', 'ctl1', True),
                ('watcher-applier', 'ctl2', False),
                ('watcher-decision-engine', 'ctl1', False),
            ],
            [
                (service['name'], service['host'], service['up'])
                for service in self.read(work_in_hand.services, 90)
            ],
        )


class TestActions(WorkTestCase):
    """By the code that is here, as Watcher loads it."""

    def setUp(self):
        super().setUp()
        self.loader = default.DefaultActionLoader()

    def found(self):
        return self.read(work_in_hand.actions, self.loader)

    def why(self, **inputs):
        self.plan('PENDING', (State.PENDING, {'input_parameters': inputs}))
        [row] = self.found()['unreadable']
        self.assertEqual(
            (uuid(1010), 'kronos_live_migrate', uuid(101)),
            (row['uuid'], row['type'], row['plan']),
        )
        return row['why']

    def test_good_ones(self):
        marked = MOVE | dict.fromkeys(work_in_hand.MARKS, {'by': 'x'})
        self.assertEqual({marks.TURN, marks.CARRIER}, work_in_hand.MARKS)
        self.plan(
            'ONGOING',
            (State.PENDING, {'input_parameters': MOVE}),
            (State.ONGOING, {'input_parameters': marked}),
        )
        result = self.found()
        self.assertEqual((2, []), (result['waiting'], result['unreadable']))

    def test_a_value_that_is_not_known(self):
        self.assertIn(
            "'later' is not one of", self.why(**MOVE | {'phase': 'later'})
        )

    def test_a_parameter_that_is_not_known(self):
        """An applier would pass over it, whatever it asks for."""
        self.assertEqual(
            'it does not know by_day', self.why(**MOVE, by_day=True)
        )

    def test_one_that_lacks(self):
        inputs = {**MOVE}
        del inputs['resource_id']
        self.assertIn("'resource_id' is a required", self.why(**inputs))

    def test_a_row_that_is_no_document(self):
        """It does not hide the others."""
        self.plan(
            'PENDING',
            (State.PENDING, {'input_parameters': MOVE}),
            (State.PENDING, {'input_parameters': MOVE}),
        )
        self.execute("UPDATE actions SET input_parameters = '{' WHERE id = 10")
        result = self.found()
        self.assertEqual(2, result['waiting'])
        [row] = result['unreadable']
        self.assertEqual('its parameters are no JSON object', row['why'])

    def test_a_type_that_is_not_here(self):
        self.plan('PENDING', (State.PENDING, {'action_type': 'kronos_later'}))
        [row] = self.found()['unreadable']
        self.assertEqual('there is no such action here', row['why'])

    def test_what_nobody_will_carry_out(self):
        odd = {'action_type': 'kronos_later'}
        self.plan('PENDING', (State.SUCCEEDED, odd), (State.SKIPPED, odd))
        self.plan('CANCELLED', (State.PENDING, odd))
        self.plan('PENDING', (State.PENDING, {'action_type': 'later'}))
        result = self.found()
        self.assertEqual((0, []), (result['waiting'], result['unreadable']))

    def test_types_that_no_applier_has_had(self):
        before = self.found()['unannounced']
        self.assertIn('kronos_live_migrate', before)
        utils.create_test_action_desc(action_type='kronos_live_migrate')
        after = self.found()['unannounced']
        self.assertEqual({'kronos_live_migrate'}, {*before} - {*after})
