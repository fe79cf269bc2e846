# SPDX-License-Identifier: Apache-2.0
"""The plan of a cycle: steps, and how each scope stands before and after.

Scores are ratios, memory is in MiB.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from kronos.engine.extension import Phase, ReasonCode
from kronos.engine.reasons import Code, Reason
from kronos.engine.types.bounds import Certificate, PackingBound
from kronos.engine.types.disruption import BudgetStanding, ConsentStanding
from kronos.engine.types.metrics import Health
from kronos.engine.types.migrations import Shares
from kronos.engine.types.rest import Rest
from kronos.engine.types.window import ScopeWindow
from kronos.policies.models import Mode


class MigrationPhase(Phase):
    """The phases of the trunk."""

    EVACUATE = 'evacuate'
    AFFINITY = 'affinity'
    RELIEVE = 'relieve'
    SPREAD = 'spread'
    PACK = 'pack'


@dataclass
class MigrationStep:
    """One planned migration, with what it does to the scores."""

    scope: str
    phase: Phase
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
    why: str = ''
    """What it is made for, where an extension says so."""
    how: Any = None
    """How an extension has it carried out; None: it is a live migration."""
    copied_mb: int = 0
    """Of memory, and of disk where a block migration is to be expected; 0:
    not known, as the next, where an extension has another way."""
    seconds: float = 0.0
    """How long it is expected to take."""
    rest_before: float | None = None
    """Combined imbalance of the hosts that are not set aside, where it is
    made for their sake; else None."""
    rest_after: float | None = None
    effect: dict[str, Shares] = field(default_factory=dict)
    """By policy what it should change at either end."""

    @property
    def gain(self) -> float:
        """How far that falls which it is made for; below 0: it grows."""
        if self.rest_before is not None and self.rest_after is not None:
            return self.rest_before - self.rest_after
        return self.combined_before - self.combined_after


@dataclass
class Closing:
    """A host whose nova-compute is to be disabled before anything leaves."""

    host: str
    reason: Reason


@dataclass
class HostScore:
    """One host's value for one policy; ``normalized`` is for show."""

    host: str
    value: float
    normalized: float
    after: float | None = None
    """The value with the whole plan made; never clamped. None: not known."""


@dataclass
class PolicyResult:
    """How one policy fared in one scope."""

    name: str
    weight: float
    """In force: scaled to sum to 1 over the policies in use; 0 skipped."""
    threshold: float
    """No matter in mode pack, as ``capacity_threshold`` in mode spread."""
    mode: Mode = Mode.SPREAD
    capacity_threshold: float = 1.0
    skipped: str = ''
    """The reason, if the policy was not used."""
    health: Health = Health.HEALTHY
    scores: list[HostScore] = field(default_factory=list)
    """By host name; only hosts that count in max and min."""
    missing_hosts: list[str] = field(default_factory=list)
    unmatched_labels: list[str] = field(default_factory=list)
    """Label values that are no host of the scope."""
    imbalance_before: float = 0.0
    imbalance_after: float = 0.0


@dataclass(slots=True)
class InstanceStanding:
    """An instance where planning found it; the steps tell where it goes."""

    name: str
    host: str


@dataclass
class GroupStanding:
    """A server group, as far as it is in the scope."""

    uuid: str
    name: str
    policy: str
    most_per_host: int
    """So many members may share a host, if they are to be apart."""
    enforced: bool
    """Whether its rule was to be repaired, had it been broken."""
    members: list[str]
    """Uuids of those in the scope."""
    elsewhere: int
    """How many other members there are, which the rule does not count."""
    broken_before: str = ''
    """What is wrong with it; empty if all is well."""
    broken_after: str = ''


class Stop(StrEnum):
    """Why planning of a scope ended, with its code as a reason.

    One of the trunk's, or of an extension's own.
    """

    code: ReasonCode

    def __new__(cls, value: str, code: ReasonCode) -> Self:
        stop = str.__new__(cls, value)
        stop._value_ = value
        stop.code = code
        return stop


