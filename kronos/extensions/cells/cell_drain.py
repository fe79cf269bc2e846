# SPDX-License-Identifier: Apache-2.0
"""The cell drain: what an audit that empties a cell asks for.

A server goes from the source cell to a target cell, cold, with its flavor or
with the one that a map gives.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from kronos.common.names.name_marks import (
    CellName,
    FlavorName,
    HostName,
    ProjectName,
    ServerName,
    Text,
    Uuid,
    ZoneName,
)
from kronos.common.shell_commands import ShellCommand
from kronos.engine.extension import Phase
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, Flavor, Snapshot

if TYPE_CHECKING:
    from kronos.snapshots.cloud import CloudInventory

NAME = 'cells'
"""Of the extension."""
CELL_MOVE = 'kronos_cross_cell_migrate'
"""The action that moves a server."""
CELL_MARK = 'cell_move'
"""Mark of a move to another cell that Nova was, or is about to be, asked for:
see :mod:`kronos.extensions.cells.actions.checkpoint`."""
SAME = 'same'
"""As the new flavor in a map: the server keeps its own."""
ANY = '*'
"""As the old flavor in a map: every one that has no entry of its own."""
NOT_KNOWN = (
    'the recording does not show which moves to other cells Kronos has '
    'started, so Kronos treats each as a move by somebody else'
)
"""A warning that is told with the reason."""


class CellPhase(Phase):
    """What is planned instead of the trunk's phases."""

    CELL_DRAIN = 'cell_drain'


class MoveOrder(StrEnum):
    """Which servers leave first."""

    SAFEST = 'safest'
    """Stopped ones, then those on volumes, then those with small disks."""
    HOSTS = 'hosts'
    """Host after host."""


class Confirm(StrEnum):
    """Who confirms a move that went well."""

    AUTO = 'auto'
    MANUAL = 'manual'


POLICY = 'compute:servers:resize:cross_cell'
"""The rule of Nova that lets servers leave their cell."""


class CrossCellPolicy(StrEnum):
    """Whether Nova's policy lets servers leave their cell."""

    OPEN = 'open'
    CLOSED = 'closed'
    UNKNOWN = 'unknown'


@dataclass
class CellDrain:
    """Which cell is emptied, where to, and how."""

    source: CellName
    targets: list[CellName]
    hosts: list[HostName] | None = None
    """Those of the source cell that are emptied; None: all of them."""
    flavor_map: dict[FlavorName, FlavorName] | None = None
    """New flavors by old ones, all of them names; None: all are kept."""
    confirm: Confirm = Confirm.AUTO
    order: MoveOrder = MoveOrder.SAFEST
    include_stopped: bool = True
    unpin_az: bool = False
    """Whether servers that are pinned to a zone are unpinned for the move."""
    close_source: bool = False
    """Whether the hosts are disabled before anything leaves."""

    def new_flavor(self, old: str) -> str | None:
        """The name of the flavor that a server gets; None: none is mapped."""
        if self.flavor_map is None:
            return old
        new = self.flavor_map.get(old, self.flavor_map.get(ANY))
        return old if new == SAME else new


def of(settings: Settings) -> CellDrain | None:
    """What the audit asks for; None if it empties no cell."""
    drain = settings.extension.asked
    return drain if isinstance(drain, CellDrain) else None


@dataclass(frozen=True)
class CellMove:
    """What a step of a cell drain is, beside a move from host to host."""

    source_cell: CellName
    destination_cell: CellName
    source_flavor: FlavorName
    destination_flavor: FlavorName
    source_zone: ZoneName = ''
    destination_zone: ZoneName = ''
    destination_flavor_id: Text = ''
    """Of a flavor that is another one; Nova resizes to it."""
    unpins: bool = False
    """Whether the server is pinned to its zone, and is unpinned for it."""

    @property
    def is_resize(self) -> bool:
        """Whether Nova chooses the host: the planned one is a forecast."""
        return self.source_flavor != self.destination_flavor


@dataclass
class OffloadedServer:
    """A server that is SHELVED_OFFLOADED: no API tells its cell."""

    uuid: Uuid
    name: ServerName


