# SPDX-License-Identifier: Apache-2.0
"""Does the move to another cell speak Watcher's language?"""

import dataclasses
import json
import os
import pathlib

import fixtures
import jsonschema
import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from oslotest import base as oslotest_base
from watcher import conf, objects
from watcher.applier.loading import default
from watcher.common import context, exception

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.planning.propose import propose
from kronos.extensions.cells.actions.checkpoint import PlanStanding
from kronos.extensions.cells.audit.additions import CellAdditions
from kronos.extensions.cells.cell_drain import CELL_MOVE, needs_of
from kronos.snapshots import watcher_actions
from kronos.strategies.outcome import planned_actions
from tests.builders import cells
from tests.unit.extensions.cells.actions import base as moves
from tests.watcher_tests import db_base as base
from tests.watcher_tests import object_utils as utils

CONF = conf.CONF
UUID, OTHER = moves.UUID, moves.OTHER
PARAMETERS = {
    'resource_id': UUID,
    'resource_name': 'one',
    'aggregate': 'old -> new',
    'phase': 'cell_drain',
    'sequence': 1,
    'source_node': 'o1',
    'destination_node': 'n1',
    'mode': 'migrate',
    'source_cell': 'old',
    'destination_cell': 'new',
    'target_cells': ['new'],
    'source_flavor': 'small',
    'destination_flavor': 'small',
    'source_zone': 'az-old',
    'destination_zone': 'az-new',
    'unpin_zone': False,
    'confirm': 'auto',
}
MARK = {'at': 5.0, 'status': 'ACTIVE'}


def load():
    action = default.DefaultActionLoader().load('kronos_cross_cell_migrate')
    action.input_parameters = dict(PARAMETERS)
    return action


class TestSchema(oslotest_base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.action = load()

    def takes(self, told):
        self.action.input_parameters = told
        self.assertTrue(self.action.validate_parameters())

    def refuses(self, told, word):
        self.action.input_parameters = told
        error = self.assertRaises(
            jsonschema.ValidationError, self.action.validate_parameters
        )
        self.assertIn(word, str(error))

    def planned(self, snapshot, **drain):
        report = propose([snapshot], [cells.CPU], cells.settings(**drain))
        *_, one = planned_actions.of(
            report,
            [[] for _ in report.steps],
            range(len(report.steps)),
            CellAdditions(),
        )
        self.assertEqual(CELL_MOVE, one.action_type)
        uuids = ('action_uuid', 'action_plan_uuid', 'audit_uuid')
        return {
            'resource_id': one.resource,
            **one.parameters,
            **dict.fromkeys(uuids, OTHER),
        }

    def test_it_takes_what_the_planner_writes(self):
        self.takes(dict(PARAMETERS))
        servers = [cells.server(UUID)]
        self.takes(self.planned(cells.cells(servers)))
        told = self.planned(
            cells.cells(servers), flavor_map={'*': 'large'}, close_source=True
        )
        self.assertEqual('resize', told['mode'])
        self.takes(told)

    def test_it_takes_what_finishes_a_move(self):
        snapshot = cells.cells([])
        needs_of(snapshot).unfinished = [
            dataclasses.replace(cells.unfinished(UUID), action=OTHER)
        ]
        told = self.planned(snapshot)
        self.assertEqual(OTHER, told['finishes'])
        self.takes(told)

    def test_it_takes_what_is_added_later(self):
        marks = {'turn': {}, 'carrier': {}, 'cell_move': MARK}
        self.takes({**PARAMETERS, **marks, 'not_before': ''})

    def test_it_takes_what_a_newer_engine_writes(self):
        self.takes({**PARAMETERS, 'force': True})

    def test_it_needs(self):
        for name in self.action.schema['required']:
            told = {**PARAMETERS}
            del told[name]
            self.refuses(told, f"'{name}' is a required property")

    def test_it_refuses(self):
        for name, value in (
            ('resource_id', 'one'),
            ('finishes', 'two'),
            ('action_uuid', f'{UUID}0'),
            ('phase', 'spread'),
            ('mode', 'live'),
            ('confirm', 'never'),
            ('source_cell', ''),
            ('target_cells', []),
            ('target_cells', 'new'),
            ('unpin_zone', 'yes'),
            ('sequence', 0),
        ):
            self.refuses({**PARAMETERS, name: value}, f"['{name}']")

    def test_description_fits_its_column(self):
        self.assertLess(len(self.action.get_description()), 255)


class RowTestCase(moves.CellMoveTestCase, base.DbTestCase):
    """One action of a plan that goes on, with its row in a database."""

    def setUp(self):
        super().setUp()
        self.admin = context.make_context(is_admin=True)
        goal = utils.create_test_goal(self.admin)
        strategy = utils.create_test_strategy(self.admin, goal_id=goal.id)
        audit = utils.create_test_audit(
            self.admin, goal_id=goal.id, strategy_id=strategy.id
        )
        self.plans = [
            utils.create_test_action_plan(
                self.admin,
                id=number,
                uuid=f'{number:08d}{UUID[8:]}',
                state='ONGOING',
                audit_id=audit.id,
                strategy_id=strategy.id,
            )
            for number in (1, 2)
        ]
        self.numbers = iter(range(1, 99))
        self.row = self.add_row()
        self.action = load()
        self.action.input_parameters |= {
            'action_uuid': self.row.uuid,
            'action_plan_uuid': self.plans[0].uuid,
        }
        self.context = dataclasses.replace(
            self.context, tell=self.action._tell, keep=self.action._keep
        )
        self.action._own_run = self.run_of()

    def add_row(self, kind=CELL_MOVE, plan=0, **mark):
        """An action of a plan; Nova was asked, if it has a mark."""
        number = next(self.numbers)
        return utils.create_test_action(
            self.admin,
            id=number,
            uuid=f'{number:08d}{OTHER[8:]}',
            action_plan_id=self.plans[plan].id,
            action_type=kind,
            state='ONGOING',
            input_parameters={'cell_move': MARK | mark} if mark else {},
        )

    def shown(self):
        """State and message of the action's row."""
        row = objects.Action.get_by_uuid(self.admin, self.row.uuid)
        return row.state, row.status_message


class TestEnds(RowTestCase):
    def stale(self):
        """The server is deleted while it moves."""
        self.action.pre_condition()
        self.clock.at(self.clock() + 10, lambda: self.cloud.delete(moves.UUID))
        return self.assertRaises(
            exception.WatcherException, self.action.execute
        )

    def test_deleted_meanwhile(self):
        error = self.stale()
        self.assertIn('KRONOS:StaleTask: [instance_gone] ', str(error))
        self.assertEqual('ONGOING', self.shown()[0])
        self.action.post_condition()
        state, message = self.shown()
        self.assertEqual('SKIPPED', state)
        self.assertTrue(
            message.startswith(
                'Action was skipped: KRONOS:StaleTask: [instance_gone] the '
                'instance was deleted while it moved'
            ),
            message,
        )

    def test_deleted_and_its_row_with_it(self):
        """Nothing fails of that."""
        self.stale()
        log = self.useFixture(fixtures.FakeLogger())
        self.dbapi.destroy_action(self.row.uuid)
        self.assertIsNone(self.action.post_condition())
        self.assertIn(f'Action {self.row.uuid} is not SKIPPED', log.output)

    def test_deleted_before(self):
        """Watcher itself makes it SKIPPED."""
        self.cloud.delete(moves.UUID)
        self.assertRaises(exception.ActionSkipped, self.action.pre_condition)
        self.action.post_condition()
        self.assertEqual('ONGOING', self.shown()[0])

    def test_moved(self):
        self.action.pre_condition()
        self.assertTrue(self.action.execute())
        before = self.shown()
        self.action.post_condition()
        self.assertEqual(before, self.shown())
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())

    def test_failed(self):
        """What is no StaleTask stays what Watcher calls it."""
        self.cloud.is_open = False
        self.action.pre_condition()
        error = self.assertRaises(
            exception.WatcherException, self.action.execute
        )
        self.assertIn('[cell_refused]', str(error))
        before = self.shown()
        self.action.post_condition()
        self.assertEqual(before, self.shown())

    def test_it_takes_nothing_back(self):
        self.assertIsNone(self.action.revert())
        self.assertEqual([], self.asked)


