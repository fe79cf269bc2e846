# SPDX-License-Identifier: Apache-2.0
"""Does the action speak Watcher's language?"""

import contextlib
import logging
import time
import traceback

import fixtures
import jsonschema
import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from watcher import conf, objects
from watcher.applier.loading import default
from watcher.common import exception

from kronos.actions.core import watcher_action
from kronos.common import exceptions
from tests.watcher_tests import db_base as base
from tests.watcher_tests import object_utils as utils

CONF = conf.CONF
UUID = '11111111-1111-1111-1111-111111111111'
OTHER = '22222222-2222-2222-2222-222222222222'
PARAMETERS = {
    'resource_id': UUID,
    'resource_name': 'one',
    'aggregate': '_unassigned_',
    'phase': 'spread',
    'requires': OTHER,
    'sequence': 1,
    'source_node': 'h1',
    'destination_node': 'h2',
    'imbalance': 'cpu 0.6 -> 0.4',
    'combined_imbalance': '0.6 -> 0.4',
}


class LiveMigrateTestCase(base.DbTestCase):
    def setUp(self):
        super().setUp()
        self.action = default.DefaultActionLoader().load('kronos_live_migrate')
        self.action.input_parameters = dict(PARAMETERS)
        del self.action.input_parameters['requires']

    def test_schema_takes_what_the_strategy_gives(self):
        self.assertTrue(self.action.validate_parameters())

    def test_schema_refuses(self):
        for name, value in (
            ('resource_id', 'one'),
            ('phase', 'guess'),
            ('source_node', ''),
            ('destination_node', None),
        ):
            self.action.input_parameters = {**PARAMETERS, name: value}
            self.assertRaises(
                jsonschema.ValidationError, self.action.validate_parameters
            )

    def test_schema_needs(self):
        for name in ('resource_id', 'aggregate', 'phase', 'source_node'):
            self.action.input_parameters = dict(PARAMETERS)
            del self.action.input_parameters[name]
            self.assertRaises(
                jsonschema.ValidationError, self.action.validate_parameters
            )

    def test_description_fits_its_column(self):
        self.assertLess(len(self.action.get_description()), 255)

    def test_reason_names_the_error_type_and_fits(self):
        told = watcher_action.for_watcher(
            exceptions.MigrationTimeout('too\nslow ' + 'x' * 300)
        )
        text = str(told)
        self.assertTrue(
            text.startswith('KRONOS:MigrationTimeout: [too_slow] too slow')
        )
        self.assertEqual(210, len(text))

    def test_nothing_after_a_failed_pre_condition(self):
        self.assertIsNone(self.action.post_condition())
        self.assertIsNone(self.action.revert())

    def make_plan(self, state):
        goal = utils.create_test_goal(self.context)
        strategy = utils.create_test_strategy(self.context, goal_id=goal.id)
        audit = utils.create_test_audit(
            self.context, goal_id=goal.id, strategy_id=strategy.id
        )
        plan = utils.create_test_action_plan(
            self.context,
            state=state,
            audit_id=audit.id,
            strategy_id=strategy.id,
        )
        self.action.input_parameters['action_plan_uuid'] = plan.uuid
        return plan

    def test_follows_the_state_of_its_plan(self):
        plan = self.make_plan('ONGOING')
        self.assertFalse(self.action._is_cancelled())
        plan.state = 'CANCELLING'
        self.dbapi.update_action_plan(plan.uuid, {'state': 'CANCELLING'})
        self.assertTrue(self.action._is_cancelled())

    def test_goes_on_while_the_database_is_away(self):
        self.action.input_parameters['action_plan_uuid'] = UUID
        self.assertFalse(self.action._is_cancelled())

    def test_database_that_is_away_is_logged_once(self):
        """In one line each time, however often it is asked."""
        self.make_plan('ONGOING')
        row = utils.create_test_action(self.context)
        self.action.input_parameters['action_uuid'] = row.uuid
        log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        for _ in range(2):
            with self.dbapi_away():
                for number in range(20):
                    self.action._tell(f'waits: {number}')
            self.action._tell('goes on')
        lines = log.output.splitlines()
        self.assertEqual(4, len(lines), log.output)
        for line in lines[::2]:
            self.assertIn(
                f"Action {row.uuid}: Watcher's database does not show its "
                'state (DBNonExistentTable); the action continues',
                line,
            )
        self.assertEqual('KRONOS: goes on', self.message(row))

    def test_what_led_to_a_failure_is_not_logged_with_it(self):
        """Watcher logs each failure with its traceback."""
        self.make_other_half('SUCCEEDED')
        with self.dbapi_away():
            error = self.assertRaises(
                exception.WatcherException, self.action.pre_condition
            )
        text = ''.join(traceback.format_exception(error))
        self.assertNotIn('sqlalchemy', text)
        self.assertNotIn('SELECT', text)
        self.assertLess(len(text.splitlines()), 20)

    def test_watcher_may_not_kill_it(self):
        """What Watcher 15 does to a running action that says yes."""
        self.assertFalse(self.action.check_abort())

    def test_an_abort_ends_the_wait(self):
        self.assertFalse(self.action._is_cancelled())
        self.action.abort()
        self.assertTrue(self.action._is_cancelled())

    def test_a_remark_that_cannot_be_written_fails_nothing(self):
        self.action.input_parameters['action_uuid'] = UUID
        self.action._tell('completed instead of cancelled')

    def test_a_remark(self):
        self.make_plan('ONGOING')
        row = utils.create_test_action(self.context)
        self.action.input_parameters['action_uuid'] = row.uuid
        self.action._tell('completed instead of cancelled')
        self.assertEqual(
            'KRONOS: completed instead of cancelled',
            objects.Action.get_by_uuid(self.context, row.uuid).status_message,
        )

    def test_waiting_is_told_and_taken_away(self):
        self.make_plan('ONGOING')
        row = utils.create_test_action(self.context)
        self.action.input_parameters['action_uuid'] = row.uuid
        clock = self.useFixture(
            fixtures.MockPatch('time.monotonic', return_value=1000.0)
        ).mock
        told = []
        for now in (1000.0, 1030.0, 1061.0, 1150.0):
            clock.return_value = now
            self.action._tell('waits: for its turn')
            told.append(self.message(row))
        self.assertEqual(
            [
                'KRONOS: waits: for its turn',
                'KRONOS: waits: for its turn',
                'KRONOS: waits: for its turn (for 1 min)',
                'KRONOS: waits: for its turn (for 2 min)',
            ],
            told,
        )
        self.action._tell('')
        self.assertIsNone(self.message(row))

    def message(self, row):
        found = objects.Action.get_by_uuid(self.context, row.uuid)
        return found.status_message

    def make_other_half(self, state):
        plan = self.make_plan('ONGOING')
        utils.create_test_action(
            self.context,
            action_plan_id=plan.id,
            state=state,
            input_parameters={'resource_id': OTHER},
        )
        self.action.input_parameters['requires'] = OTHER

    def test_half_of_a_swap_is_skipped_without_the_other(self):
        self.make_other_half('FAILED')
        error = self.assertRaises(
            exception.ActionSkipped, self.action.pre_condition
        )
        self.assertIn(f'the move of {OTHER}, is FAILED', str(error))

    def test_half_of_a_swap_whose_other_is_not_there(self):
        self.make_other_half('SUCCEEDED')
        self.action.input_parameters['requires'] = UUID
        error = self.assertRaises(
            exception.ActionSkipped, self.action.pre_condition
        )
        self.assertIn('not in its plan', str(error))

    def test_half_of_a_swap_while_the_database_is_away(self):
        """It says nothing of the instance."""
        self.make_other_half('SUCCEEDED')
        with self.dbapi_away():
            error = self.assertRaises(
                exception.WatcherException, self.action.pre_condition
            )
        self.assertIn('KRONOS:TurnUnknown: ', str(error))

    @contextlib.contextmanager
    def dbapi_away(self):
        """Its table is gone for a while."""
        engine = enginefacade.writer.get_engine()
        with engine.begin() as connection:
            connection.execute(sa.text('ALTER TABLE actions RENAME TO away'))
        try:
            yield
        finally:
            with engine.begin() as connection:
                connection.execute(
                    sa.text('ALTER TABLE away RENAME TO actions')
                )

    def test_half_of_a_swap_goes_on_after_the_other(self):
        self.make_other_half('SUCCEEDED')
        self.action._check_other_half()

    def test_without_keystone_it_fails_with_a_reason(self):
        """Tried again as long as it may be, and told meanwhile."""
        plan = self.make_plan('ONGOING')
        row = utils.create_test_action(self.context, action_plan_id=plan.id)
        self.action.input_parameters['action_uuid'] = row.uuid
        CONF.set_override('retry_backoff', 0.01, 'kronos')
        self.addCleanup(CONF.clear_override, 'retry_backoff', 'kronos')
        slept, told = [], []

        def note(seconds):
            slept.append(round(seconds, 2))
            told.append(self.message(row))
            time.sleep(seconds)

        self.action._wait = note
        error = self.assertRaises(
            exception.WatcherException, self.action.pre_condition
        )
        self.assertIn(
            'KRONOS:NovaClientError: [nova_error] Nova: Keystone', str(error)
        )
        self.assertEqual([0.01, 0.02, 0.04], slept)
        self.assertIn('KRONOS: tries again in 0.01 s: Nova: Keyst', told[0])
