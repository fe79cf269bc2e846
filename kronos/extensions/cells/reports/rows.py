# SPDX-License-Identifier: Apache-2.0
"""The cells in a report, as a document for programs; null where none is."""

from dataclasses import asdict
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
    row = asdict(drain)
    ends = {'source_cell': row.pop('source')}
    return {**ends, 'target_cells': row.pop('targets'), **row}


def outcome(cell: CellOutcome | None) -> dict[str, Any] | None:
    """What becomes of the servers of the source cell."""
    if cell is None:
        return None
    return {
        'source_cell': cell.source,
        'target_cells': list(cell.targets),
        'servers_before': cell.servers_before,
        'servers_after': cell.servers_after,
        'staying': list(cell.staying),
        'may_be_here': [asdict(server) for server in cell.may_be_here],
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
    row = {'is_resize': cell_move.is_resize, **asdict(cell_move)}
    del row['destination_flavor_id']
    return row
