# SPDX-License-Identifier: Apache-2.0
"""The action as Watcher's engine calls it, with its row in a database."""

from watcher import objects
from watcher.applier.loading import default

from tests.unit.actions.live import base as moves
from tests.watcher_tests import db_base as base
from tests.watcher_tests import object_utils as utils


class WholeMoveTestCase(moves.MoveTestCase, base.DbTestCase):
    """One action of a plan that goes on."""

    def setUp(self):
        super().setUp()
        goal = utils.create_test_goal(self.context)
        strategy = utils.create_test_strategy(self.context, goal_id=goal.id)
        audit = utils.create_test_audit(
            self.context, goal_id=goal.id, strategy_id=strategy.id
        )
        self.plan = utils.create_test_action_plan(
            self.context,
            state='ONGOING',
            audit_id=audit.id,
            strategy_id=strategy.id,
        )
        self.row = utils.create_test_action(
            self.context, action_plan_id=self.plan.id, state='PENDING'
        )
        self.action = default.DefaultActionLoader().load('kronos_live_migrate')
        self.action.input_parameters = {
            'resource_id': moves.UUID,
            'aggregate': 'alpha',
            'phase': 'spread',
            'source_node': 'h1',
            'destination_node': 'h2',
            'action_uuid': self.row.uuid,
            'action_plan_uuid': self.plan.uuid,
        }
        self.build()

    def build(self):
        """Let the action have a move in the small cloud."""
        self.action._own_run = self.run_of(
            tell=self.action._tell, is_cancelled=self.action._is_cancelled
        )

    def message(self):
        return objects.Action.get_by_uuid(
            self.context, self.row.uuid
        ).status_message

    def cancel(self):
        self.dbapi.update_action_plan(self.plan.uuid, {'state': 'CANCELLING'})
