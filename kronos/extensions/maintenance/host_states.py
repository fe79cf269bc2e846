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
    OCCUPIED = 'occupied'
    """It was handed over, and holds a server that runs: it was started since,
    and leaves it again."""
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
        State.OCCUPIED,
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
    is_occupied: bool = False
    """Whether it holds a server that is not SHUTOFF."""

    @property
    def is_emptied(self) -> bool:
        """Whether servers are to leave it now."""
        if self.reason is None:
            return False
        is_back = self.is_occupied and self.state is not State.RETURNING
        return self.reason.step is Step.EMPTYING or is_back

    def seconds(self, now: float) -> float:
        """For how long it is in this state; 0: not known."""
        return max(0.0, now - self.since) if self.since is not None else 0.0


def of(snapshot: Snapshot, spec: Maintenance) -> dict[str, HostState]:
    """The state of each host of a run that is in a scope, by name."""
    view = maintenance.view_of(snapshot.beside)
    services = snapshot.services or {}
    occupied = {
        server.host
        for server in snapshot.instances.values()
        if server.status != maintenance.SHUTOFF
    }
    return {
        name: state_of(
            name,
            services.get(name),
            view,
            spec,
            snapshot.taken_at,
            name in occupied,
        )
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


def gone(snapshot: Snapshot, spec: Maintenance) -> list[str]:
    """The hosts of a run that have left the scope, and are unavailable.

    Nova has no nova-compute on them any more, or is about to delete it: the
    run has closed them, and they are in no scope. Each scope counts them.
    """
    services = snapshot.services or {}
    missing = maintenance.view_of(snapshot.beside).missing
    return [
        name
        for name in missing
        if name not in services or _is_closed_by(services[name], spec.run)
    ]


def _is_closed_by(service: ComputeService, run: str) -> bool:
    reason = closing_reason.parsed(service.disabled_reason)
    return (
        service.status == 'disabled'
        and reason is not None
        and reason.run == run
    )


def state_of(
    name: str,
    service: ComputeService | None,
    view: RunView,
    spec: Maintenance,
    now: float,
    is_occupied: bool = False,
) -> HostState:
    """The state of one host.

    :param now: Unix seconds
    :param is_occupied: whether it holds a server that is not SHUTOFF
    """
    done = not view.unknown and name in view.done
    if service is None or service.status != 'disabled':
        is_up = service is not None and service.is_up
        state = _enabled(name, is_up, done, view)
        return HostState(name, state, is_occupied=is_occupied)
    reason = closing_reason.parsed(service.disabled_reason)
    if reason is None or reason.run != spec.run:
        return HostState(name, State.FOREIGN, is_occupied=is_occupied)
    state, limit = State.HANDED_OVER, spec.host_timeout
    if reason.step is Step.EMPTYING:
        state, limit = State.EMPTYING, spec.drain_timeout or math.inf
    elif done and service.is_up and name in view.ready:
        state, limit = State.RETURNING, math.inf
    elif is_occupied:
        state = State.OCCUPIED
    if now - reason.since > limit:
        state = State.LATE
    return HostState(name, state, reason.since, reason, is_occupied)


def _enabled(name: str, is_up: bool, done: bool, view: RunView) -> State:
    if not is_up:
        return State.DOWN
    if done:
        return State.DONE
    return State.OPENED if name in view.opened else State.TO_DO
