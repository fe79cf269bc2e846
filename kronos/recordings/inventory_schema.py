# SPDX-License-Identifier: Apache-2.0
"""The schema of a recording's inventory: hosts, instances, server groups.

The rows are the format's own: what the engine calls otherwise some day is
translated here.
"""

from dataclasses import dataclass, field

from kronos.engine.types import Host, Instance, PastRestart
from kronos.recordings import schema


@dataclass
class HostRow:
    """A row of ``nova/hosts.json``."""

    name: str
    planned: bool
    """Whether its type is one of ``hypervisor_types``."""
    node: str = ''
    hypervisor_type: str = ''
    hypervisor_version: int = 0
    availability_zone: str = ''
    cell: str = ''
    closed: str = ''
    frozen: str = ''
    excluded: schema.Number | None = None
    """What ``exclude_hosts_query`` gives for it, if that is not 0."""
    faulty: schema.Number | None = None
    """The same of ``host_fault_query``."""

    @classmethod
    def of(cls, host: Host, planned: bool) -> 'HostRow':
        return schema.copied(
            host,
            cls,
            planned=planned,
            excluded=schema.written(host.excluded),
            faulty=schema.written(host.faulty),
        )

    def host(self) -> Host:
        return schema.copied(
            self,
            Host,
            excluded=schema.read(self.excluded),
            faulty=schema.read(self.faulty),
        )


@dataclass
class HeadroomRow:
    """A value of ``placement/headroom.json``."""

    capacity: int
    used: int


@dataclass
class ServiceRow:
    """A row of ``nova/services.json``."""

    host: str
    binary: str = 'nova-compute'
    state: str | None = None
    status: str | None = None
    zone: str = ''
    disabled_reason: str = ''
    forced_down: bool = False


@dataclass
class AggregateRow:
    """A row of ``nova/aggregates.json``."""

    id: int
    name: str
    uuid: str = ''
    hosts: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    availability_zone: str = ''


@dataclass
class RestartRow:
    """What Kronos did to start an instance again."""

    at: float
    state: str
    acted: bool
    stop: str = ''
    migrate: str = ''
    source: str = ''
    destination: str = ''


@dataclass
class InstanceRow:
    """A row of ``nova/instances.json``."""

    uuid: str
    host: str
    name: str = ''
    internal_name: str = ''
    vcpus: int = 0
    memory_mb: int = 0
    disk_gb: int = 0
    status: str = 'ACTIVE'
    task_state: str | None = None
    power_state: int = 1
    locked: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    extra_specs: dict[str, str] = field(default_factory=dict)
    pinned_availability_zone: str | None = None
    unmovable: str = ''
    misallocated_on: list[str] | None = None
    project_id: str = ''
    flavor: str = ''
    root_gb: int = 0
    ephemeral_gb: int = 0
    swap_mb: int = 0
    is_volume_backed: bool = False
    has_shares: bool = False
    has_key: bool = False
    tied_port: str = ''
    failure: str = ''
    """By ``server_fault_query``; '': none."""
    failed_at: float = 0.0
    dirty_rate: float = 0.0
    """By ``dirty_rate_query``."""
    created: float = 0.0
    guest: str = ''
    stopped_by: str = ''
    restarts: list[RestartRow] = field(default_factory=list)

    @classmethod
    def of(cls, instance: Instance) -> 'InstanceRow':
        return schema.copied(
            instance,
            cls,
            restarts=schema.copies(instance.restarts, RestartRow),
        )

    def instance(self) -> Instance:
        return schema.copied(
            self, Instance, restarts=schema.copies(self.restarts, PastRestart)
        )


@dataclass
class GroupRow:
    """A row of ``nova/server_groups.json``."""

    uuid: str
    policy: str
    members: list[str]
    name: str = ''
    max_server_per_host: int = 1


OF_FAILURES = ('failure', 'failed_at', 'guest', 'stopped_by', 'restarts')
"""Keys of an instance that failed, or that Kronos started again of late."""
OF_FLAVORS = (
    'flavor',
    'root_gb',
    'ephemeral_gb',
    'swap_mb',
    'is_volume_backed',
    'has_shares',
)
"""Keys of an instance of which it is known."""
OF_CELL_MOVES = ('has_key', 'tied_port')
"""Keys of an instance which has what they tell."""
IF_KNOWN = ('dirty_rate', 'created')
"""Keys of an instance of which somebody tells."""
HOSTS = schema.adapter(list[HostRow])
SERVICES = schema.adapter(list[ServiceRow] | None)
AGGREGATES = schema.adapter(list[AggregateRow])
INSTANCES = schema.adapter(list[InstanceRow])
GROUPS = schema.adapter(list[GroupRow])
HEADROOM = schema.adapter(dict[str, dict[str, HeadroomRow]])
TRAITS = schema.adapter(dict[str, list[str]])
