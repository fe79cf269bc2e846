# SPDX-License-Identifier: Apache-2.0
"""The inventory of a cloud: hosts, instances, server groups.

Memory is in MiB, disk in GiB.
"""

import math
from dataclasses import dataclass, field

from kronos.common.names.name_marks import (
    CellName,
    DomainName,
    FlavorName,
    GroupName,
    HostName,
    ProjectName,
    ServerName,
    Text,
    Uuid,
    ZoneName,
)

UNASSIGNED = '_unassigned_'
"""Name of the scope of hosts that are in no aggregate."""


BY_NOVA = 'AUTO: '
"""With this begins the reason of a nova-compute that disabled itself, such as
"AUTO: Connection to libvirt lost: 1"."""
BY_KRONOS = 'KRONOS: '
"""With this begins the reason of a nova-compute that Kronos disabled."""


@dataclass
class ComputeService:
    """A row of ``os-services``; a down cell's row has no state."""

    host: HostName
    binary: Text = 'nova-compute'
    state: Text | None = None
    status: Text | None = None
    zone: ZoneName = ''
    disabled_reason: Text = ''
    forced_down: bool = False

    @property
    def has_hypervisor(self) -> bool:
        """Whether nova-compute has not disabled itself for want of one.

        That is no wish of an operator, and passes as soon as libvirtd is
        back; until then nothing can be moved from or to the host.
        """
        by_itself = self.disabled_reason.startswith(BY_NOVA)
        return self.status != 'disabled' or not by_itself

    @property
    def is_closed_by_kronos(self) -> bool:
        """Whether Kronos disabled it, because its host was at fault."""
        by_us = self.disabled_reason.startswith(BY_KRONOS)
        return self.status == 'disabled' and by_us

    @property
    def is_up(self) -> bool:
        """Whether it reports, enabled or not."""
        return self.state == 'up' and not self.forced_down

    @property
    def is_available(self) -> bool:
        """Whether the host may give or take instances."""
        return self.is_up and self.status == 'enabled'


@dataclass
class Headroom:
    """One resource class of one host (source: Placement).

    ``capacity`` is (total - reserved) * allocation ratio; ``used`` holds
    all allocations, those of migrations under way included.
    """

    capacity: int
    used: int


@dataclass
class Host:
    """A nova-compute service host of the scope."""

    name: HostName
    node: HostName = ''
    """``hypervisor_hostname``: name of its resource provider."""
    hypervisor_type: Text = ''
    availability_zone: ZoneName = ''
    headroom: dict[Text, Headroom] | None = None
    """By resource class; None when Placement's view is unknown."""
    traits: list[Text] = field(default_factory=list)
    closed: Text = ''
    """A reason known from elsewhere why it takes nothing, though it counts
    and may give (a recording's ``available: false``)."""
    excluded: float | None = None
    """What ``exclude_hosts_query`` gives for it, if that is not 0: it takes
    nothing, though it counts and may give. None: it does not exclude it."""
    faulty: float | None = None
    """What ``host_fault_query`` gives for it, if that is not 0. None: it is
    not at fault, or nobody asked."""
    frozen: Text = ''
    """A reason known from elsewhere why it takes no part at all (no cell is
    known of it, though the cells of others are)."""
    cell: CellName = ''
    """Name of its cell, where an operator told; hosts of different
    cells are never paired."""
    hypervisor_version: int = 0
    """As Nova numbers it: 8002001 is 8.2.1; 0: not known."""


@dataclass
class Flavor:
    """A flavor as the cloud has it now."""

    id: Text
    name: FlavorName
    vcpus: int
    memory_mb: int
    root_gb: int = 0
    ephemeral_gb: int = 0
    swap_mb: int = 0
    extra_specs: dict[Text, Text] = field(default_factory=dict)

    def demand(self, is_volume_backed: bool) -> dict[str, int]:
        """What a server of it asks Placement for, by resource class."""
        root = 0 if is_volume_backed else self.root_gb
        disk = root + self.ephemeral_gb + math.ceil(self.swap_mb / 1024)
        return {
            'VCPU': self.vcpus,
            'MEMORY_MB': self.memory_mb,
            'DISK_GB': disk,
        }


