# SPDX-License-Identifier: Apache-2.0
"""The schema of the needs of a cell drain, in a recording."""

from dataclasses import dataclass, field

from kronos.common import first_fault
from kronos.engine.types import Flavor
from kronos.extensions.cells.cell_drain import (
    CellDrain,
    CellMove,
    CellNeeds,
    Confirm,
    CrossCellPolicy,
    ForeignMove,
    MoveOrder,
    OffloadedServer,
    UnfinishedMove,
)
from kronos.recordings.safe_files import MAX_ROWS, STRICT
from kronos.snapshots.cell_hosts import CellScope


@dataclass
class CellScopeRow:
    """The cells of a request."""

    source: str
    targets: list[str]
    hosts: list[str] | None = None

    @classmethod
    def of(cls, scope: CellScope) -> 'CellScopeRow':
        return cls(scope.source, scope.targets, scope.hosts)

    def scope(self) -> CellScope:
        return CellScope(self.source, self.targets, self.hosts)


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

    @classmethod
    def of(cls, drain: CellDrain) -> 'CellDrainRow':
        return cls(
            source=drain.source,
            targets=drain.targets,
            hosts=drain.hosts,
            flavor_map=drain.flavor_map,
            confirm=drain.confirm,
            order=drain.order,
            include_stopped=drain.include_stopped,
            unpin_az=drain.unpin_az,
            close_source=drain.close_source,
        )

    def drain(self) -> CellDrain:
        return CellDrain(
            source=self.source,
            targets=self.targets,
            hosts=self.hosts,
            flavor_map=self.flavor_map,
            confirm=self.confirm,
            order=self.order,
            include_stopped=self.include_stopped,
            unpin_az=self.unpin_az,
            close_source=self.close_source,
        )


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

    @classmethod
    def of(cls, flavor: Flavor) -> 'FlavorRow':
        return cls(
            id=flavor.id,
            name=flavor.name,
            vcpus=flavor.vcpus,
            memory_mb=flavor.memory_mb,
            root_gb=flavor.root_gb,
            ephemeral_gb=flavor.ephemeral_gb,
            swap_mb=flavor.swap_mb,
            extra_specs=flavor.extra_specs,
        )

    def flavor(self) -> Flavor:
        return Flavor(
            id=self.id,
            name=self.name,
            vcpus=self.vcpus,
            memory_mb=self.memory_mb,
            root_gb=self.root_gb,
            ephemeral_gb=self.ephemeral_gb,
            swap_mb=self.swap_mb,
            extra_specs=self.extra_specs,
        )


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
        how = move.how
        return cls(
            action=move.action,
            instance=move.instance,
            host=move.host,
            status=move.status,
            source=move.source,
            destination=move.destination,
            source_cell=how.source_cell,
            destination_cell=how.destination_cell,
            source_flavor=how.source_flavor,
            destination_flavor=how.destination_flavor,
            target_cells=move.target_cells,
            instance_name=move.instance_name,
            source_zone=how.source_zone,
            destination_zone=how.destination_zone,
            destination_flavor_id=how.destination_flavor_id,
            unpins=how.unpins,
            confirm=move.confirm,
            plan=move.plan,
            has_ended=move.has_ended,
            is_second=move.is_second,
        )

    def move(self) -> UnfinishedMove:
        return UnfinishedMove(
            action=self.action,
            instance=self.instance,
            instance_name=self.instance_name,
            host=self.host,
            status=self.status,
            source=self.source,
            destination=self.destination,
            how=CellMove(
                source_cell=self.source_cell,
                destination_cell=self.destination_cell,
                source_flavor=self.source_flavor,
                destination_flavor=self.destination_flavor,
                source_zone=self.source_zone,
                destination_zone=self.destination_zone,
                destination_flavor_id=self.destination_flavor_id,
                unpins=self.unpins,
            ),
            target_cells=self.target_cells,
            confirm=self.confirm,
            plan=self.plan,
            has_ended=self.has_ended,
            is_second=self.is_second,
        )


@dataclass
class ForeignRow:
    """A move to another cell that somebody else began."""

    instance: str
    source: str
    destination: str
    source_cell: str
    instance_name: str = ''

    @classmethod
    def of(cls, move: ForeignMove) -> 'ForeignRow':
        return cls(
            instance=move.instance,
            source=move.source,
            destination=move.destination,
            source_cell=move.source_cell,
            instance_name=move.instance_name,
        )

    def move(self) -> ForeignMove:
        return ForeignMove(
            instance=self.instance,
            instance_name=self.instance_name,
            source=self.source,
            destination=self.destination,
            source_cell=self.source_cell,
        )


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
        return cls(
            [FlavorRow.of(one) for one in needs.flavors.values()],
            needs.quota_left,
            [OffloadedRow(one.uuid, one.name) for one in needs.offloaded],
            [UnfinishedRow.of(one) for one in needs.unfinished],
            [ForeignRow.of(one) for one in needs.of_others],
            needs.cell_policy,
            needs.loses_keys,
        )

    def needs(self) -> CellNeeds:
        return CellNeeds(
            {row.name: row.flavor() for row in self.flavors},
            self.quota_left,
            [OffloadedServer(row.uuid, row.name) for row in self.offloaded],
            [row.move() for row in self.unfinished],
            [row.move() for row in self.of_others],
            self.cell_policy,
            self.loses_keys,
        )


def drain_row(drain: CellDrain | None) -> CellDrainRow | None:
    """The row of a cell drain; None of none."""
    return None if drain is None else CellDrainRow.of(drain)


OF_MOVES = ('unfinished', 'of_others')
"""Keys of a file where servers are between two cells."""
OF_NOVA = {'cell_policy': CrossCellPolicy.OPEN.value, 'loses_keys': False}
"""Values of a Nova that is in no server's way, by key; they are left out."""
CELLS = first_fault.adapter(CellsFile, most=MAX_ROWS)
