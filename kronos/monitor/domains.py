# SPDX-License-Identifier: Apache-2.0
"""The domains as a hypervisor has them now, and as a source tells of them."""

from dataclasses import dataclass, field
from enum import StrEnum

from kronos.monitor.events import Kind
from kronos.monitor.nova_metadata import Metadata


class State(StrEnum):
    RUNNING = 'RUNNING'
    PAUSED = 'PAUSED'
    SHUTTING_DOWN = 'SHUTDOWN'
    SHUTOFF = 'SHUTOFF'
    CRASHED = 'CRASHED'
    """The guest's kernel gave up; its process may be there still."""
    SLEEPING = 'PMSUSPENDED'
    UNKNOWN = 'UNKNOWN'


INCOMING = 'INCOMING'
"""A migration brings the server here, and it still runs at its source. The
domain is gone if that fails."""
INCOMING_DEFINED = 'INCOMING_DEFINED'
"""The same, of a domain that was defined before: that stays."""
LEAVING = 'MIGRATION'
"""A migration has paused the server at its source, and has not said yet
whether it arrived."""
HANDED_OVER = 'POSTCOPY'
"""The server runs at its destination, and a part of its memory is here."""
POSTCOPY_FAILED = 'POSTCOPY_FAILED'
"""The server was handed over to this host, and a part of its memory was
not."""
NOT_ARRIVED = 'NOT_ARRIVED'
"""Of one that is off: what a migration had here of the server is gone."""
ELSEWHERE = (INCOMING, INCOMING_DEFINED, HANDED_OVER)
"""Reasons of a pause with which the server is not run by this host."""
FAILURES = {
    (State.SHUTOFF, 'CRASHED'): Kind.CRASH,
    (State.PAUSED, 'CRASHED'): Kind.PANIC,
    (State.PAUSED, 'IOERROR'): Kind.IO_ERROR,
    (State.PAUSED, 'WATCHDOG'): Kind.HANG,
    (State.PAUSED, POSTCOPY_FAILED): Kind.POSTCOPY_FAILED,
    (State.PAUSED, 'API_ERROR'): Kind.PAUSED,
}
"""What a state and its reason tell of the past."""


@dataclass
class Domain:
    """A domain at one moment."""

    instance: str
    name: str
    state: State
    reason: str
    """In the hypervisor's words; :data:`FAILURES` has those that matter."""
    run: int | None = None
    """As of :class:`kronos.monitor.events.Event`; None: it does not run."""
    metadata: Metadata | None = None
    """None: it could not be read."""
    is_current: bool = True
    """Whether the state is the domain's own. A hypervisor that has just
    started shows the last one that it saw, until it has looked at the domain;
    no event reports what it sees then."""


@dataclass
class Listing:
    """All domains, listed after events were subscribed to.

    So what happened before is in it, and what happens later follows it.
    """

    moment: float
    """Unix seconds."""
    domains: list[Domain] = field(default_factory=list)


@dataclass
class Gone:
    """A domain that was looked at is not there."""

    instance: str


@dataclass
class Away:
    """The hypervisor is away: no events come until the next listing."""

    moment: float
    why: str


def failure_of(domain: Domain) -> Kind | None:
    """What a domain's state tells of its past; None: no failure."""
    if domain.state is State.CRASHED:
        return Kind.PANIC
    return FAILURES.get((domain.state, domain.reason))
