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


def asked(drain: CellDrain | None) -> dict[str, Any] | None:
    """What an audit that empties a cell asked for."""
    if drain is None:
        return None
    return {
        'source_cell': drain.source,
        'target_cells': list(drain.targets),
        'hosts': drain.hosts and list(drain.hosts),
        'flavor_map': drain.flavor_map and dict(drain.flavor_map),
        'confirm': drain.confirm.value,
        'order': drain.order.value,
        'include_stopped': drain.include_stopped,
        'unpin_az': drain.unpin_az,
        'close_source': drain.close_source,
    }


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
        'may_be_here': [
            {'uuid': one.uuid, 'name': one.name} for one in cell.may_be_here
        ],
        'finishing': [_begun(one) for one in cell.finishing],
        'unconfirmed': [
            _begun(one) | {'command': confirming(one.instance)}
            for one in cell.unconfirmed
        ],
        'going_on': [_begun(one) for one in cell.going_on],
        'of_others': [
            {
                'instance': one.instance,
                'instance_name': one.instance_name,
                'source': one.source,
                'destination': one.destination,
            }
            for one in cell.of_others
        ],
        'is_empty': cell.is_empty,
    }


def _begun(found: UnfinishedMove) -> dict[str, Any]:
    """A move that an earlier plan began."""
    return {
        'action': found.action,
        'action_plan': found.plan,
        'instance': found.instance,
        'instance_name': found.instance_name,
        'host': found.host,
        'status': found.status,
        'source': found.source,
        'destination': found.destination,
        'confirm': found.confirm.value,
        'cell_move': move(found.how),
    }


def move(found: CellMove | None) -> dict[str, Any] | None:
    """How a step goes to another cell."""
    if found is None:
        return None
    return {
        'is_resize': found.is_resize,
        'source_cell': found.source_cell,
        'destination_cell': found.destination_cell,
        'source_flavor': found.source_flavor,
        'destination_flavor': found.destination_flavor,
        'source_zone': found.source_zone,
        'destination_zone': found.destination_zone,
        'unpins': found.unpins,
    }
