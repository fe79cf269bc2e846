# SPDX-License-Identifier: Apache-2.0
"""The state of the lab at a moment, by its databases.

Times are Unix seconds. Standard library only.
"""

from dataclasses import dataclass, field

NEVER = float('inf')


class NotDone(Exception):
    """Nothing was done; the text says why."""


@dataclass(frozen=True)
class Server:
    uuid: str
    name: str
    host: str
    """'': none yet."""
    vm_state: str
    task_state: str
    """'': none."""
    fault: str = ''
    """Nova's message and details of the newest one."""


@dataclass(frozen=True)
class Migration:
    id: int
    uuid: str
    server: str
    kind: str
    """live-migration, migration, resize or evacuation."""
    source: str
    destination: str
    status: str
    created_at: float
    updated_at: float


@dataclass(frozen=True)
class Audit:
    uuid: str
    name: str
    strategy: str
    state: str
    next_run: float
    updated_at: float
    status_message: str = ''


@dataclass(frozen=True)
class Plan:
    uuid: str
    audit: str
    strategy: str
    state: str
    applier: str
    """Name of its host; '': none has taken it."""
    created_at: float
    updated_at: float
    status_message: str = ''


@dataclass(frozen=True)
class Action:
    uuid: str
    plan: str
    state: str
    server: str
    source: str
    destination: str
    updated_at: float
    status_message: str = ''


@dataclass(frozen=True)
class Group:
    uuid: str
    policy: str
    per_host: int
    members: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """All of it."""

    at: float
    servers: dict[str, Server] = field(default_factory=dict)
    migrations: tuple[Migration, ...] = ()
    audits: dict[str, Audit] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    groups: tuple[Group, ...] = ()
    allocations: dict[str, frozenset[str]] = field(default_factory=dict)
    """Consumer to the hosts on which it holds something."""


@dataclass(frozen=True)
class Outage:
    """A host or a service that does not serve."""

    name: str
    since: float
    until: float = NEVER


@dataclass(frozen=True)
class Finding:
    """Something that ought not to be."""

    judge: str
    what: str
    """Which rule is broken, and by what."""
    look_at: str
    """Where an engineer begins."""
    is_ours: bool = True
    """Whether Kronos is to blame; else the surroundings."""


class Outages:
    """Those of a run."""

    def __init__(self, known: list[Outage] | None = None) -> None:
        self.known = list(known or [])

    def begin(self, name: str, now: float) -> None:
        self.known.append(Outage(name, now))

    def end(self, name: str, now: float) -> None:
        self.known = [
            Outage(name, one.since, now)
            if one.name == name and one.until == NEVER
            else one
            for one in self.known
        ]

    def open(self, name: str) -> bool:
        return any(
            one.name == name and one.until == NEVER for one in self.known
        )

    def any(self, names: set[str], since: float, until: float) -> bool:
        """Whether one of these was away at any time in between."""
        return any(
            one.name in names and one.since <= until and one.until >= since
            for one in self.known
        )