ASKED = '?'
"""Stands for the id of a request that Nova was about to be asked for, by an
action whose applier may have died before it learned the id."""


@dataclass
class PastRestart:
    """A restart of an instance by Kronos, as its action's row tells."""

    at: float
    """Unix seconds: when its row was last written."""
    state: Text
    """Of the action, in Watcher's words."""
    acted: bool
    """Whether it began to do something to the server."""
    stop: Text = ''
    """Id of its request to stop the server; '': none, or not known."""
    migrate: Text = ''
    """Id of its request for a cold migration; '' as above."""
    source: HostName = ''
    """The server's host before; '': not known."""
    destination: HostName = ''
    """The host where it was to be started; '': not known."""


@dataclass
class Instance:
    """A Nova server on a host of the scope."""

    uuid: Uuid
    host: HostName
    name: ServerName = ''
    internal_name: DomainName = ''
    """``OS-EXT-SRV-ATTR:instance_name``, the libvirt domain."""
    vcpus: int = 0
    memory_mb: int = 0
    disk_gb: int = 0
    """Local disk: root unless volume-backed, ephemeral and swap."""
    status: Text = 'ACTIVE'
    task_state: Text | None = None
    power_state: int = 1
    locked: bool = False
    metadata: dict[Text, Text] = field(default_factory=dict)
    tags: list[Text] = field(default_factory=list)
    extra_specs: dict[Text, Text] = field(default_factory=dict)
    pinned_availability_zone: ZoneName | None = None
    unmovable: Text = ''
    """A reason known from elsewhere (a recording's ``movable: false``)."""
    misallocated_on: list[HostName] | None = None
    """The nodes on which Placement holds it instead of its host's alone; None:
    it does not, or nobody asked."""
    project_id: ProjectName = ''
    flavor: FlavorName = ''
    """The name that its flavor had when the server got it."""
    root_gb: int = 0
    """Of its flavor, as the next two."""
    ephemeral_gb: int = 0
    swap_mb: int = 0
    is_volume_backed: bool = False
    has_shares: bool = False
    """Whether Manila shares are attached; only a cell drain asks."""
    has_key: bool = False
    """Whether a key pair was injected into it."""
    tied_port: Text = ''
    """What a port of it has that ties it to its cell, such as ``a resource
    request``; '': nothing, or nobody asked, as only a cell drain does."""
    failure: Text = ''
    """The kind of failure that ``server_fault_query`` tells of it, such as
    ``io_error``; '': none, or nobody asked."""
    failed_at: float = 0.0
    """Unix seconds: when that was last said."""
    dirty_rate: float = 0.0
    """Bytes per second that its guest writes to memory; 0: next to none, or
    nobody asked."""
    created: float = 0.0
    """Unix seconds: when it was created; 0: not known."""
    guest: Text = ''
    """Of one that failed, what its hypervisor says: ``running`` or ``off``;
    '': nobody can tell, or nobody asked."""
    stopped_by: Text = ''
    """Of one that failed and is SHUTOFF, or that a restart acted on and is in
    VERIFY_RESIZE, who asked for that: ``nova`` itself, ``kronos`` in a
    restart, or ``user``; '': not known, or not asked."""
    restarts: list[PastRestart] = field(default_factory=list)
    """What Kronos did of late to start it again, the oldest first."""

    @property
    def demand(self) -> dict[str, int]:
        """What it asks Placement for, by resource class."""
        return {
            'VCPU': self.vcpus,
            'MEMORY_MB': self.memory_mb,
            'DISK_GB': self.disk_gb,
        }


@dataclass
class ServerGroup:
    """A Nova server group; ``policy`` merges 2.64 and older forms."""

    uuid: Uuid
    policy: Text
    members: list[Uuid]
    name: GroupName = ''
    max_server_per_host: int = 1
