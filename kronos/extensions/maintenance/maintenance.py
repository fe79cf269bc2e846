# SPDX-License-Identifier: Apache-2.0
"""The maintenance run: what an audit asks for, and what is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kronos.common.names.name_marks import GroupName, HostName, Text
from kronos.engine.settings import Settings

NAME = 'maintenance'
"""Of the extension."""
NOT_QUERIED = (
    'the hosts that are done were not queried; kronos_maintain queries them'
)
TO_DO = 'it is due for maintenance'
MAINTAINED = 'it is being maintained'
"""Why other audits leave a host alone."""


TURN_SECONDS = 60.0
"""Between two audits, where nobody says otherwise."""
SHUTOFF = 'SHUTOFF'
"""The status of a stopped server."""


class Stopped(StrEnum):
    """What becomes of servers that are SHUTOFF on a host of the run."""

    STAY = 'stay'
    """They stay on the host while it is handed over."""
    BLOCK = 'block'
    """The host is not handed over while it holds any."""


@dataclass(frozen=True)
class Maintenance:
    """Which hosts are maintained, and how many at once."""

    run: GroupName
    """Its name; two audits of one name are one run. An anonymous recording
    has another one, as of a group."""
    hosts: tuple[HostName, ...]
    """The hosts to be maintained, by name, in no order."""
    at_once: int = 1
    """Hosts of a scope that may be unavailable, whoever closed them."""
    at_once_per_az: int | None = None
    """The same of each availability zone; None: any number."""
    done_query: Text = ''
    """PromQL that returns the hosts that are done; '': that of [kronos]."""
    ready_query: Text = ''
    """PromQL that returns the hosts that may serve; '': all that are done."""
    seed_hosts: int = 1
    """Hosts that may be emptied onto hosts that are to be done later."""
    stopped: Stopped = Stopped.STAY
    host_timeout: float = 3600.0
    """Seconds for which a host may be handed over."""
    drain_timeout: float | None = None
    """Seconds for which a host may be emptied; None: any time."""
    work_time: float = 1200.0
    """Seconds for which the work on a host is expected to take."""
    max_late: int = 1
    """So many late hosts, and no further one is closed."""
    reopen: bool = True
    """Whether a host that is done is enabled again."""


@dataclass
class RunView:
    """What a snapshot, or an inventory, keeps of a run."""

    unknown: Text = ''
    """Why nobody knows which hosts are done; '': it is known."""
    done: list[HostName] = field(default_factory=list)
    """The hosts of the run that ``done_query`` returns."""
    ready: list[HostName] = field(default_factory=list)
    """Those of them that ``ready_query`` returns, too."""
    missing: list[HostName] = field(default_factory=list)
    """Hosts of the run that Nova does not have, or that are in no scope."""
    opened: list[HostName] = field(default_factory=list)
    """Hosts that the run closed, and that somebody else opened."""
    moved: int = 0
    """Servers that the run has moved so far."""
    moved_twice: int = 0
    """Those of them that it has moved more than once."""
    balancing: list[Text] = field(default_factory=list)
    """Names of live audits that balance the hosts meanwhile."""
    concurrent: int = 2
    """Moves of a scope that may run at a time."""
    in_hand: list[HostName] = field(default_factory=list)
    """Hosts that started plans of the run close, empty, hand over or open:
    they are left to those."""
    turn_seconds: float = TURN_SECONDS
    """From one audit of the run to the next."""
    plans_at_once: int = 0
    """Plans of the run that Watcher carries out side by side; 0: not known,
    which counts as one."""
    is_forced: bool = True
    """Whether the audit plans while plans of Watcher run."""


def of(settings: Settings) -> Maintenance | None:
    """What the audit asks for; None if it maintains nothing."""
    spec = settings.extension.asked
    return spec if isinstance(spec, Maintenance) else None


def view_of(beside: Mapping[str, Any]) -> RunView:
    """What is kept of a run; without, nobody knows which hosts are done."""
    view = beside.get(NAME)
    return view if isinstance(view, RunView) else RunView(NOT_QUERIED)
