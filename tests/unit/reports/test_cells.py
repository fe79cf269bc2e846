# SPDX-License-Identifier: Apache-2.0
"""Do reports tell all of a cell that is emptied, and nothing of others?"""

import dataclasses

from oslotest import base

from kronos.engine.cell_drain import CellMove, CellOutcome, OffloadedServer
from kronos.reports import cells
from tests.unit.recordings.test_meta_schema import DRAIN


class TestCells(base.BaseTestCase):
    def test_none(self) -> None:
        for call in (cells.asked, cells.outcome, cells.move):
            self.assertIsNone(call(None))

    def test_asked(self) -> None:
        """Every field, by the names that its audit's parameters have."""
        found = cells.asked(DRAIN)
        assert found is not None
        self.assertEqual(len(dataclasses.fields(DRAIN)), len(found))
        self.assertEqual(
            ('old', ['new'], 'manual', 'hosts'),
            (
                found['source_cell'],
                found['target_cells'],
                found['confirm'],
                found['order'],
            ),
        )

    def test_outcome(self) -> None:
        shelf = OffloadedServer('u2', 'shelf')
        cell = CellOutcome(
            'old', ['new'], 3, 1, staying=['u1'], may_be_here=[shelf]
        )
        self.assertEqual(
            {
                'source_cell': 'old',
                'target_cells': ['new'],
                'servers_before': 3,
                'servers_after': 1,
                'staying': ['u1'],
                'may_be_here': [{'uuid': 'u2', 'name': 'shelf'}],
                'is_empty': False,
            },
            cells.outcome(cell),
        )

    def test_move(self) -> None:
        found = cells.move(CellMove('o', 'n', 'm1', 'm2', 'zo', 'zn', '7'))
        self.assertEqual(
            {
                'is_resize': True,
                'source_cell': 'o',
                'destination_cell': 'n',
                'source_flavor': 'm1',
                'destination_flavor': 'm2',
                'source_zone': 'zo',
                'destination_zone': 'zn',
                'unpins': False,
            },
            found,
        )
