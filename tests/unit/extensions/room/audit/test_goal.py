# SPDX-License-Identifier: Apache-2.0
"""How is the success of a plan that makes room measured?"""

from oslotest import base

from kronos.engine.types import CycleReport
from kronos.extensions.room.audit.goal import Room
from kronos.extensions.room.room import NAME, RoomOutcome
from tests.unit.strategies.outcome.test_status_messages import scope


class TestGoal(base.BaseTestCase):
    def test_indicators(self) -> None:
        numbers = RoomOutcome(
            {'f': 3}, {'f': 1}, {'f': 2}, {'f': 9}, moves=2, bound=2
        )
        most = RoomOutcome({'g': 0}, {'g': 4}, {'g': 5}, {'g': 9}, bound=5)
        report = CycleReport(
            [
                scope(beside={NAME: numbers}),
                scope(beside={NAME: most}),
                scope(),
            ]
        )
        self.assertEqual(
            {
                'slots_before': 5,
                'slots_after': 7,
                'slots_wanted': 3,
                'slots_missing_before': 2,
                'slots_missing_after': 1,
                'migrations': len(report.steps),
                'migrations_at_least': 2,
            },
            Room.indicators(report),
        )
