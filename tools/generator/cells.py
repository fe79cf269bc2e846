# SPDX-License-Identifier: Apache-2.0
"""The cells of a made-up cloud, one of which is to be emptied."""

from generator.cloud import Cloud, Server
from kronos.engine.extension import PLAIN, Extension
from kronos.engine.settings import PlanMode
from kronos.engine.types import Flavor
from kronos.extensions.cells import extension
from kronos.extensions.cells.cell_drain import CellDrain, CellNeeds
from kronos.extensions.cells.readings.cell_hosts import CellScope

OLD, NEW = 'old', 'new'
DISK_GB = 20
"""Of an instance, for each vCPU."""


class Cells:
    """The halves of the hosts; none unless a cell is to be emptied."""

    def __init__(self, found: Cloud) -> None:
        self.are_there = found.wanted.plan_mode is PlanMode.CELL_DRAIN
        self._servers = found.servers
        half = len(found.hosts) // 2
        self._old = {host.name for host in found.hosts[:half]}

    def of(self, host: str) -> str:
        """The cell of a host; '' if all are in one."""
        if not self.are_there:
            return ''
        return OLD if host in self._old else NEW

    def extension(self) -> Extension:
        return (
            extension.Cells(CellDrain(OLD, [NEW])) if self.are_there else PLAIN
        )

    def scope(self) -> CellScope | None:
        return CellScope(OLD, [NEW]) if self.are_there else None

    def flavor(self, server: Server) -> str:
        return flavor_of(server).name if self.are_there else ''

    def needs(self) -> CellNeeds:
        if not self.are_there:
            return CellNeeds()
        flavors = {
            flavor_of(server).name: flavor_of(server)
            for server in self._servers
        }
        return CellNeeds(flavors=dict(sorted(flavors.items())))


def flavor_of(server: Server) -> Flavor:
    name = f'c{server.vcpus}m{server.memory_mb}'
    disk = DISK_GB * server.vcpus
    return Flavor(name, name, server.vcpus, server.memory_mb, disk)
