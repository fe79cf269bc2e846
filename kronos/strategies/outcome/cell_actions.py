# SPDX-License-Identifier: Apache-2.0
"""The actions of a plan that empties a cell, as Watcher's rows tell them."""

from typing import Any

from kronos.engine import types
from kronos.engine.cell_drain import CellMove, CellOutcome


def closing(closed: types.Closing) -> dict[str, Any]:
    """The input parameters by which a host is disabled, beside its id."""
    return {
        'resource_name': closed.host,
        'state': 'disabled',
        'disabled_reason': f'watcher_disabled: {closed.reason}',
    }


def move(how: CellMove, cell: CellOutcome) -> dict[str, Any]:
    """What a move is, beside a move from host to host."""
    told: dict[str, Any] = {
        'mode': 'resize' if how.is_resize else 'migrate',
        'source_cell': how.source_cell,
        'destination_cell': how.destination_cell,
        'target_cells': list(cell.targets),
        'source_flavor': how.source_flavor,
        'destination_flavor': how.destination_flavor,
        'source_zone': how.source_zone,
        'destination_zone': how.destination_zone,
        'unpin_zone': how.unpins,
        'confirm': cell.confirm.value,
    }
    if how.is_resize:
        told['destination_flavor_id'] = how.destination_flavor_id
    return told
