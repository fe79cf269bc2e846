# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_cell_drain: it empties a cell."""

from typing import Any

from kronos.common import parameter_types
from kronos.engine import types
from kronos.engine.settings import PlanMode
from kronos.extensions.cells import cell_parameters
from kronos.extensions.cells.extension import Cells
from kronos.strategies import base, goals
from kronos.strategies.outcome import status_messages
from kronos.strategies.parameters import Parameters


class CellDrain(base.KronosStrategy):
    """Move the servers of a cell to other cells, cold, and one by one.

    It takes policies of either mode, and does not wait for the cooldown of
    its scope: all hosts of these cells.
    """

    NAME = 'kronos_cell_drain'
    DISPLAY_NAME = 'Kronos: empty a cell'
    PLAN_MODE = PlanMode.CELL_DRAIN
    GOAL = goals.Cell
    PARAMETERS = ()

    @classmethod
    def get_schema(cls) -> dict[str, Any]:
        return cell_parameters.schema()

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Parameters:
        return Parameters(
            max_migrations=parameter_types.count(raw.get('max_migrations')),
            extension=Cells(cell_parameters.parse(raw)),
        )

    @classmethod
    def summary(cls, scope: types.AggregateResult) -> str:
        return status_messages.cell_drained(scope)
