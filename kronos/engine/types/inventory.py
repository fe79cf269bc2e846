# SPDX-License-Identifier: Apache-2.0
"""What the engine takes and gives: plain data with its units, no behaviour.

A :class:`Snapshot` goes in; a :class:`CycleReport` comes out. Scores are
ratios in [0, 1]; memory is in MiB, disk in GiB; times are Unix seconds.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from kronos.engine.eligibility.overrides import Seeds as Seeds
from kronos.engine.types.metrics import Health as Health
from kronos.engine.types.metrics import PolicyReadings as PolicyReadings
from kronos.engine.types.metrics import Reading as Reading
from kronos.engine.types.metrics import Sample as Sample
from kronos.engine.types.migrations import Event as Event
from kronos.engine.types.standings import GroupStanding as GroupStanding
from kronos.engine.types.standings import HostScore as HostScore
from kronos.engine.types.standings import InstanceStanding as InstanceStanding
from kronos.engine.types.standings import PolicyResult as PolicyResult

UNASSIGNED = '_unassigned_'
"""Name of the scope of hosts that are in no aggregate."""


@dataclass
class ComputeService:
    """A row of ``os-services``; a down cell's row has no state (E14)."""

    host: str
    binary: str = 'nova-compute'
    state: str | None = None
    status: str | None = None
    zone: str = ''
    disabled_reason: str = ''
    forced_down: bool = False

    @property
    def is_available(self) -> bool:
        """Whether the host may give or take instances (E11)."""
        return (
            self.state == 'up'
            and self.status == 'enabled'
            and not self.forced_down
        )


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

    name: str
    node: str = ''
    """``hypervisor_hostname``: name of its resource provider."""
    hypervisor_type: str = ''
    availability_zone: str = ''
    headroom: dict[str, Headroom] | None = None
    """By resource class; None when Placement's view is unknown."""
    traits: list[str] = field(default_factory=list)
    closed: str = ''
    """A reason known from elsewhere why it takes nothing, though it counts
    and may give (a recording's ``available: false``)."""
    frozen: str = ''
    """A reason known from elsewhere why it takes no part at all (no cell is
    known of it, though the cells of others are)."""
    cell: str = ''
    """Name of its cell, where an operator told (S15); hosts of different
    cells are never paired (S14)."""


@dataclass
class Instance:
    """A Nova server on a host of the scope."""

    uuid: str
    host: str
    name: str = ''
    internal_name: str = ''
    """``OS-EXT-SRV-ATTR:instance_name``, the libvirt domain."""
    vcpus: int = 0
    memory_mb: int = 0
    disk_gb: int = 0
    """Local disk: root unless volume-backed, ephemeral and swap."""
    status: str = 'ACTIVE'
    task_state: str | None = None
    power_state: int = 1
    locked: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    extra_specs: dict[str, str] = field(default_factory=dict)
    pinned_availability_zone: str | None = None
    unmovable: str = ''
    """A reason known from elsewhere (a recording's ``movable: false``)."""
    project_id: str = ''


@dataclass
class ServerGroup:
    """A Nova server group; ``policy`` merges 2.64 and older forms (E7)."""

    uuid: str
    policy: str
    members: list[str]
    name: str = ''
    max_server_per_host: int = 1


@dataclass
class Snapshot:
    """All that is known of a scope at one moment."""

    scope: str
    hosts: dict[str, Host]
    instances: dict[str, Instance]
    """By uuid; every one of them is on one of ``hosts``."""
    readings: dict[str, PolicyReadings]
    """By name of an enabled policy."""
    services: dict[str, ComputeService] | None = None
    """By host; None when os-services failed: the gate stays shut (E12)."""
    groups: list[ServerGroup] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """What is remembered of moves of its instances and at its hosts."""
    taken_at: float = 0.0
    """Unix seconds; the age of every event is counted from here."""
    warnings: list[str] = field(default_factory=list)
    """What could not be looked at, so that more stays where it is."""
    seeds: Seeds | None = None
    display_names_elsewhere: set[str] = field(default_factory=set)
    """Names of its instances that others, outside of it, have as well."""
    internal_names_elsewhere: set[str] = field(default_factory=set)
    """The same of ``internal_name``, which is unique in a cell only."""


class MigrationPhase(StrEnum):
    EVACUATE = 'evacuate'
    AFFINITY = 'affinity'
    SPREAD = 'spread'
    PACK = 'pack'


@dataclass
class MigrationStep:
    """One planned live migration, with what it does to the scores."""

    scope: str
    phase: MigrationPhase
    instance: str
    instance_name: str
    source: str
    destination: str
    memory_mb: int
    imbalance_before: dict[str, float]
    imbalance_after: dict[str, float]
    combined_before: float
    combined_after: float
    requires: str = ''
    """Uuid of the instance whose move must have succeeded before: the
    other half of a swap, which alone might make a policy worse."""