@dataclass
class UnfinishedMove:
    """A move of Kronos to another cell that is not over in Nova.

    The server is on its way, on its way back, or waits to be confirmed.
    """

    action: Uuid
    """Uuid of the action that was at it last."""
    instance: Uuid
    instance_name: ServerName
    host: HostName
    """Where the server is now."""
    status: Text
    """Of the server."""
    source: HostName
    destination: HostName
    how: CellMove
    target_cells: list[CellName]
    confirm: Confirm = Confirm.AUTO
    plan: Uuid = ''
    """Uuid of its action plan while that goes on; '': nobody is at it."""
    has_ended: bool = False
    """Whether its action did what it was to do, and leaves the rest to an
    operator."""
    is_second: bool = False
    """Whether its action was to finish the move of another one, and failed."""


def confirming(instance: str) -> str:
    """The command by which an operator confirms the move of a server."""
    return ShellCommand.RESIZE_CONFIRM.of(server=instance)


@dataclass
class ForeignMove:
    """A move to another cell that waits to be confirmed, and is not ours."""

    instance: Uuid
    instance_name: ServerName
    source: HostName
    destination: HostName
    source_cell: CellName


@dataclass
class CellNeeds:
    """What is known of a cloud for it; what nobody asked for is empty."""

    flavors: dict[FlavorName, Flavor] = field(default_factory=dict)
    """By name, those of the cloud."""
    quota_left: dict[ProjectName, dict[Text, int]] = field(
        default_factory=dict
    )
    """By project and resource; absent: no limit."""
    offloaded: list[OffloadedServer] = field(default_factory=list)
    """All of the cloud: no API tells their cell."""
    unfinished: list[UnfinishedMove] = field(default_factory=list)
    """Moves that Kronos began, of all cells."""
    of_others: list[ForeignMove] = field(default_factory=list)
    """Such moves that others began."""
    cell_policy: CrossCellPolicy = CrossCellPolicy.OPEN
    loses_keys: bool = False
    """Whether Nova does not take key pairs to another cell."""
    warnings: list[Text] = field(default_factory=list)
    """What could not be asked."""
    open_source_hosts: list[HostName] = field(default_factory=list)
    """Hosts of the source cell that are no part of a scope, and take
    servers."""


def needs_of(keeper: 'Snapshot | CloudInventory') -> CellNeeds:
    """What is kept for an audit that empties a cell."""
    needs = keeper.beside.get(NAME)
    return needs if isinstance(needs, CellNeeds) else CellNeeds()


@dataclass
class CellOutcome:
    """What becomes of the servers of the source cell."""

    source: str
    targets: list[str]
    servers_before: int
    servers_after: int
    """If the plan is carried out."""
    confirm: Confirm = Confirm.AUTO
    staying: list[str] = field(default_factory=list)
    """Uuids of those that cannot leave; not of those that wait for another
    plan."""
    may_be_here: list[OffloadedServer] = field(default_factory=list)
    """Servers that may be in this cell, or in another one."""
    finishing: list[UnfinishedMove] = field(default_factory=list)
    """Moves that an earlier plan began, and this one brings to an end."""
    unconfirmed: list[UnfinishedMove] = field(default_factory=list)
    """Those that wait for an operator."""
    going_on: list[UnfinishedMove] = field(default_factory=list)
    """Those that are left as they are: their own plan goes on, or something
    forbids it."""
    of_others: list[ForeignMove] = field(default_factory=list)
    """Moves out of the cell that somebody else began, and has to end."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left, as far as an API can tell.

        Nova keeps a server in its old cell until its move is over.
        """
        begun = self.finishing + self.unconfirmed + self.going_on
        return not (self.servers_before or begun or self.of_others)


def outcome_of(scope: AggregateResult) -> CellOutcome | None:
    """What becomes of the cell that is emptied; None: none is."""
    outcome = scope.beside.get(NAME)
    return outcome if isinstance(outcome, CellOutcome) else None


def outcomes(scopes: Iterable[AggregateResult]) -> dict[str, CellOutcome]:
    """The same of several scopes, by the names of those that have one."""
    return {
        scope.name: outcome
        for scope in scopes
        if (outcome := outcome_of(scope)) is not None
    }


def finishing(*scopes: AggregateResult) -> list[tuple[str, UnfinishedMove]]:
    """The moves that an earlier plan began, each with its scope."""
    return [
        (name, move)
        for name, outcome in outcomes(scopes).items()
        for move in outcome.finishing
    ]
