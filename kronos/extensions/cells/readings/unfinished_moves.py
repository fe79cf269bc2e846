# SPDX-License-Identifier: Apache-2.0
"""The unfinished moves to other cells: Kronos' own, and those of others.

An action that dies or gives up leaves its server between two cells. Its row
tells what was begun, and Nova whether that is so still.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oslo_log import log as logging

from kronos.clients.watcher import WatcherClient
from kronos.engine.types import Instance
from kronos.extensions.cells.cell_drain import (
    CELL_MARK,
    CELL_MOVE,
    NAME,
    CellMove,
    Confirm,
    ForeignMove,
    UnfinishedMove,
    needs_of,
)
from kronos.snapshots import watcher_actions, watcher_api
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.watcher_actions import ActionRow, PlanRow
from kronos.watcher_db import marks

if TYPE_CHECKING:
    from kronos.clients.nova.cell_listings import CellListings

LOG = logging.getLogger(__name__)

VERIFY = 'VERIFY_RESIZE'
STATUSES = ('RESIZE', VERIFY, 'REVERT_RESIZE')
"""Of a server whose cold move is not over."""
REMEMBERED_SECONDS = 30 * 86400.0
"""For so long a move that was begun is known to be Kronos' own."""
BEHIND_SECONDS, AHEAD_SECONDS = 300.0, 600.0
"""A migration of which the mark does not know yet began so soon before or
after it was written: clocks differ, and Nova may be slow."""
_TEXTS = (
    *watcher_actions.NEEDED,
    'source_cell',
    'destination_cell',
    'source_flavor',
    'destination_flavor',
)
"""Input parameters without which a move cannot be finished."""


@dataclass
class BegunMove:
    """A move that Nova was asked for, as its action's row tells."""

    action: str
    instance: str
    source: str
    destination: str
    how: CellMove
    target_cells: list[str]
    created: float
    """Unix seconds: when the row was."""
    at: float
    """Unix seconds: when the mark was written."""
    confirm: Confirm = Confirm.AUTO
    plan: str = ''
    """As of :class:`.UnfinishedMove`, and so are the next two."""
    has_ended: bool = False
    is_second: bool = False
    is_over: bool = False
    """Whether the action brought it to its end."""
    request: str = ''
    """Id; '': the action did not learn it."""
    migration: str = ''
    """Uuid; '' as above."""
    known: list[str] = field(default_factory=list)
    """Uuids of migrations that were there before."""


def begun(row: ActionRow, plan: PlanRow) -> BegunMove | None:
    """The move of an action; None of one that never asked Nova for any.

    :param plan: of the action
    """
    inputs = row.parameters if isinstance(row.parameters, dict) else {}
    mark = _mark(inputs) if row.action_type == CELL_MOVE else {}
    if not mark:
        return None
    if not all(isinstance(inputs.get(name), str) for name in _TEXTS):
        LOG.warning(
            'Action %s has started a move that cannot be finished: its input '
            'parameters are incomplete',
            row.uuid,
        )
        return None
    is_manual = inputs.get('confirm') == Confirm.MANUAL
    is_finished = row.state == watcher_actions.FINISHED
    goes_on = plan.state in watcher_actions.STARTED
    return BegunMove(
        action=row.uuid,
        instance=inputs['resource_id'],
        source=inputs['source_node'],
        destination=inputs['destination_node'],
        how=_how(inputs),
        target_cells=_strings(inputs.get('target_cells')),
        created=row.created,
        at=float(mark['at']),
        confirm=Confirm.MANUAL if is_manual else Confirm.AUTO,
        plan=plan.uuid if goes_on else '',
        has_ended=is_manual and (is_finished or _is_lost(row)),
        is_second=bool(inputs.get('finishes')) and _has_failed(row),
        is_over=is_finished and not is_manual,
        request=marks.text(mark.get('request')),
        migration=marks.text(mark.get('migration')),
        known=_strings(mark.get('known')),
    )


def listed(watcher: WatcherClient, since: float) -> list[BegunMove]:
    """The moves to other cells, those of deleted plans too.

    :param since: Unix seconds; rows that were written before are left out
    :raises ClientError: Watcher is away, or refuses
    """
    plans = {row['uuid']: row['state'] for row in watcher.plans()}
    moves = []
    for row in map(watcher_api.action_row, watcher.actions()):
        if row.touched < since:
            break
        inputs = row.parameters if isinstance(row.parameters, dict) else {}
        plan = str(inputs.get('action_plan_uuid') or '')
        state = plans.get(plan, watcher_actions.DELETED)
        move = begun(row, PlanRow(plan, state, row.touched))
        moves += [move] if move else []
    return moves


def _mark(inputs: dict[str, Any]) -> dict[str, Any]:
    """What says that Nova may have taken a request; {} if it did not."""
    mark = marks.part(inputs, CELL_MARK)
    is_asked = marks.number(mark.get('at')) is not None
    return mark if is_asked and not mark.get('refused') else {}


