# SPDX-License-Identifier: Apache-2.0
"""The cells in a report, as a document for programs; null where none is."""

from typing import Any

from kronos.extensions.cells.cell_drain import (
    CellDrain,
    CellMove,
    CellOutcome,
    UnfinishedMove,
    confirming,
)
from kronos.reports.parts import picked


def request(drain: CellDrain | None) -> dict[str, Any] | None:
    """What an audit that empties a cell asked for."""
    if drain is None:
        return None
    return {
        'source_cell': drain.source,
        'target_cells': list(drain.targets),
        **picked(drain, 'hosts flavor_map confirm order'),
        **picked(drain, 'include_stopped unpin_az close_source'),
    }


def outcome(cell: CellOutcome | None) -> dict[str, Any] | None:
    """What becomes of the servers of the source cell."""
    if cell is None:
        return None
    return {
        'source_cell': cell.source,
        'target_cells': list(cell.targets),
        **picked(cell, 'servers_before servers_after staying'),
        'may_be_here': [
            picked(each, 'uuid name') for each in cell.may_be_here
        ],
        'finishing': [_begun(begun) for begun in cell.finishing],
        'unconfirmed': [
            _begun(begun) | {'command': confirming(begun.instance)}
            for begun in cell.unconfirmed
        ],
        'going_on': [_begun(begun) for begun in cell.going_on],
        'of_others': [
            picked(foreign, 'instance instance_name source destination')
            for foreign in cell.of_others
        ],
        'is_empty': cell.is_empty,
    }


def _begun(begun: UnfinishedMove) -> dict[str, Any]:
    """A move that an earlier plan began."""
    return {
        'action': begun.action,
        'action_plan': begun.plan,
        **picked(begun, 'instance instance_name host status'),
        **picked(begun, 'source destination confirm'),
        'cell_move': move(begun.how),
    }


def move(cell_move: CellMove | None) -> dict[str, Any] | None:
    """How a step goes to another cell."""
    if cell_move is None:
        return None
    return picked(
        cell_move,
        'is_resize source_cell destination_cell source_flavor '
        'destination_flavor source_zone destination_zone unpins',
    )
