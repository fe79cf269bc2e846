# SPDX-License-Identifier: Apache-2.0
"""The part of the cells in reports: keys, lines and a section of the page."""

from typing import Any, ClassVar

from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, MigrationStep
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.reports import lines, rows
from kronos.reports.parts import ReportPart


class CellReport(ReportPart):
    """What becomes of the cell that is emptied."""

    phases: ClassVar = {'cell_drain': 'drain of a cell'}
    sections: ClassVar = ('cell.html',)

    def settings(self, settings: Settings) -> dict[str, Any]:
        return {'cell_drain': rows.request(cell_drain.of(settings))}

    def scope(self, scope: AggregateResult) -> dict[str, Any]:
        return {'cell': rows.outcome(cell_drain.outcome_of(scope))}

    def step(self, step: MigrationStep) -> dict[str, Any]:
        return {'cell_move': rows.move(step.how)}

    def uuids(self, scope: AggregateResult) -> set[str]:
        return lines.uuids(cell_drain.outcome_of(scope))

    def lines(
        self, scope: AggregateResult, uuids: wording.ShortUuids
    ) -> list[str]:
        return lines.of(scope, uuids)
