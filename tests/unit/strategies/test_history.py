# SPDX-License-Identifier: Apache-2.0
"""What the rows of Watcher's database tell; its services are not running.

The functional tests do the same with plans that are carried out.
"""

from watcher import objects

from kronos.engine.eligibility import cooldown
from kronos.engine.types import Outcome
from kronos.extensions.cells.cell_drain import CELL_MOVE
from kronos.snapshots import watcher_actions
from kronos.strategies import effects, history
from kronos.strategies.outcome import audit_metrics
from tests import pipeline_plans
from tests.watcher_tests import db_base as base
from tests.watcher_tests import object_utils as utils

EVER = cooldown.Since(None, None)
State = objects.action.State


def uuid(number):
    return f'{number:08d}-4444-4444-4444-444444444444'


class HistoryTestCase(base.DbTestCase):
    def setUp(self):
        super().setUp()
        self.goal = utils.create_test_goal(self.context, name='kronos_balance')
        self.strategy = utils.create_test_strategy(
            self.context, name='kronos_spread', goal_id=self.goal.id
        )
        self.number = 0

    def plan(self, state, *moves, **audit):
        """A plan with an action in each of some states; returns its audit."""
        self.number += 1
        number = self.number
        made = utils.create_test_audit(
            self.context,
            id=number,
            uuid=uuid(number),
            name=f'audit {number}',
            goal_id=self.goal.id,
            strategy_id=self.strategy.id,
            **audit,
        )
        utils.create_test_action_plan(
            self.context,
            id=number,
            uuid=uuid(100 + number),
            audit_id=made.id,
            strategy_id=self.strategy.id,
            state=state,
        )
        for at, (move, more) in enumerate(moves):
            self.action(10 * number + at, number, move, **more)
        return made.uuid

    def action(self, number, plan, state, **fields):
        utils.create_test_action(
            self.context,
            **{
                'id': number,
                'uuid': uuid(1000 + number),
                'action_plan_id': plan,
                'action_type': watcher_actions.ACTION_TYPE,
                'state': state,
                'input_parameters': {
                    'aggregate': 'alpha',
                    'resource_id': f'vm{number}',
                    'source_node': 'h1',
                    'destination_node': 'h2',
                },
                'parents': [],
                **fields,
            },
        )

    def told(self, audit='', since=EVER):
        found = history.events(since, audit)
        return sorted((one.instance, one.outcome) for one in found)


class TestEvents(HistoryTestCase):
    def test_nothing(self):
        self.assertEqual([], history.events(EVER))

    def test_a_plan_under_way(self):
        self.plan(
            'ONGOING',
            (State.SUCCEEDED, {}),
            (State.ONGOING, {}),
            (State.PENDING, {}),
            (State.CANCELLED, {}),
        )
        self.assertEqual(
            [
                ('vm10', Outcome.MOVED),
                ('vm11', Outcome.UNDER_WAY),
                ('vm12', Outcome.PLANNED),
            ],
            self.told(),
        )

    def test_failures_have_their_type(self):
        text = 'KRONOS:MigrationFailed: [nova_error] it ended so'
        self.plan('FAILED', (State.FAILED, {'status_message': text}))
        [one] = history.events(EVER)
        self.assertEqual(
            (Outcome.FAILED, 'MigrationFailed', 'nova_error'),
            (one.outcome, one.error_type, one.fault),
        )

    def test_what_ended_before_is_left_out(self):
        self.plan('SUCCEEDED', (State.SUCCEEDED, {}), (State.FAILED, {}))
        later = cooldown.Since(2e9, None)
        self.assertEqual([('vm11', Outcome.FAILED)], self.told(since=later))

    def test_a_plan_that_is_only_recommended(self):
        """It counts where nobody has to start it."""
        self.plan('RECOMMENDED', (State.PENDING, {}), auto_trigger=False)
        self.assertEqual([], self.told())
        self.plan('RECOMMENDED', (State.PENDING, {}), auto_trigger=True)
        self.assertEqual([('vm20', Outcome.PLANNED)], self.told())

    def test_a_continuous_audit_replaces_its_own_plan(self):
        audit = self.plan(
            'RECOMMENDED',
            (State.PENDING, {}),
            auto_trigger=True,
            audit_type='CONTINUOUS',
        )
        self.assertEqual([('vm10', Outcome.PLANNED)], self.told())
        self.assertEqual([], self.told(audit))

    def test_plans_of_pipelines(self):
        """They have no audit; only who has taken them counts."""
        plans = self.useFixture(pipeline_plans.PipelinePlans())
        self.plan('ONGOING', (State.ONGOING, {}), (State.PENDING, {}))
        self.plan('SUCCEEDED', (State.SUCCEEDED, {}))
        self.plan('FAILED', (State.FAILED, {}))
        self.plan('RECOMMENDED', (State.PENDING, {}), auto_trigger=True)
        self.plan('RECOMMENDED', (State.PENDING, {}), auto_trigger=True)
        for number in range(1, 5):
            plans.cut_loose(number)
        plans.cut_loose(5, hostname='ctl1')
        self.assertEqual(
            [
                ('vm10', Outcome.UNDER_WAY),
                ('vm11', Outcome.PLANNED),
                ('vm20', Outcome.MOVED),
                ('vm30', Outcome.FAILED),
                ('vm50', Outcome.PLANNED),
            ],
            self.told(),
        )

    def test_plans_without_a_strategy(self):
        """They are read; their effects are not those of a strategy."""
        plans = self.useFixture(pipeline_plans.PipelinePlans())
        self.plan('RECOMMENDED', (State.PENDING, {}))
        self.plan('PENDING', (State.PENDING, {}))
        gauges = {gauge.name: gauge.value for gauge in audit_metrics._plans()}
        self.assertEqual(1, gauges['kronos_plans_waiting'])
        for number in (1, 2):
            plans.cut_loose(number)
        gauges = {gauge.name: gauge.value for gauge in audit_metrics._plans()}
        self.assertEqual(0, gauges['kronos_plans_waiting'])
        self.assertEqual([], effects.newest(5))

    def test_actions_of_others(self):
        self.plan(
            'ONGOING',
            (State.SUCCEEDED, {'action_type': 'nop'}),
            (State.SUCCEEDED, {'input_parameters': {'aggregate': 'alpha'}}),
        )
        self.assertEqual([], self.told())

    def test_moves_to_other_cells(self):
        """As live migrations; one that waits for an operator has arrived."""
        kind = {'action_type': CELL_MOVE}
        text = 'KRONOS:MigrationTimeout: [too_slow] it is'
        told = {
            'aggregate': 'old -> new',
            'resource_id': 'manual',
            'source_node': 'o1',
            'destination_node': 'n1',
            'confirm': 'manual',
            'cell_move': {'at': 1.0},
        }
        self.plan(
            'ONGOING',
            (State.SUCCEEDED, kind),
            (State.ONGOING, kind),
            (State.PENDING, kind),
            (State.CANCELLED, kind),
            (State.FAILED, kind | {'status_message': text}),
            (State.SUCCEEDED, kind | {'input_parameters': told}),
        )
        self.assertEqual(
            [
                ('manual', Outcome.MOVED),
                ('vm10', Outcome.MOVED),
                ('vm11', Outcome.UNDER_WAY),
                ('vm12', Outcome.PLANNED),
                ('vm14', Outcome.FAILED),
            ],
            self.told(),
        )
        [failed] = [
            one
            for one in history.events(EVER)
            if one.outcome is Outcome.FAILED
        ]
        self.assertEqual(
            ('MigrationTimeout', 'too_slow'),
            (failed.error_type, failed.fault),
        )
