# SPDX-License-Identifier: Apache-2.0
"""The schema of a recording's inventory: hosts, instances, server groups.

The rows are the format's own: what the engine calls otherwise some day is
translated here.
"""

from dataclasses import dataclass, field

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.types import (
    ComputeService,
    Headroom,
    Host,
    Instance,
    PastRestart,
    ServerGroup,
)
from kronos.recordings import schema


@dataclass
class HostRow:
    """A row of ``nova/hosts.json``."""

    name: str
    planned: bool
    """Whether its type is one of ``hypervisor_types``."""
    node: str = ''
    hypervisor_type: str = ''
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
        return cls(
            name=host.name,
            planned=planned,
            node=host.node,
            hypervisor_type=host.hypervisor_type,
            availability_zone=host.availability_zone,
            cell=host.cell,
            closed=host.closed,
            frozen=host.frozen,
            excluded=None
            if host.excluded is None
            else schema.written(host.excluded),
            faulty=None
            if host.faulty is None
            else schema.written(host.faulty),
        )

    def host(self) -> Host:
        return Host(
            name=self.name,
            node=self.node,
            hypervisor_type=self.hypervisor_type,
            availability_zone=self.availability_zone,
            cell=self.cell,
            closed=self.closed,
            frozen=self.frozen,
            excluded=None
            if self.excluded is None
            else schema.read(self.excluded),
            faulty=None if self.faulty is None else schema.read(self.faulty),
        )


@dataclass
class HeadroomRow:
    """A value of ``placement/headroom.json``."""

    capacity: int
    used: int

    @classmethod
    def of(cls, room: Headroom) -> 'HeadroomRow':
        return cls(
            capacity=room.capacity,
            used=room.used,
        )

    def headroom(self) -> Headroom:
        return Headroom(
            capacity=self.capacity,
            used=self.used,
        )


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

    @classmethod
    def of(cls, service: ComputeService) -> 'ServiceRow':
        return cls(
            host=service.host,
            binary=service.binary,
            state=service.state,
            status=service.status,
            zone=service.zone,
            disabled_reason=service.disabled_reason,
            forced_down=service.forced_down,
        )

    def service(self) -> ComputeService:
        return ComputeService(
            host=self.host,
            binary=self.binary,
            state=self.state,
            status=self.status,
            zone=self.zone,
            disabled_reason=self.disabled_reason,
            forced_down=self.forced_down,
        )


@dataclass
class AggregateRow:
    """A row of ``nova/aggregates.json``."""

    id: int
    name: str
    uuid: str = ''
    hosts: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    availability_zone: str = ''

    @classmethod
    def of(cls, aggregate: HostAggregate) -> 'AggregateRow':
        return cls(
            id=aggregate.id,
            name=aggregate.name,
            uuid=aggregate.uuid,
            hosts=aggregate.hosts,
            metadata=aggregate.metadata,
            availability_zone=aggregate.availability_zone,
        )

    def aggregate(self) -> HostAggregate:
        return HostAggregate(
            id=self.id,
            name=self.name,
            uuid=self.uuid,
            hosts=self.hosts,
            metadata=self.metadata,
            availability_zone=self.availability_zone,
        )


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

    @classmethod
    def of(cls, restart: PastRestart) -> 'RestartRow':
        return cls(
            at=restart.at,
            state=restart.state,
            acted=restart.acted,
            stop=restart.stop,
            migrate=restart.migrate,
            source=restart.source,
            destination=restart.destination,
        )

    def restart(self) -> PastRestart:
        return PastRestart(
            at=self.at,
            state=self.state,
            acted=self.acted,
            stop=self.stop,
            migrate=self.migrate,
            source=self.source,
            destination=self.destination,
        )


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
    guest: str = ''
    stopped_by: str = ''
    restarts: list[RestartRow] = field(default_factory=list)

    @classmethod
    def of(cls, instance: Instance) -> 'InstanceRow':
        return cls(
            uuid=instance.uuid,
            host=instance.host,
            name=instance.name,
            internal_name=instance.internal_name,
            vcpus=instance.vcpus,
            memory_mb=instance.memory_mb,
            disk_gb=instance.disk_gb,
            status=instance.status,
            task_state=instance.task_state,
            power_state=instance.power_state,
            locked=instance.locked,
            metadata=instance.metadata,
            tags=instance.tags,
            extra_specs=instance.extra_specs,
            pinned_availability_zone=instance.pinned_availability_zone,
            unmovable=instance.unmovable,
            misallocated_on=instance.misallocated_on,
            project_id=instance.project_id,
            flavor=instance.flavor,
            root_gb=instance.root_gb,
            ephemeral_gb=instance.ephemeral_gb,
            swap_mb=instance.swap_mb,
            is_volume_backed=instance.is_volume_backed,
            has_shares=instance.has_shares,
            has_key=instance.has_key,
            tied_port=instance.tied_port,
            failure=instance.failure,
            failed_at=instance.failed_at,
            dirty_rate=instance.dirty_rate,
            guest=instance.guest,
            stopped_by=instance.stopped_by,
            restarts=[RestartRow.of(one) for one in instance.restarts],
        )

    def instance(self) -> Instance:
        return Instance(
            uuid=self.uuid,
            host=self.host,
            name=self.name,
            internal_name=self.internal_name,
            vcpus=self.vcpus,
            memory_mb=self.memory_mb,
            disk_gb=self.disk_gb,
            status=self.status,
            task_state=self.task_state,
            power_state=self.power_state,
            locked=self.locked,
            metadata=self.metadata,
            tags=self.tags,
            extra_specs=self.extra_specs,
            pinned_availability_zone=self.pinned_availability_zone,
            unmovable=self.unmovable,
            misallocated_on=self.misallocated_on,
            project_id=self.project_id,
            flavor=self.flavor,
            root_gb=self.root_gb,
            ephemeral_gb=self.ephemeral_gb,
            swap_mb=self.swap_mb,
            is_volume_backed=self.is_volume_backed,
            has_shares=self.has_shares,
            has_key=self.has_key,
            tied_port=self.tied_port,
            failure=self.failure,
            failed_at=self.failed_at,
            dirty_rate=self.dirty_rate,
            guest=self.guest,
            stopped_by=self.stopped_by,
            restarts=[one.restart() for one in self.restarts],
        )


@dataclass
class GroupRow:
    """A row of ``nova/server_groups.json``."""

    uuid: str
    policy: str
    members: list[str]
    name: str = ''
    max_server_per_host: int = 1

    @classmethod
    def of(cls, group: ServerGroup) -> 'GroupRow':
        return cls(
            uuid=group.uuid,
            policy=group.policy,
            members=group.members,
            name=group.name,
            max_server_per_host=group.max_server_per_host,
        )

    def group(self) -> ServerGroup:
        return ServerGroup(
            uuid=self.uuid,
            policy=self.policy,
            members=self.members,
            name=self.name,
            max_server_per_host=self.max_server_per_host,
        )


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
HOSTS = schema.adapter(list[HostRow])
SERVICES = schema.adapter(list[ServiceRow] | None)
AGGREGATES = schema.adapter(list[AggregateRow])
INSTANCES = schema.adapter(list[InstanceRow])
GROUPS = schema.adapter(list[GroupRow])
HEADROOM = schema.adapter(dict[str, dict[str, HeadroomRow]])
TRAITS = schema.adapter(dict[str, list[str]])
