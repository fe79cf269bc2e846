# SPDX-License-Identifier: Apache-2.0
"""Are all accounts counted, those that nothing has touched among them?"""

import dataclasses

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.planning.standings import budgets
from kronos.engine.types import BudgetStanding, Disruption, Snapshot
from tests.builders import scopes

NOW = 1_800_000_000.0


def standings(snapshot: Snapshot, **options: object) -> list[BudgetStanding]:
    _, policies, plain = scopes.chance(2)
    settings = dataclasses.replace(plain, **options)
    [scope] = propose([snapshot], policies, settings).scopes
    scope.steps.clear()
    return budgets.of_plan(scope, snapshot, settings)


class TestOfPlan(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.snapshot, _, _ = scopes.chance(2)
        self.snapshot.taken_at = NOW
        self.uuid = min(self.snapshot.instances)
        for instance in self.snapshot.instances.values():
            instance.project_id = 'p'
        self.snapshot.disruptions = [Disruption(self.uuid, 'p', NOW - 60)]

    def test_each_server_has_an_account(self) -> None:
        free = 3 * len(self.snapshot.instances) - 1
        self.assertEqual(
            [BudgetStanding('instance', 1, free, 0)],
            standings(self.snapshot, instance_budget='3/3600'),
        )

    def test_a_project_has_a_single_account(self) -> None:
        self.assertEqual(
            [BudgetStanding('project', 1, 2, 0)],
            standings(self.snapshot, project_budget='3/3600'),
        )

    def test_none(self) -> None:
        self.assertEqual([], standings(self.snapshot))
        self.assertEqual([], standings(self.snapshot, group_budget='1'))
