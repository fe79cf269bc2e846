# SPDX-License-Identifier: Apache-2.0
"""How does a scope stand: its policies, its instances, its server groups?

Of before the first move and after the last one. Scores are ratios.
"""

from dataclasses import dataclass, field

from kronos.engine.types.metrics import Health
from kronos.policies.models import Mode


@dataclass
class HostScore:
    """One host's value for one policy; ``normalized`` is for show (B3)."""

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
    """The reason, if the policy was not used (B4, L5, L8)."""
    health: Health = Health.HEALTHY
    scores: list[HostScore] = field(default_factory=list)
    """By host name; only hosts that count in max and min."""
    missing_hosts: list[str] = field(default_factory=list)
    unmatched_labels: list[str] = field(default_factory=list)
    """Label values that are no host of the scope (B17, B18)."""
    imbalance_before: float = 0.0
    imbalance_after: float = 0.0


@dataclass
class InstanceStanding:
    """An instance where planning found it; the steps tell where it goes."""

    name: str
    host: str


@dataclass
class GroupStanding:
    """A server group, as far as it is in the scope (E5)."""

    uuid: str
    name: str
    policy: str
    most_per_host: int
    """So many members may share a host, if they are to be apart."""
    enforced: bool
    """Whether its rule was to be repaired, had it been broken (H1-H3)."""
    members: list[str]
    """Uuids of those in the scope."""
    elsewhere: int
    """How many other members there are, which the rule does not count."""
    broken_before: str = ''
    """What is wrong with it; empty if all is well."""
    broken_after: str = ''
