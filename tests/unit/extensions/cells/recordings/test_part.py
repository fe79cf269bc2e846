# SPDX-License-Identifier: Apache-2.0
"""Is a cell drain asked for by a replay, with other parameters?"""

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import Settings
from kronos.extensions.cells.cell_drain import CellDrain
from kronos.extensions.cells.extension import Cells
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.extensions.cells.recordings.part import CellRecording
from tests.builders import recordings

ENDS = {'source_cell': 'old', 'target_cells': 'new'}


class TestCellRecording(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.part = CellRecording()
        self.gathered = recordings.small().gathered

    def test_parameters(self) -> None:
        found = self.part.replayed(ENDS, self.gathered)
        self.assertEqual(CellDrain('old', ['new']), found)

    def test_none_where_some_are_needed(self) -> None:
        error = self.assertRaises(
            ConfigurationError, self.part.replayed, {}, self.gathered
        )
        self.assertIn('--parameter source_cell=OLD', str(error))

    def test_scopes(self) -> None:
        """Its cells take the place of aggregates."""
        settings = Settings(extension=Cells(CellDrain('old', ['new'])))
        self.assertEqual(CellScope('old', ['new']), self.part.chosen(settings))
        self.assertIsNone(self.part.chosen(Settings()))