class TestPlanStanding(RowTestCase):
    def standing(self):
        found = self.action._plan()
        return found.is_accepted, found.refused

    def test_nothing_was_asked(self):
        self.add_row()
        self.assertEqual((False, ''), self.standing())

    def test_one_was_refused(self):
        self.add_row(refused='no such host')
        self.assertEqual((False, 'no such host'), self.standing())

    def test_one_was_taken(self):
        self.add_row(refused='no such host')
        self.add_row(request='req-1')
        self.assertEqual((True, ''), self.standing())

    def test_rows_that_do_not_count(self):
        """Its own one, those of other plans, and other actions."""
        own = self.add_row(request='req-1')
        self.action.input_parameters['action_uuid'] = own.uuid
        self.add_row(plan=1, request='req-2')
        self.add_row(kind=watcher_actions.ACTION_TYPE, request='req-3')
        self.assertEqual((False, ''), self.standing())

    def test_without_a_plan(self):
        self.add_row(refused='no such host')
        del self.action.input_parameters['action_plan_uuid']
        self.assertEqual(PlanStanding(True), self.action._plan())

    def test_the_database_does_not_tell(self):
        with enginefacade.writer.get_engine().begin() as connection:
            connection.execute(sa.text('ALTER TABLE actions RENAME TO away'))
        error = self.assertRaises(exceptions.TurnUnknown, self.action._plan)
        self.assertIs(Fault.WATCHER_ERROR, faults.of_error(error))
        self.assertIn(self.plans[0].uuid, str(error))
        self.assertNotIn('SELECT', str(error))


class TestKeep(RowTestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path

    def move(self, report_dir):
        CONF.set_override('report_dir', report_dir, 'kronos')
        self.addCleanup(CONF.clear_override, 'report_dir', 'kronos')
        self.action.pre_condition()
        self.action.execute()

    def test_with_a_report_dir(self):
        self.move(self.folder)
        [name] = os.listdir(self.folder)
        self.assertTrue(name.endswith(f'-{self.row.uuid}.json'), name)
        kept = json.loads(pathlib.Path(self.folder, name).read_text())
        self.assertEqual('moved', kept['outcome'])

    def test_without(self):
        """Nothing is written where the applier runs, either."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.move('')
        self.assertEqual([], os.listdir(self.folder))
