# SPDX-License-Identifier: Apache-2.0
"""Is a cell that is emptied told on the terminal, and on a report's page?"""

import fixtures

from kronos.cmd import explain
from kronos.cmd.replays import replay_tables
from kronos.engine.planning import propose
from kronos.engine.types import CycleReport
from kronos.extensions.cells.cell_drain import (
    ForeignMove,
    needs_of,
    outcome_of,
)
from kronos.extensions.cells.reports import lines as cell_lines
from kronos.recordings import load
from kronos.reports import document
from kronos.reports.html import page
from tests import commands, golden
from tests.builders import cells


class CellTestCase(golden.GoldenTestCase):
    """Moves to another cell that were begun before."""

    def setUp(self) -> None:
        super().setUp()
        self.snapshot = cells.cells(
            [
                cells.server('a'),
                cells.server('b', 'n1', status='VERIFY_RESIZE'),
            ]
        )
        needs_of(self.snapshot).unfinished = [
            cells.unfinished('b'),
            cells.unfinished('c', has_ended=True),
            cells.unfinished('d', 'RESIZE', 'o1', plan='p'),
        ]
        needs_of(self.snapshot).of_others = [
            ForeignMove('e', 'web', 'o1', 'n2', 'old')
        ]
        self.settings = cells.settings()
        report = propose.propose([self.snapshot], [cells.CPU], self.settings)
        [self.scope] = report.scopes

    def test_table(self) -> None:
        text = replay_tables.table(self.scope, None)
        self.assert_golden('cells.txt', text)

    def test_page(self) -> None:
        report = document.document(
            CycleReport([self.scope]), {'created_at': '2026-01-01T00:00:00Z'}
        )
        text = page.render(report, 'title')
        self.assert_golden('cells_page.txt', golden.words_of(text))

    def test_page_of_an_older_report(self) -> None:
        report = document.document(CycleReport([self.scope]))
        for key in ('finishing', 'unconfirmed', 'going_on', 'of_others'):
            del report['scopes'][0]['cell'][key]
        text = page.render(report, 'title')
        self.assertNotIn('Begun by an earlier plan', text)

    def test_explanation(self) -> None:
        place = self.useFixture(fixtures.TempDir()).join('recording')
        recording = cells.recording(self.snapshot, self.settings)
        load.write(place, recording)
        code, text, _ = commands.run(
            explain.main, [place, '--instance', 'b', '--wide']
        )
        self.assertEqual(0, code)
        self.assert_golden('explained.txt', text, {place: 'RECORDING'})

    def test_uuids(self) -> None:
        """Of moves that were begun: their servers may be in no scope."""
        outcome = outcome_of(self.scope)
        self.assertEqual({'b', 'c', 'd'}, cell_lines.uuids(outcome))
        self.assertEqual(set(), cell_lines.uuids(None))
