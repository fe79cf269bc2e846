# SPDX-License-Identifier: Apache-2.0
"""A cloud whose servers Nova's own code places on the NUMA nodes of hosts.

It shares no code with Kronos: which node a server gets, and whether it fits,
is what ``nova.virt.hardware`` says.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nova import objects
from nova.virt import hardware

from kronos.engine.slots.numa_facts import (
    NumaFacts,
    PlacedNode,
    ServerTopology,
)
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Flavor, Headroom, Snapshot
from kronos.extensions.room import room
from kronos.extensions.room.room import RoomNeeds
from tests.builders import policies

objects.register_all()
PAGE_KB = 4


@dataclass
class NovaCloud:
    """Hosts that are alike, and servers that Nova placed on them."""

    layout: NodeLayout
    hosts: str
    pinned: bool = True
    ratio: float = 1.0
    """Of VCPU."""
    topologies: dict[str, Any] = field(default_factory=dict)
    """Nova's, by host."""
    servers: dict[str, tuple[str, Flavor, Any]] = field(default_factory=dict)
    """By uuid the host, the flavor, and Nova's topology there."""

    def __post_init__(self) -> None:
        for name in self.hosts:
            self.topologies[name] = objects.NUMATopology(
                cells=[self._cell(n) for n in range(self.layout.nodes)]
            )

    def _cell(self, number: int) -> Any:
        first = number * self.layout.cpus
        cpus = {*range(first, first + self.layout.cpus)}
        pages = self.layout.memory_mb * 1024 // PAGE_KB
        return objects.NUMACell(
            id=number,
            cpuset=set() if self.pinned else cpus,
            pcpuset=cpus if self.pinned else set(),
            memory=self.layout.memory_mb,
            cpu_usage=0,
            memory_usage=0,
            pinned_cpus=set(),
            siblings=[{cpu} for cpu in cpus],
            mempages=[
                objects.NUMAPagesTopology(
                    size_kb=PAGE_KB, total=pages, used=0, reserved=0
                )
            ],
            socket=0,
        )

    def fit(self, flavor: Flavor, host: str) -> Any:
        """Nova's topology of a server there; None if Nova refuses it."""
        asked = _asked(flavor)
        limits = objects.NUMATopologyLimits(
            cpu_allocation_ratio=self.ratio, ram_allocation_ratio=1.0
        )
        return hardware.numa_fit_instance_to_host(
            self.topologies[host], asked, None, limits=limits
        )

    def create(self, uuid: str, flavor: Flavor, host: str) -> bool:
        """Whether Nova places it there, and Placement has room for it."""
        there = [
            of_server
            for on, of_server, _ in self.servers.values()
            if on == host
        ]
        cpus = sum(of_server.vcpus for of_server in [*there, flavor])
        memory_mb = sum(of_server.memory_mb for of_server in [*there, flavor])
        layout = self.layout
        if cpus > layout.nodes * layout.cpus * self.ratio:
            return False
        if memory_mb > layout.nodes * layout.memory_mb:
            return False
        if _asked(flavor) is None:
            self.servers[uuid] = host, flavor, None
            return True
        topology = self.fit(flavor, host)
        if topology is None:
            return False
        self.topologies[host] = hardware.numa_usage_from_instance_numa(
            self.topologies[host], topology
        )
        self.servers[uuid] = host, flavor, topology
        return True

    def delete(self, uuid: str) -> None:
        host, _, topology = self.servers.pop(uuid)
        if topology is None:
            return
        self.topologies[host] = hardware.numa_usage_from_instance_numa(
            self.topologies[host], topology, free=True
        )

    def move(self, uuid: str, host: str) -> bool:
        """Whether Nova accepts the live migration."""
        old = self.servers[uuid]
        _, flavor, topology = old
        if not self.create(uuid, flavor, host):
            return False
        moved = self.servers[uuid]
        self.servers[uuid] = old
        self.delete(uuid)
        self.servers[uuid] = moved
        return True

    def fill(self, flavors: Sequence[Flavor], chance: random.Random) -> None:
        """Create servers until hosts are full, and delete a third of them."""
        for number in range(40 * len(self.hosts)):
            flavor = chance.choice(flavors)
            self.create(f's{number}', flavor, chance.choice(self.hosts))
        for uuid in chance.sample([*self.servers], len(self.servers) // 3):
            self.delete(uuid)

    def slots(self, flavor: Flavor) -> int:
        """How many more servers Nova places, host by host."""
        number = 0
        for host in self.hosts:
            while self.create(f'new-{number}', flavor, host):
                number += 1
        return number

    def number_of(self, flavor: Flavor) -> int:
        """The same, and nothing stays."""
        number = self.slots(flavor)
        for place in range(number):
            self.delete(f'new-{place}')
        return number

    def has_room(self, flavors: Sequence[Flavor], first: int = 0) -> bool:
        """Whether Nova places these servers in turn, on whichever hosts.

        :param first: host that is tried first, since those of a flavor are
            alike
        """
        if not flavors:
            return True
        flavor, *others = flavors
        for place in range(first, len(self.hosts)):
            uuid = f'wanted-{len(flavors)}'
            if not self.create(uuid, flavor, self.hosts[place]):
                continue
            alike = bool(others) and others[0] == flavor
            if self.has_room(others, place if alike else 0):
                return True
            self.delete(uuid)
        return False

    def snapshot(self, flavors: Mapping[str, Flavor]) -> Snapshot:
        """What Kronos reads of it."""
        instances = [
            policies.instance(
                uuid,
                host,
                vcpus=flavor.vcpus,
                memory_mb=flavor.memory_mb,
                flavor=flavor.name,
                extra_specs=dict(flavor.extra_specs),
            )
            for uuid, (host, flavor, _) in self.servers.items()
        ]
        snapshot = policies.snapshot(
            {'cpu': dict.fromkeys(self.hosts, 0.5)},
            instances=instances,
            usages={
                'cpu': {f'dom-{server.uuid}': 0.01 for server in instances}
            },
        )
        cpus = round(self.layout.nodes * self.layout.cpus * self.ratio)
        for name, host in snapshot.hosts.items():
            there = [each for each in instances if each.host == name]
            host.headroom = {
                'PCPU' if self.pinned else 'VCPU': Headroom(
                    cpus, sum(each.vcpus for each in there)
                ),
                'MEMORY_MB': Headroom(
                    self.layout.nodes * self.layout.memory_mb,
                    sum(each.memory_mb for each in there),
                ),
            }
        facts = NumaFacts(
            dict.fromkeys(self.hosts, self.layout),
            {
                uuid: _shown(topology)
                for uuid, (_, _, topology) in self.servers.items()
                if topology is not None
            },
        )
        snapshot.beside[room.NAME] = RoomNeeds(dict(flavors), facts)
        return snapshot


def _asked(flavor: Flavor) -> Any:
    """The topology that Nova has a host fit in; None: none."""
    return hardware.numa_get_constraints(
        objects.Flavor(
            name=flavor.name,
            vcpus=flavor.vcpus,
            memory_mb=flavor.memory_mb,
            extra_specs=dict(flavor.extra_specs),
        ),
        objects.ImageMeta(properties=objects.ImageMetaProps()),
    )


def _shown(topology: Any) -> ServerTopology:
    """As Nova's API shows it to an administrator."""
    return ServerTopology(
        [
            PlacedNode(
                cell.id,
                len(cell.total_cpus),
                cell.memory,
                len(cell.cpu_pinning or {}),
            )
            for cell in topology.cells
        ]
    )
