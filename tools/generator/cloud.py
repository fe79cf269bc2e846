# SPDX-License-Identifier: Apache-2.0
"""A made-up cloud, before it is written in any format.

Of each quantity (cpu, ram, net) there is a capacity of each host and a usage
of each instance, in the same unit: cores, MiB and bytes a second.
"""

from collections import Counter
from dataclasses import dataclass, field

from generator.wanted import Wanted

KINDS = ('cpu', 'ram', 'net')
WEIGHTS = {'cpu': 0.5, 'ram': 0.3, 'net': 0.2}
THRESHOLD = 0.15
BASE = {'cpu': 0.02, 'ram': 0.02, 'net': 0.0}
"""What a host itself uses, as a ratio of its capacity."""
VCPUS_PER_CORE = 2
MIB_PER_CORE = 7 * 1024
BYTES_PER_CORE = 50_000_000
"""Of network, a second: 64 cores have some 25 Gb/s."""
APART = ('anti-affinity', 'soft-anti-affinity')


@dataclass
class Tenant:
    name: str
    project: str
    busy: float
    """How much of its cores it uses, as a ratio; instances add their own."""
    traffic: float
    """Factor of its instances' network use."""


@dataclass(eq=False)
class Host:
    name: str
    aggregate: int
    cores: int
    pull: float
    """How much more, or less, than others the scheduler likes it."""
    is_new: bool = False
    is_up: bool = True
    is_enabled: bool = True
    used_vcpus: int = 0
    used_mb: int = 0

    @property
    def vcpus(self) -> int:
        return VCPUS_PER_CORE * self.cores

    @property
    def memory_mb(self) -> int:
        return MIB_PER_CORE * self.cores

    @property
    def capacity(self) -> dict[str, float]:
        return {
            'cpu': float(self.cores),
            'ram': float(self.memory_mb),
            'net': float(BYTES_PER_CORE * self.cores),
        }

    def has_room(self, server: 'Server') -> bool:
        return (
            self.used_vcpus + server.vcpus <= self.vcpus
            and self.used_mb + server.memory_mb <= self.memory_mb
        )


@dataclass(eq=False)
class Group:
    uuid: str
    name: str
    policy: str
    members: list['Server'] = field(default_factory=list)

    def on(self) -> Counter[str]:
        """How many members each host has; those without one are no part."""
        return Counter(
            member.host.name for member in self.members if member.host
        )

    def allows(self, host: Host) -> bool:
        """Whether Nova would put one more member there."""
        there = self.on()
        if self.policy in APART:
            return not there[host.name]
        return not there or host.name in there


@dataclass(eq=False)
class Server:
    uuid: str
    name: str
    tenant: Tenant
    aggregate: int
    vcpus: int
    memory_mb: int
    own: dict[str, float]
    """By chance and its own: of cpu and ram a ratio, of net a factor."""
    frozen: str = ''
    """``locked``, ``pinned`` or nothing."""
    host: Host | None = None
    group: Group | None = None
    usage: dict[str, float] = field(default_factory=dict)
    factors: dict[str, float] = field(default_factory=dict)
    """What its host's fate makes of its usage."""

    def put(self, host: Host | None) -> None:
        """Move it, with the room that it takes."""
        for place, sign in ((self.host, -1), (host, 1)):
            if place is not None:
                place.used_vcpus += sign * self.vcpus
                place.used_mb += sign * self.memory_mb
        self.host = host


@dataclass
class Cloud:
    wanted: Wanted
    base_cores: int
    """Of a host of the usual size."""
    tenants: list[Tenant] = field(default_factory=list)
    odds: list[float] = field(default_factory=list)
    """Of the tenants, added up."""
    hosts: list[Host] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    made: int = 0
    """Servers that there ever were."""

    def scores(self) -> dict[str, dict[str, float]]:
        """Usage of each host as a ratio of its capacity, by quantity."""
        found = {
            kind: {host.name: BASE[kind] for host in self.hosts}
            for kind in KINDS
        }
        for server in self.servers:
            if server.host is not None:
                capacity = server.host.capacity
                for kind in KINDS:
                    found[kind][server.host.name] += (
                        server.usage[kind] / capacity[kind]
                    )
        return found

    def aggregate_name(self, number: int) -> str:
        if self.wanted.aggregates == 1:
            return 'compute'
        return f'compute-{number + 1}'
