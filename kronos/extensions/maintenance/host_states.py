# SPDX-License-Identifier: Apache-2.0
"""The states of the hosts of a run, derived from what the cloud shows.

Nothing is stored but the reasons of closed hosts: whoever looks next comes to
the same states.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kronos.engine.types import ComputeService, Snapshot
from kronos.extensions.maintenance import closing_reason, maintenance
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.maintenance import Maintenance, RunView


class State(StrEnum):
    """What has become of a host of a run."""

    TO_DO = 'to do'
    EMPTYING = 'emptying'
    HANDED_OVER = 'handed over'
    LATE = 'late'
    """It is emptied for longer than ``drain_timeout``, or handed over for
    longer than ``host_timeout``."""
    RETURNING = 'returning'
    """It is done and serves, and is about to be opened."""
    DONE = 'done'
    FOREIGN = 'foreign'
    """Somebody else has closed it, or has changed the reason: it is theirs."""
    OPENED = 'opened by hand'
    """The run closed it, and somebody opened it before it was done."""
    DOWN = 'down'
    """It is enabled and does not report."""


CLOSED = frozenset(
    {
        State.EMPTYING,
        State.HANDED_OVER,
        State.LATE,
        State.RETURNING,
        State.FOREIGN,
        State.DOWN,
    }
)
"""Those in which a host takes no server."""


@dataclass(frozen=True)
class HostState:
    """The state of one host of a run."""

    host: str
    state: State
    since: float | None = None
    """Unix seconds; None: not known."""
    reason: ClosingReason | None = None
    """Of a host that the run closed."""

    def seconds(self, now: float) -> float:
        """For how long it is in this state; 0: not known."""
        return max(0.0, now - self.since) if self.since is not None else 0.0


def of(snapshot: Snapshot, spec: Maintenance) -> dict[str, HostState]:
    """The state of each host of a run that is in a scope, by name."""
    view = maintenance.view_of(snapshot.beside)
    services = snapshot.services or {}
    return {
        name: state_of(name, services.get(name), view, spec, snapshot.taken_at)
        for name in sorted(set(spec.hosts) & snapshot.hosts.keys())
    }


def unavailable(
    snapshot: Snapshot, states: Mapping[str, HostState]
) -> list[str]:
    """The hosts of a scope that take no server, whoever closed them."""
    services = snapshot.services or {}
    others = {
        name
        for name in snapshot.hosts
        if name not in states
        and not (name in services and services[name].is_available)
    }
    closed = {name for name, row in states.items() if row.state in CLOSED}
    return sorted(others | closed)


def gone(snapshot: Snapshot) -> list[str]:
    """The hosts of a run that have no nova-compute service any more.

    They are in no scope, so each scope counts them as unavailable.
    """
    services = snapshot.services or {}
    missing = maintenance.view_of(snapshot.beside).missing
    return [name for name in missing if name not in services]


def state_of(
    name: str,
    service: ComputeService | None,
    view: RunView,
    spec: Maintenance,
    now: float,
) -> HostState:
    """The state of one host.

    :param now: Unix seconds
    """
    done = not view.unknown and name in view.done
    if service is None or service.status != 'disabled':
        is_up = service is not None and service.is_up
        return HostState(name, _enabled(name, is_up, done, view))
    reason = closing_reason.parsed(service.disabled_reason)
    if reason is None or reason.run != spec.run:
        return HostState(name, State.FOREIGN)
    state, limit = State.HANDED_OVER, spec.host_timeout
    if reason.step is Step.EMPTYING:
        state, limit = State.EMPTYING, spec.drain_timeout or math.inf
    elif done and service.is_up and name in view.ready:
        state, limit = State.RETURNING, math.inf
    if now - reason.since > limit:
        state = State.LATE
    return HostState(name, state, reason.since, reason)


def _enabled(name: str, is_up: bool, done: bool, view: RunView) -> State:
    if not is_up:
        return State.DOWN
    if done:
        return State.DONE
    return State.OPENED if name in view.opened else State.TO_DO