def _is_lost(row: ActionRow) -> bool:
    """Whether its end is lost with its plan, and it was no failure."""
    return row.state == watcher_actions.DELETED and not row.message


def _has_failed(row: ActionRow) -> bool:
    """Whether it failed, though its plan was deleted meanwhile."""
    return row.state == watcher_actions.FAILED or (
        row.state == watcher_actions.DELETED
        and row.message.startswith(watcher_actions.FAILURE)
    )


def _how(inputs: Mapping[str, Any]) -> CellMove:
    return CellMove(
        source_cell=inputs['source_cell'],
        destination_cell=inputs['destination_cell'],
        source_flavor=inputs['source_flavor'],
        destination_flavor=inputs['destination_flavor'],
        source_zone=marks.text(inputs.get('source_zone')),
        destination_zone=marks.text(inputs.get('destination_zone')),
        destination_flavor_id=marks.text(inputs.get('destination_flavor_id')),
        unpins=inputs.get('unpin_zone') is True,
    )


def note(
    listings: 'CellListings',
    gathered: CloudInventory,
    moves: Iterable[BegunMove],
) -> None:
    """Note the moves of a cloud with what else a cell drain needs.

    :raises NovaClientError: as of :func:`find`
    """
    hosts = gathered.cloud.hosts | gathered.cloud.other_hosts
    ours, foreign = find(
        listings,
        gathered.instances,
        moves,
        {name: host.cell for name, host in hosts.items()},
    )
    gathered.beside[NAME] = dataclasses.replace(
        needs_of(gathered), unfinished=ours, of_others=foreign
    )


def find(
    listings: 'CellListings',
    instances: Iterable[Instance],
    moves: Iterable[BegunMove],
    cells: Mapping[str, str],
) -> tuple[list[UnfinishedMove], list[ForeignMove]]:
    """Kronos' own moves, and those of others that wait to be confirmed.

    Nova is asked about servers alone that are on their way.

    :param instances: all of the cloud
    :param moves: whatever action rows tell
    :param cells: by host
    :raises NovaClientError: a listing failed
    """
    moving = {
        instance.uuid: instance
        for instance in instances
        if instance.status in STATUSES
    }
    ours = [
        _unfinished(move, moving[uuid])
        for uuid, move in sorted(_newest(moves).items())
        if uuid in moving and not move.is_over and _is_ours(move, listings)
    ]
    own_servers = {move.instance for move in ours}
    rest = {
        uuid: instance
        for uuid, instance in moving.items()
        if instance.status == VERIFY and uuid not in own_servers
    }
    return ours, _of_others(listings, rest, cells) if rest else []


def _newest(moves: Iterable[BegunMove]) -> dict[str, BegunMove]:
    """The newest of each server, by its uuid."""
    return {
        move.instance: move
        for move in sorted(moves, key=lambda each: (each.created, each.action))
    }


def _is_ours(move: BegunMove, listings: 'CellListings') -> bool:
    """Whether the migration that a server is in is that of the move."""
    migrations = listings.cold_migrations(move.instance)
    if move.migration:
        # Clocks differ; but one at most goes on, or it is not known whose.
        going_on = {
            migration.uuid for migration in migrations if not migration.is_over
        }
        latest = going_on or {migration.uuid for migration in migrations[:1]}
        return latest == {move.migration}
    if move.request:
        return listings.is_moved_by(move.instance, [move.request])
    newest = next(iter(migrations), None)
    if newest is None:
        return True
    late = newest.created_at - move.at
    return (
        -BEHIND_SECONDS <= late <= AHEAD_SECONDS
        and newest.uuid not in move.known
    )


def _unfinished(move: BegunMove, instance: Instance) -> UnfinishedMove:
    return UnfinishedMove(
        action=move.action,
        instance=move.instance,
        instance_name=instance.name,
        host=instance.host,
        status=instance.status,
        source=move.source,
        destination=move.destination,
        how=move.how,
        target_cells=move.target_cells or [move.how.destination_cell],
        confirm=move.confirm,
        plan=move.plan,
        has_ended=move.has_ended,
        is_second=move.is_second,
    )


def _of_others(
    listings: 'CellListings',
    servers: Mapping[str, Instance],
    cells: Mapping[str, str],
) -> list[ForeignMove]:
    foreign = {}
    for row in listings.unconfirmed():
        source, destination = cells.get(row.source), cells.get(row.destination)
        is_known = row.instance in servers and source and destination
        if is_known and source != destination:
            foreign[row.instance] = ForeignMove(
                row.instance,
                servers[row.instance].name,
                row.source,
                row.destination,
                cells[row.source],
            )
    return [move for _, move in sorted(foreign.items())]


def _strings(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, str)]