@dataclass
class VmProfile:
    """What one instance weighs, per policy.

    ``usage`` is in the unit of ``vm_profile_query``; its share of host h
    is usage / capacity(h), capacity being 1 without
    ``host_capacity_query``.
    """

    instance: str
    usage: dict[str, float]


class StopReason(StrEnum):
    """Why planning of a scope ended."""

    BALANCED = 'balanced'
    """Every policy is at or below its threshold (B10)."""
    BUDGET = 'budget'
    STUCK = 'stuck'
    """No legal move improves anything."""
    COOLDOWN = 'cooldown'
    NO_SERVICES = 'no_services'
    """The liveness gate is shut (E12)."""
    NO_POLICY = 'no_policy'
    """No policy could be used, or not all where all are required."""
    TOO_FEW_HOSTS = 'too_few_hosts'
    PACKED = 'packed'
    """No further host can be emptied."""
    DONE = 'done'
    """Neither spread nor pack was asked for, and the rest is planned."""


@dataclass
class Stage:
    """One stage of a cycle in one scope, in the order of A14."""

    name: str
    """``services``, ``score``, ``cooldown``, ``profile``, ``down``,
    ``unavailable``, then the phases that ran."""
    count: int
    """Hosts for the first two, instances for the next, steps for phases."""
    text: str = ''
    """What came of it, where there is something to say."""


@dataclass
class Drain:
    """What becomes of the instances of one host that is to be emptied."""

    host: str
    reason: str
    """Why it is to be emptied."""
    instances: int
    leaving: int
    staying: dict[str, str] = field(default_factory=dict)
    """Instance uuid to the reason why it cannot leave in this plan."""


@dataclass
class Begun:
    """A host that pack empties over several audits, the budget being small."""

    host: str
    instances: int
    """On it before this plan."""
    leaving: int
    """Of these in this plan."""

    @property
    def told(self) -> str:
        """``cmp3: 3 of 7 leave now``"""
        verb = 'leaves' if self.leaving == 1 else 'leave'
        return f'{self.host}: {self.leaving} of {self.instances} {verb} now'


@dataclass
class AggregateResult:
    """The plan of one scope with all its reasons."""

    name: str
    stopped: StopReason
    reason: str
    """``stopped`` as a sentence, with its numbers."""
    stages: list[Stage] = field(default_factory=list)
    policies: list[PolicyResult] = field(default_factory=list)
    steps: list[MigrationStep] = field(default_factory=list)
    combined_before: float = 0.0
    combined_after: float = 0.0
    hosts_over_before: int = 0
    """Hosts further than a threshold above a policy's lowest host."""
    hosts_over_after: int = 0
    availability_zones: dict[str, str] = field(default_factory=dict)
    """By host (F2)."""
    unavailable_hosts: dict[str, str] = field(default_factory=dict)
    """Host to reason: neither source nor destination."""
    unmovable: dict[str, str] = field(default_factory=dict)
    """Instance uuid to reason: it could not move."""
    stayed: dict[str, str] = field(default_factory=dict)
    """Instance uuid to reason, of every instance that does not move."""
    drains: list[Drain] = field(default_factory=list)
    not_drained: dict[str, str] = field(default_factory=dict)
    """Host to reason: it is to be emptied and cannot be (G3)."""
    unmeasured: str = ''
    """Why its drain goes by Placement, or not by all policies that must be
    used, and nothing else is planned; '' where it does not."""
    begun: list[Begun] = field(default_factory=list)
    hosts_in_use_before: int = 0
    """Hosts of the scope with at least one instance."""
    hosts_in_use_after: int = 0
    violations_before: list[str] = field(default_factory=list)
    """Server-group rules that are broken, of the enforced kinds; one text
    per group."""
    violations_after: list[str] = field(default_factory=list)
    groups: list[GroupStanding] = field(default_factory=list)
    """Those with members in the scope, whether they are enforced or not."""
    instances: dict[str, InstanceStanding] = field(default_factory=dict)
    """By uuid, all of the scope, as planning found them."""
    warnings: list[str] = field(default_factory=list)


@dataclass
class CycleReport:
    """What one call of :func:`kronos.engine.planning.propose.propose` decided."""

    scopes: list[AggregateResult] = field(default_factory=list)

    @property
    def steps(self) -> list[MigrationStep]:
        """All steps, scope by scope, in the order they were planned."""
        return [step for scope in self.scopes for step in scope.steps]
