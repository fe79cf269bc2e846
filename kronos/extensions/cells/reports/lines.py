# SPDX-License-Identifier: Apache-2.0
"""The lines about a cell on the terminal: what becomes of its servers."""

from kronos.engine import wording
from kronos.engine.types import AggregateResult
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    CellOutcome,
    UnfinishedMove,
    confirming,
)


def uuids(cell: CellOutcome | None) -> set[str]:
    """Those of the servers whose moves were begun before."""
    if cell is None:
        return set()
    moves = (cell.finishing, cell.unconfirmed, cell.going_on)
    return {move.instance for some in moves for move in some}


def of(scope: AggregateResult, uuids: wording.ShortUuids) -> list[str]:
    """What becomes of the cell that is emptied, and where servers go."""
    cell = cell_drain.outcome_of(scope)
    if cell is None:
        return []
    result = [
        f'Cell {cell.source}: {cell.servers_before} servers -> '
        f'{cell.servers_after}; {len(cell.staying)} cannot leave'
    ]
    if cell.is_empty:
        result = [f'Cell {cell.source} is empty.']
    result += _begun_lines(cell, uuids)
    result += [
        'May be in this cell or in another (SHELVED_OFFLOADED): '
        + _named(server.name, server.uuid)
        for server in cell.may_be_here
    ]
    for step in scope.steps:
        if (move := step.how) is None:
            continue
        how = 'keeps its flavor'
        if move.is_resize:
            how = f'{move.source_flavor} -> {move.destination_flavor}'
        result.append(
            f'{uuids.named(step.instance_name, step.instance)}: '
            f'{move.source_cell} -> {move.destination_cell}, {how}'
            + (f', unpinned from {move.source_zone}' if move.unpins else '')
        )
    return result


def _begun_lines(cell: CellOutcome, uuids: wording.ShortUuids) -> list[str]:
    """The moves that were begun before."""
    result = [f'Finished: {_begun(move, uuids)}' for move in cell.finishing]
    result += [
        f'To be confirmed: {_begun(move, uuids)}: '
        f'"{confirming(move.instance)}", or revert'
        for move in cell.unconfirmed
    ]
    result += [
        f'Left as it is: {_begun(move, uuids)}' for move in cell.going_on
    ]
    return result + [
        f'By somebody else: {_named(move.instance_name, move.instance)} '
        f'{move.source} -> {move.destination} is in VERIFY_RESIZE: confirm or '
        'revert it'
        for move in cell.of_others
    ]


def _named(name: str, uuid: str) -> str:
    """The name first; with all of the uuid, which has to be typed."""
    return uuid if name in ('', uuid) else f'{name} ({uuid})'


def _begun(move: UnfinishedMove, uuids: wording.ShortUuids) -> str:
    return (
        f'{uuids.named(move.instance_name, move.instance)} {move.source} -> '
        f'{move.destination} is {move.status}'
    )
