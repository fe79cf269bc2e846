# SPDX-License-Identifier: Apache-2.0
"""The snapshot of a scope, and the planner's whole input.

Times are Unix seconds.
"""

from dataclasses import dataclass, field
from typing import Any

from kronos.common.names.name_marks import ScopeName, Uuid
from kronos.engine.settings import Settings
from kronos.engine.types.effects import EffectRatio
from kronos.engine.types.inventory import (
    ComputeService,
    Host,
    Instance,
    ServerGroup,
)
from kronos.engine.types.metrics import PolicyReadings
from kronos.engine.types.migrations import Disruption, Event
from kronos.engine.types.window import ScopeWindow
from kronos.policies.models import Policy


@dataclass
class Seeds:
    """Seconds that are left of each, at the time of the snapshot."""

    aggregate_cooldowns: dict[ScopeName, float] = field(default_factory=dict)
    """By name of a scope."""
    instance_cooldowns: dict[Uuid, float] = field(default_factory=dict)
    """By uuid, as the next."""
    instance_quarantines: dict[Uuid, float] = field(default_factory=dict)
    """-1: for ever."""


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
    """By host; None when os-services failed: the gate stays shut."""
    exclusions_unknown: str = ''
    """Why nobody knows which hosts ``exclude_hosts_query`` excludes: then the
    gate stays shut, too. Empty: it is known, or not asked."""
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
    effects: list[EffectRatio] = field(default_factory=list)
    """Of its earlier plans; a policy that is not among them has none that
    are measured."""
    beside: dict[str, Any] = field(default_factory=dict)
    """What only an extension looks at, by its name."""
    window: ScopeWindow | None = None
    """None: there is none, and its servers may always be moved."""
    disruptions: list[Disruption] = field(default_factory=list)
    """Of the whole cloud, as far back as a budget looks."""

    @property
    def is_open(self) -> bool:
        """Whether owners that agree to moves inside a window agree now."""
        return self.window is None or self.window.is_open


@dataclass
class EarlierMove:
    """A planned move, as far as the scopes planned later may see it."""

    scope: str
    instance: Instance
    source: str
    destination: str
    usage: dict[str, float]
    """By policy in use in the scope that planned it."""


@dataclass
class CycleInput:
    """All that a plan of several scopes is made by."""

    snapshots: list[Snapshot]
    """One per scope, in the order of planning."""
    policies: list[Policy]
    settings: Settings


@dataclass
class PlanningInput:
    """All that the planner is given for one scope."""

    snapshot: Snapshot
    policies: list[Policy]
    settings: Settings
    earlier: list[EarlierMove] = field(default_factory=list)
    """What was planned in the scopes before it."""
