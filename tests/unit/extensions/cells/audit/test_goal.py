# SPDX-License-Identifier: Apache-2.0
"""How is the success of a cell drain measured?"""

from oslotest import base

from kronos.engine.types import CycleReport
from kronos.extensions.cells.audit.goal import Cell
from kronos.extensions.cells.cell_drain import NAME, CellOutcome
from tests.builders.cells import unfinished
from tests.unit.strategies.outcome.test_status_messages import scope


class TestGoal(base.BaseTestCase):
    def test_what_is_finished_is_a_move(self) -> None:
        cell = CellOutcome(
            'old', ['new'], 3, 2, staying=['u'], finishing=[unfinished('a')]
        )
        report = CycleReport([scope(beside={NAME: cell}), scope()])
        moves = len(report.steps) + 1
        self.assertEqual(
            {
                'servers_before': 3,
                'servers_after': 2,
                'servers_that_stay': 1,
                'migrations': moves,
            },
            Cell.indicators(report),
        )
