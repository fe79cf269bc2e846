# SPDX-License-Identifier: Apache-2.0
"""The actions of a plan that empties a cell, as Watcher's rows tell them."""

from collections.abc import Sequence
from typing import Any

from kronos.engine import types
from kronos.extensions.cells.cell_drain import (
    CellMove,
    CellOutcome,
    CellPhase,
    Confirm,
    UnfinishedMove,
)

FINISHES = 'finishes'
"""Input parameter of a move: the uuid of the action that began it."""


def closing(closed: types.Closing) -> dict[str, Any]:
    """The input parameters by which a host is disabled, beside its id."""
    return {
        'resource_name': closed.host,
        'state': 'disabled',
        'disabled_reason': f'watcher_disabled: {closed.reason}',
    }


def move(how: CellMove, cell: CellOutcome) -> dict[str, Any]:
    """What a move is, beside a move from host to host."""
    return _move(how, cell.targets, cell.confirm)


def finishing(
    number: int, scope: str, begun: UnfinishedMove
) -> dict[str, Any]:
    """All of a move that another action began: it is as it was there."""
    return {
        'aggregate': scope,
        'phase': CellPhase.CELL_DRAIN.value,
        'sequence': number,
        'resource_name': begun.instance_name,
        'source_node': begun.source,
        'destination_node': begun.destination,
        **_move(begun.how, begun.target_cells, begun.confirm),
        FINISHES: begun.action,
    }


def _move(
    how: CellMove, targets: Sequence[str], confirm: Confirm
) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        'mode': 'resize' if how.is_resize else 'migrate',
        'source_cell': how.source_cell,
        'destination_cell': how.destination_cell,
        'target_cells': list(targets),
        'source_flavor': how.source_flavor,
        'destination_flavor': how.destination_flavor,
        'source_zone': how.source_zone,
        'destination_zone': how.destination_zone,
        'unpin_zone': how.unpins,
        'confirm': confirm.value,
    }
    if how.is_resize:
        inputs['destination_flavor_id'] = how.destination_flavor_id
    return inputs
