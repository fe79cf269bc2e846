# SPDX-License-Identifier: Apache-2.0
"""The actions of a plan that empties a cell, as Watcher's rows tell them."""

from collections.abc import Sequence
from typing import Any

from kronos.engine import types
from kronos.extensions.cells.cell_drain import (
    CELL_MOVE,
    CellMove,
    CellPhase,
    Confirm,
    UnfinishedMove,
)
from kronos.strategies.outcome.planned_actions import PlannedAction

SERVICE_STATE = 'change_nova_service_state'
"""An action of Watcher itself, which refuses any parameter not its own."""
FINISHES = 'finishes'
"""Input parameter of a move: the uuid of the action that began it."""


def closing(closed: types.Closing) -> PlannedAction:
    """By which a host is disabled."""
    inputs = {
        'resource_name': closed.host,
        'state': 'disabled',
        'disabled_reason': f'watcher_disabled: {closed.reason}',
    }
    return PlannedAction(SERVICE_STATE, inputs, closed.host)


def finishing(number: int, scope: str, begun: UnfinishedMove) -> PlannedAction:
    """Of a move that another action began: it is as it was there."""
    inputs = {
        'aggregate': scope,
        'phase': CellPhase.CELL_DRAIN.value,
        'sequence': number,
        'resource_name': begun.instance_name,
        'source_node': begun.source,
        'destination_node': begun.destination,
        **move(begun.how, begun.target_cells, begun.confirm),
        FINISHES: begun.action,
    }
    return PlannedAction(CELL_MOVE, inputs, begun.instance)


def move(
    how: CellMove, targets: Sequence[str], confirm: Confirm
) -> dict[str, Any]:
    """What a move is, beside a move from host to host."""
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