class StopReason(Stop):
    """The ends of the trunk."""

    BALANCED = 'balanced', Code.SCOPE_BALANCED
    """Every policy is at or below its threshold."""
    BUDGET = 'budget', Code.BUDGET_USED
    STUCK = 'stuck', Code.SCOPE_STUCK
    """No legal move improves anything."""
    COOLDOWN = 'cooldown', Code.SCOPE_COOLDOWN
    NO_SERVICES = 'no_services', Code.SCOPE_NO_SERVICES
    """The liveness gate is shut."""
    EXCLUSIONS_UNKNOWN = 'exclusions_unknown', Code.SCOPE_EXCLUSIONS_UNKNOWN
    """So it is: ``exclude_hosts_query`` gave no answer that can be used."""
    FAILURES_UNKNOWN = 'failures_unknown', Code.SCOPE_FAILURES_UNKNOWN
    """Nobody knows which hosts are at fault, or which servers failed."""
    TOO_MANY_AT_FAULT = 'too_many_at_fault', Code.SCOPE_TOO_MANY_AT_FAULT
    """More hosts are at fault, or were closed, than may be closed."""
    WINDOW = 'window', Code.SCOPE_WINDOW
    """Its window is closed."""
    WINDOW_UNUSABLE = 'window_unusable', Code.SCOPE_WINDOW_UNUSABLE
    """Nobody knows whether its window is open."""
    WINDOW_TOO_SHORT = 'window_too_short', Code.WINDOW_TOO_SHORT
    """No move would end before its window closes."""
    NO_POLICY = 'no_policy', Code.SCOPE_NO_POLICY
    """No policy could be used, or not all where all are required."""
    TOO_FEW_HOSTS = 'too_few_hosts', Code.SCOPE_TOO_FEW_HOSTS
    PACKED = 'packed', Code.SCOPE_PACKED
    """No further host can be emptied."""
    DONE = 'done', Code.SCOPE_DONE
    """Neither spread nor pack was asked for, and the rest is planned."""


@dataclass
class Stage:
    """One stage of a cycle in one scope, in their order."""

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
    staying: dict[str, Reason] = field(default_factory=dict)
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
    def text(self) -> str:
        """``cmp3: 3 of 7 leave now``"""
        verb = 'leaves' if self.leaving == 1 else 'leave'
        return f'{self.host}: {self.leaving} of {self.instances} {verb} now'


@dataclass
class AggregateResult:
    """The plan of one scope with all its reasons."""

    name: str
    stopped: Stop
    reason: str
    """``stopped`` as a sentence, with its numbers."""
    search: str = ''
    """The search that spread it; '' where nothing was spread."""
    certificate: Certificate | None = None
    """What no other plan gets below; None where nothing was spread."""
    rest: Rest | None = None
    """The hosts that no migration helps, and how the others are without
    them; None where none was set aside."""
    packing: PackingBound | None = None
    """How many hosts can be emptied; None where nothing was packed."""
    stages: list[Stage] = field(default_factory=list)
    policies: list[PolicyResult] = field(default_factory=list)
    steps: list[MigrationStep] = field(default_factory=list)
    combined_before: float = 0.0
    combined_after: float = 0.0
    hosts_over_before: int = 0
    """Hosts further than a threshold above a policy's lowest host."""
    hosts_over_after: int = 0
    availability_zones: dict[str, str] = field(default_factory=dict)
    """By host."""
    unavailable_hosts: dict[str, Reason] = field(default_factory=dict)
    """Host to reason: neither source nor destination."""
    unmovable: dict[str, Reason] = field(default_factory=dict)
    """Instance uuid to reason: it could not move."""
    stayed: dict[str, Reason] = field(default_factory=dict)
    """Instance uuid to reason, of every instance that does not move."""
    closings: list[Closing] = field(default_factory=list)
    """Hosts that the plan closes, before their instances leave."""
    beside: dict[str, Any] = field(default_factory=dict)
    """What only an extension tells, by its name."""
    drains: list[Drain] = field(default_factory=list)
    not_drained: dict[str, Reason] = field(default_factory=dict)
    """Host to reason: it is to be emptied and cannot be."""
    unmeasured: str = ''
    """Why its drain goes by Placement, or not by all policies that must be
    used, and nothing else is planned; '' where it does not."""
    effect_limit: str = ''
    """How ``canary_moves`` limits the migrations for balance, and why; '' if
    it does not."""
    window: ScopeWindow | None = None
    """None: there is none."""
    window_limit: str = ''
    """Why the plan ends before its budget is used; '' where it does not."""
    budgets: list[BudgetStanding] = field(default_factory=list)
    """Of each kind that there is."""
    consents: list[ConsentStanding] = field(default_factory=list)
    """The strictest first; servers without a wish that counts are missing."""
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

    @property
    def policies_used(self) -> int:
        """How many policies said something of a host.

        With none of them an imbalance of 0 is no balance: nothing is known.
        """
        return sum(bool(policy.scores) for policy in self.policies)

    @property
    def policies_skipped(self) -> dict[str, str]:
        """By policy why it was not judged."""
        return {
            policy.name: policy.skipped
            for policy in self.policies
            if policy.skipped
        }


@dataclass
class CycleReport:
    """What one call of :func:`.propose.propose` decided."""

    scopes: list[AggregateResult] = field(default_factory=list)
    seconds: float = 0.0
    """How long all of it is expected to take within the limits."""

    @property
    def steps(self) -> list[MigrationStep]:
        """All steps, scope by scope, in the order they were planned."""
        return [step for scope in self.scopes for step in scope.steps]

    @property
    def closings(self) -> list[tuple[str, Closing]]:
        """Each host that is closed, with the first scope that says so."""
        by_host: dict[str, tuple[str, Closing]] = {}
        for scope in self.scopes:
            for closing in scope.closings:
                by_host.setdefault(closing.host, (scope.name, closing))
        return list(by_host.values())
