# SPDX-License-Identifier: Apache-2.0
"""The schema of the needs of a cell drain, in a recording."""

from dataclasses import dataclass, field

import pydantic

from kronos.engine.cell_drain import (
    CellDrain,
    Confirm,
    MoveOrder,
    OffloadedServer,
)
from kronos.engine.types import Flavor
from kronos.recordings.safe_files import STRICT
from kronos.snapshots.cell_hosts import CellScope
from kronos.snapshots.cell_needs import CellNeeds


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
class CellsFile:
    """``nova/cells.json``; a recording without a cell drain has none."""

    __pydantic_config__ = STRICT

    flavors: list[FlavorRow]
    quota_left: dict[str, dict[str, int]] = field(default_factory=dict)
    """By project and resource."""
    offloaded: list[OffloadedRow] = field(default_factory=list)

    @classmethod
    def of(cls, needs: CellNeeds) -> 'CellsFile':
        return cls(
            [FlavorRow.of(one) for one in needs.flavors.values()],
            needs.quota_left,
            [OffloadedRow(one.uuid, one.name) for one in needs.offloaded],
        )

    def needs(self) -> CellNeeds:
        return CellNeeds(
            {row.name: row.flavor() for row in self.flavors},
            self.quota_left,
            [OffloadedServer(row.uuid, row.name) for row in self.offloaded],
        )


def drain_row(drain: CellDrain | None) -> CellDrainRow | None:
    """The row of a cell drain; None of none."""
    return None if drain is None else CellDrainRow.of(drain)


CELLS = pydantic.TypeAdapter(CellsFile)
