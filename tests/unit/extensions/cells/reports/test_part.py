# SPDX-License-Identifier: Apache-2.0
"""What does a drain of a cell add to a report?"""

from oslotest import base

from kronos.engine.planning import propose
from kronos.extensions.cells.cell_drain import outcome_of
from kronos.extensions.cells.reports import rows
from kronos.extensions.cells.reports.part import CellReport
from kronos.reports import document
from kronos.reports.html import view
from tests.builders import cells


class TestCellReport(base.BaseTestCase):
    def test_document(self) -> None:
        settings = cells.settings()
        snapshot = cells.cells([cells.server('a')])
        report = propose.propose([snapshot], [cells.CPU], settings)
        [row] = document.document(report)['scopes']
        self.assertEqual(
            rows.outcome(outcome_of(report.scopes[0])), row['cell']
        )
        [step] = row['steps']
        self.assertEqual('old', step['cell_move']['source_cell'])
        asked = document.settings(settings)['cell_drain']
        self.assertEqual('old', asked['source_cell'])

    def test_phase(self) -> None:
        [(phase, words)] = CellReport.phases.items()
        self.assertEqual(words, view.phase(phase))
