# SPDX-License-Identifier: Apache-2.0
"""What the rows of Watcher's database tell of moves that were begun."""

import json
from unittest import mock

import sqlalchemy as sa
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
from watcher.db.sqlalchemy import models

from kronos.extensions.cells.cell_drain import CELL_MARK, CELL_MOVE, Confirm
from kronos.extensions.cells.readings import begun_moves
from kronos.watcher_db import publishing
from tests.unit.extensions.cells.readings.test_unfinished_moves import (
    MARK,
    TOLD,
)
from tests.unit.strategies import test_history
from tests.unit.strategies.test_history import State

MOVE = {
    'action_type': CELL_MOVE,
    'input_parameters': TOLD | {CELL_MARK: MARK},
}


class TestSince(test_history.HistoryTestCase):
    def found(self, since=0.0):
        return sorted(
            (move.action[:8], move.plan, move.is_over)
            for move in begun_moves.since(since)
        )

    def test_by_states(self):
        """Of the action and of its plan."""
        self.plan('CANCELLED', (State.CANCELLED, MOVE), (State.PENDING, {}))
        self.plan('ONGOING', (State.FAILED, MOVE), (State.ONGOING, MOVE))
        self.plan('SUCCEEDED', (State.SUCCEEDED, MOVE))
        plan = test_history.uuid(102)
        self.assertEqual(
            [
                ('00001010', '', False),
                ('00001020', plan, False),
                ('00001021', plan, False),
                ('00001030', '', True),
            ],
            self.found(),
        )

    def test_all_of_one(self):
        inputs = MOVE['input_parameters'] | {'confirm': 'manual'}
        self.plan(
            'SUCCEEDED', (State.SUCCEEDED, MOVE | {'input_parameters': inputs})
        )
        [move] = begun_moves.since(0.0)
        self.assertEqual(
            ('a', 'o1', 'n1', Confirm.MANUAL, True, 'm1', ['m0']),
            (move.instance, move.source, move.destination, move.confirm,
             move.has_ended, move.migration, move.known),
        )  # fmt: skip
        self.assertEqual(MARK['at'], move.at)

    def test_rows_of_long_ago(self):
        self.plan('CANCELLED', (State.CANCELLED, MOVE))
        self.assertEqual(1, len(self.found()))
        self.assertEqual([], self.found(4e9))

    def test_odd_rows(self):
        """One that is no JSON does not hide the others."""
        self.plan('CANCELLED', (State.CANCELLED, MOVE), (State.FAILED, MOVE))
        with enginefacade.writer.using(self.context) as session:
            session.execute(
                sa.text(
                    'UPDATE actions SET input_parameters = :text WHERE id = 10'
                ),
                {'text': json.dumps(TOLD)[:-5]},
            )
        self.assertEqual([('00001011', '', False)], self.found())

    def test_plans_that_were_deleted(self):
        self.plan(
            'CANCELLED', (State.FAILED, MOVE | {'status_message': 'Action'})
        )
        with enginefacade.writer.using(self.context) as session:
            for table in (models.Action, models.ActionPlan):
                session.execute(
                    sa.update(table).values(state='DELETED', deleted=1)
                )
        self.assertEqual([('00001010', '', False)], self.found())

    def test_the_database_is_away(self):
        away = db_exc.DBConnectionError()
        with mock.patch.object(begun_moves, '_rows', side_effect=away):
            error = self.assertRaises(
                publishing.DatabaseUnknown, begun_moves.since, 0.0
            )
        self.assertIn('DBConnectionError', str(error))
