# SPDX-License-Identifier: Apache-2.0
"""The goal kronos_cell, and how its success is measured.

It is frozen, as :mod:`kronos.strategies.efficacy` says.
"""

from collections.abc import Callable
from typing import ClassVar

from kronos.engine.types import CycleReport
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import CellOutcome
from kronos.strategies.efficacy import Measure, Share
from kronos.strategies.goals import Goal


def _sum(
    number: Callable[[CellOutcome], int],
) -> Callable[[CycleReport], float]:
    return lambda report: sum(
        map(number, cell_drain.outcomes(report.scopes).values())
    )


class Cell(Goal):
    """A cell without servers."""

    NAME = 'kronos_cell'
    DISPLAY_NAME = 'Kronos: emptied cell'
    MEASURES: ClassVar = (
        Measure(
            'servers_before',
            'Servers on the hosts of the source cell that are emptied, before '
            'the plan.',
            _sum(lambda cell: cell.servers_before),
        ),
        Measure(
            'servers_after',
            'Servers that are still there after the plan.',
            _sum(lambda cell: cell.servers_after),
        ),
        Measure(
            'servers_that_stay',
            'Those of them that cannot leave, by a reason of their own or for '
            'want of a destination; not those that wait for another plan.',
            _sum(lambda cell: len(cell.staying)),
        ),
        Measure(
            'migrations',
            'Moves to another cell in the plan, those that it only finishes '
            'included.',
            lambda report: (
                len(report.steps) + len(cell_drain.finishing(*report.scopes))
            ),
        ),
    )
    SHARE = Share(
        'servers_leaving',
        'Share of the servers of the source cell that leave it by the plan.',
        before='servers_before',
        after='servers_after',
    )
