# SPDX-License-Identifier: Apache-2.0
"""Two plans, two appliers, one budget: does one request reach Nova?"""

import sqlalchemy as sa
from watcher.db.sqlalchemy import models

from kronos.actions.core import slots
from kronos.actions.core.parameters import MigrationTask
from kronos.actions.live import context, parameters, run
from kronos.clients import placement
from kronos.clients.nova import client as nova_client
from kronos.clients.nova import live_migration
from kronos.common import exceptions
from kronos.options.disruption import DisruptionOptions
from tests.fakes.small_cloud import cloud
from tests.functional.watcher.test_turns import TurnsTestCase
from tests.unit.actions.live import base
from tests.watcher_tests import db_utils as utils

SERVERS = [f'{number}' * 8 + '-0000-0000-0000-000000000000' for number in '12']
SCOPES = {'alpha': ['h1', 'h2'], 'beta': ['h3', 'h4']}


class BudgetsTestCase(TurnsTestCase):
    """A move of a project in each of two plans, of two scopes."""

    def setUp(self):
        super().setUp()
        other = utils.create_test_action_plan(
            id=77,
            uuid='77777777-7777-7777-7777-777777777777',
            audit_id=self.plan.audit_id,
            strategy_id=self.plan.strategy_id,
            state='ONGOING',
        )
        self.update(models.Action, self.uuids[1], action_plan_id=other.id)
        self.execute(
            sa.delete(models.Action).where(models.Action.uuid == self.uuids[2])
        )
        servers = [
            cloud.Server(uuid, host, uuid)
            for uuid, host in zip(SERVERS, ('h1', 'h3'), strict=True)
        ]
        self.cloud = self.useFixture(
            cloud.Cloud(['h1', 'h2', 'h3', 'h4'], SCOPES, servers)
        )

    def move(self, number):
        """The move as an applier of its own has it."""
        clock = base.Clock()
        scope, (source, destination) = list(SCOPES.items())[number]
        task = MigrationTask(
            SERVERS[number], source, destination, 'spread', scope
        )
        parameters_of_row = {
            **self.parameters(number),
            'resource_id': task.instance,
            'source_node': source,
            'destination_node': destination,
            'aggregate': scope,
        }
        self.update(
            models.Action,
            self.uuids[number],
            input_parameters=parameters_of_row,
        )
        nova = base.MoveTestCase.make_client(
            _Clocked(clock), 'compute', nova_client.NovaClient
        )
        return run.MigrationRun(
            parameters.MigrationSettings(
                task=task, budgets=DisruptionOptions(project_budget='1/600')
            ),
            context.MigrationContext(
                nova=nova,
                live_migration=live_migration.LiveMigration(nova.api),
                placement=base.MoveTestCase.make_client(
                    _Clocked(clock), 'placement', placement.PlacementClient
                ),
                slots=slots.Slots(self.uuids[number]),
                notices=base.Notices(),
                clock=clock,
                sleep=clock.sleep,
                is_cancelled=lambda: False,
                tell=lambda text: None,
            ),
        )

    def skipped(self, move):
        error = self.assertRaises(exceptions.StaleTask, move.begin)
        self.assertIn('project_budget 1/600 of its project', str(error))

    def requests(self):
        return [migration.server.uuid for migration in self.cloud.migrations]

    def test_both_wait_for_their_turn_at_once(self):
        """The second has its turn before the first has asked Nova."""
        first, second = self.move(0), self.move(1)
        first.begin()
        self.skipped(second)
        first.carry_out()
        self.assertEqual([SERVERS[0]], self.requests())

    def test_one_after_the_other(self):
        first, second = self.move(1), self.move(0)
        first.begin()
        first.carry_out()
        self.skipped(second)
        self.assertEqual([SERVERS[1]], self.requests())


class _Clocked:
    def __init__(self, clock):
        self.clock = clock
