# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_cell_drain: it empties a cell."""

import time
from typing import TYPE_CHECKING, Any

from kronos.common import parameter_types
from kronos.engine.settings import PlanMode, Settings
from kronos.extensions.cells import cell_parameters
from kronos.extensions.cells.audit import additions, goal
from kronos.extensions.cells.extension import Cells
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.snapshots.reader import Reader
from kronos.strategies import base
from kronos.strategies.parameters import Parameters

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess


class CellDrainStrategy(base.KronosStrategy):
    """Move the servers of a cell to other cells, cold, and one by one.

    It takes policies of either mode, and does not wait for the cooldown of
    its scope: all hosts of these cells.
    """

    NAME = 'kronos_cell_drain'
    DISPLAY_NAME = 'Kronos: empty a cell'
    PLAN_MODE = PlanMode.CELL_DRAIN
    GOAL = goal.Cell
    PARAMETERS = ()
    ADDITIONS = additions.CellAdditions()
    summary = staticmethod(additions.summary)

    @classmethod
    def get_schema(cls) -> dict[str, Any]:
        return cell_parameters.schema()

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Parameters:
        drain = cell_parameters.parse(raw)
        return Parameters(
            max_migrations=parameter_types.count(raw.get('max_migrations')),
            extension=Cells(drain),
            chosen=CellScope(drain.source, drain.targets, drain.hosts),
        )

    @classmethod
    def reader(
        cls, settings: Settings, conf: Any, clients: 'HostProcess'
    ) -> Reader:
        from kronos.extensions.cells.readings import (
            begun_moves,
            cell_needs,
            unfinished_moves,
        )
        from kronos.extensions.cells.readings.reader import CellReader

        since = time.time() - unfinished_moves.REMEMBERED_SECONDS
        return CellReader(
            cell_needs.Sources.of(conf.kronos, clients),
            lambda: begun_moves.since(since),
        )
