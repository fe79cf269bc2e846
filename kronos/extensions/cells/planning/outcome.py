# SPDX-License-Identifier: Apache-2.0
"""The outcome of a cell drain: what each step is, and what stays."""

from collections.abc import Sequence

from kronos.engine.constraints import availability_zone
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, Closing, Snapshot
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    CellDrain,
    CellMove,
    CellOutcome,
    UnfinishedMove,
    needs_of,
)
from kronos.extensions.cells.planning import (
    cell_moves,
    flavors,
    unfinished_moves,
)

BACK = 'REVERT_RESIZE'
"""The status of a server on its way back."""


def note(
    result: AggregateResult, snapshot: Snapshot, settings: Settings
) -> None:
    """Add to a result what is only of a cell drain; nothing if it is none."""
    drain = cell_drain.of(settings)
    if drain is None:
        return
    for step in result.steps:
        step.how = _move(step.instance, step.destination, snapshot, drain)
        # It is shut down on the way, so its load is not comparable: such a
        # plan is "effect_offline". Its action has no parameter for it.
        step.effect = {}
        step.why = f'leaves cell {drain.source}, which is being emptied'
        # A cold one goes by a snapshot: no live migration tells of that.
        step.copied_mb, step.seconds = 0, 0.0
    uuids = [
        uuid
        for uuid, instance in sorted(snapshot.instances.items())
        if snapshot.hosts[instance.host].cell == drain.source
    ]
    cell = result.beside[cell_drain.NAME] = CellOutcome(
        source=drain.source,
        targets=list(drain.targets),
        servers_before=len(uuids),
        servers_after=len(uuids) - len(result.steps),
        confirm=drain.confirm,
        staying=[
            uuid
            for uuid in uuids
            if uuid in result.stayed
            and result.stayed[uuid].code is not Code.BUDGET_USED
        ],
        may_be_here=list(needs_of(snapshot).offloaded),
        of_others=[
            move
            for move in needs_of(snapshot).of_others
            if move.source_cell == drain.source
        ],
    )
    _note_unfinished(result, cell, snapshot, settings)


def _note_unfinished(
    result: AggregateResult,
    cell: CellOutcome,
    snapshot: Snapshot,
    settings: Settings,
) -> None:
    """Add the moves that are not over, and count where they bring servers."""
    for judged in unfinished_moves.judged(snapshot, settings):
        uuid, why = judged.move.instance, judged.reason
        if judged.is_finished:
            cell.finishing.append(judged.move)
        elif why.code is Code.CELL_UNCONFIRMED:
            cell.unconfirmed.append(judged.move)
        else:
            cell.going_on.append(judged.move)
        # Whatever else is the matter with it: it does not stay.
        if uuid in result.stayed:
            result.stayed[uuid] = result.unmovable[uuid] = why
        if why.code is Code.CELL_BEGUN and uuid in cell.staying:
            cell.staying.remove(uuid)
    cell.servers_after += _coming(cell.finishing, snapshot, cell.source)


def _coming(
    moves: Sequence[UnfinishedMove], snapshot: Snapshot, source: str
) -> int:
    """How many servers more are in the source when moves are finished."""
    more = 0
    for move in moves:
        instance = snapshot.instances.get(move.instance)
        if instance is not None:
            is_there = snapshot.hosts[instance.host].cell == source
            more += (move.status == BACK) - is_there
    return more


def _move(
    uuid: str, destination: str, snapshot: Snapshot, drain: CellDrain
) -> CellMove:
    instance = snapshot.instances[uuid]
    new = drain.new_flavor(instance.flavor) or instance.flavor
    is_new = flavors.is_changed(instance, drain)
    return CellMove(
        source_cell=drain.source,
        destination_cell=snapshot.hosts[destination].cell,
        source_flavor=instance.flavor,
        destination_flavor=new,
        destination_flavor_id=needs_of(snapshot).flavors[new].id
        if is_new
        else '',
        source_zone=availability_zone.zone_of(snapshot, instance.host),
        destination_zone=availability_zone.zone_of(snapshot, destination),
        unpins=instance.pinned_availability_zone is not None,
    )


def closings(snapshot: Snapshot, drain: CellDrain) -> list[Closing]:
    """Its hosts that take servers still."""
    why = Reason(f'cell {drain.source} is being emptied', Code.HOST_DRAINED)
    names = sorted(cell_moves.open_hosts(snapshot, drain))
    return [Closing(name, why) for name in names]
