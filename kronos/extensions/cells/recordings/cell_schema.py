# SPDX-License-Identifier: Apache-2.0
"""The schema of the needs of a cell drain, in a recording."""

from dataclasses import dataclass, field

from kronos.common import first_fault
from kronos.engine.types import Flavor
from kronos.extensions.cells.cell_drain import (
    CellMove,
    CellNeeds,
    Confirm,
    CrossCellPolicy,
    ForeignMove,
    MoveOrder,
    OffloadedServer,
    UnfinishedMove,
)
from kronos.recordings import schema
from kronos.recordings.safe_files import MAX_ROWS, STRICT


@dataclass
class CellScopeRow:
    """The cells of a request."""

    source: str
    targets: list[str]
    hosts: list[str] | None = None


@dataclass
class CellDrainRow:
    """What an audit that empties a cell asked for."""

    source: str
    targets: list[str]
    hosts: list[str] | None = None
    flavor_map: dict[str, str] | None = None
    confirm: Confirm = Confirm.AUTO
    order: MoveOrder = MoveOrder.SAFEST
    include_stopped: bool = True
    unpin_az: bool = False
    close_source: bool = False


@dataclass
class FlavorRow:
    """A flavor of the cloud."""

    id: str
    name: str
    vcpus: int
    memory_mb: int
    root_gb: int = 0
    ephemeral_gb: int = 0
    swap_mb: int = 0
    extra_specs: dict[str, str] = field(default_factory=dict)


@dataclass
class OffloadedRow:
    """A server that is on no host."""

    uuid: str
    name: str = ''


@dataclass
class UnfinishedRow:
    """A move to another cell that Kronos began."""

    action: str
    instance: str
    host: str
    status: str
    source: str
    destination: str
    source_cell: str
    destination_cell: str
    source_flavor: str
    destination_flavor: str
    target_cells: list[str]
    instance_name: str = ''
    source_zone: str = ''
    destination_zone: str = ''
    destination_flavor_id: str = ''
    unpins: bool = False
    confirm: Confirm = Confirm.AUTO
    plan: str = ''
    has_ended: bool = False
    is_second: bool = False

    @classmethod
    def of(cls, move: UnfinishedMove) -> 'UnfinishedRow':
        return schema.copied(move, cls, **vars(move.how))

    def move(self) -> UnfinishedMove:
        how = schema.copied(self, CellMove)
        return schema.copied(self, UnfinishedMove, how=how)


@dataclass
class ForeignRow:
    """A move to another cell that somebody else began."""

    instance: str
    source: str
    destination: str
    source_cell: str
    instance_name: str = ''


@dataclass
class CellsFile:
    """``nova/cells.json``; a recording without a cell drain has none."""

    __pydantic_config__ = STRICT

    flavors: list[FlavorRow]
    quota_left: dict[str, dict[str, int]] = field(default_factory=dict)
    """By project and resource."""
    offloaded: list[OffloadedRow] = field(default_factory=list)
    unfinished: list[UnfinishedRow] = field(default_factory=list)
    of_others: list[ForeignRow] = field(default_factory=list)
    cell_policy: CrossCellPolicy = CrossCellPolicy.OPEN
    loses_keys: bool = False

    @classmethod
    def of(cls, needs: CellNeeds) -> 'CellsFile':
        return schema.copied(
            needs,
            cls,
            flavors=schema.copies(needs.flavors.values(), FlavorRow),
            offloaded=schema.copies(needs.offloaded, OffloadedRow),
            unfinished=[UnfinishedRow.of(move) for move in needs.unfinished],
            of_others=schema.copies(needs.of_others, ForeignRow),
        )

    def needs(self) -> CellNeeds:
        flavors = schema.copies(self.flavors, Flavor)
        return schema.copied(
            self,
            CellNeeds,
            flavors={flavor.name: flavor for flavor in flavors},
            offloaded=schema.copies(self.offloaded, OffloadedServer),
            unfinished=[row.move() for row in self.unfinished],
            of_others=schema.copies(self.of_others, ForeignMove),
        )


OF_MOVES = ('unfinished', 'of_others')
"""Keys of a file where servers are between two cells."""
OF_NOVA = {'cell_policy': CrossCellPolicy.OPEN.value, 'loses_keys': False}
"""Values of a Nova that is in no server's way, by key; they are left out."""
CELLS = first_fault.adapter(CellsFile, most=MAX_ROWS)
