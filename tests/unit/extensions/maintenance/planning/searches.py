# SPDX-License-Identifier: Apache-2.0
"""What tests of parts of a search share: its phase, without the search."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kronos.engine.arrays import BoolArray
from kronos.engine.planning.phase_input import PhaseInput, PhasePlan
from kronos.engine.planning.propose import propose
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import Instance, MigrationPhase, StopReason
from kronos.extensions.maintenance.extension import ROW, MaintenanceRun
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.planning.room import Room
from tests.builders import maintained, scopes

GIB = 1024


def run(
    servers: dict[str, list[int]], spec: Maintenance | None = None
) -> maintained.Run:
    """A run through hosts of 16 GiB.

    :param servers: GiB of the servers of each host; they are called by their
        host and their number, as ``a0``
    """
    instances = {
        host: [
            Instance(f'{host}{number}', host, vcpus=1, memory_mb=size * GIB)
            for number, size in enumerate(sizes)
        ]
        for host, sizes in servers.items()
    }
    cloud = scopes.scope(
        [maintained.MEMORY],
        {host: [sum(sizes) / 16] for host, sizes in servers.items()},
        [
            (server, [server.memory_mb / GIB / 16])
            for each in instances.values()
            for server in each
        ],
    )
    room = {'VCPU': 64, 'MEMORY_MB': 16 * GIB, 'DISK_GB': 1000}
    scopes.give_room(cloud, dict.fromkeys(servers, room))
    return maintained.Run(cloud, spec or Maintenance('r', tuple(servers)))


@dataclass
class Search:
    """The phase that empties hosts, as a search of it sees it."""

    simulation: Simulation
    room: Room

    def host(self, name: str) -> int:
        return self.simulation.utilization.index.host[name]

    def server(self, name: str) -> int:
        return self.simulation.utilization.index.instances.index(name)

    def mask(self, *names: str) -> BoolArray:
        return np.isin(self.simulation.utilization.index.hosts, names)

    def hosts(self) -> dict[str, str]:
        """Where each server is by now."""
        index = self.simulation.utilization.index
        places = self.simulation.placement.host_of.tolist()
        return {
            uuid: index.hosts[place]
            for uuid, place in zip(index.instances, places, strict=True)
        }


def look(case: maintained.Run, work: Callable[[Search], None]) -> None:
    """Do some work in the phase of a run."""
    calls = []

    def search(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
        calls.append(inputs)
        work(Search(simulation, Room(simulation, inputs.snapshot)))
        return PhaseResult(StopReason.DONE, 'looked at')

    class Looked(MaintenanceRun):
        phases: ClassVar = {MigrationPhase.EVACUATE: PhasePlan(ROW, search)}

    settings = replace(case.settings, extension=Looked(case.asked))
    propose([case.cloud], [maintained.MEMORY], settings)
    assert calls, 'the phase was not run'
