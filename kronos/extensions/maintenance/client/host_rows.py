# SPDX-License-Identifier: Apache-2.0
"""The rows of the hosts of a run: what Nova and Watcher show of each.

The client does not ask Prometheus: that a host is done shows by its opening.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kronos.common import plain_text
from kronos.engine.faults import Fault
from kronos.engine.types import ComputeService, Instance
from kronos.extensions.maintenance import host_states
from kronos.extensions.maintenance.client import run_history
from kronos.extensions.maintenance.client.run_history import RunHistory
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import (
    SHUTOFF,
    Maintenance,
    RunView,
)

OPENED = 'somebody enabled the host before it was done'
DOWN = 'nova-compute on the host does not report'
MISSING = 'Nova has no nova-compute on a host of this name'
OCCUPIED = 'servers run on the host that came after it was handed over'
UNSURE = 'the host may be done since before the run'


@dataclass
class HostRow:
    """A host of a run; what is not known is None."""

    host: str
    state: State | None
    since: float | None = None
    """Unix seconds."""
    running: int | None = None
    stopped: int | None = None
    moves: int = 0
    """Servers that the run has taken from it."""
    reason_code: str | None = None
    reason: str | None = None
    """Why it gets no further."""
    is_own: bool = False
    """Whether the run has closed it, and it is closed."""


def of(
    spec: Maintenance,
    services: Mapping[str, ComputeService],
    history: RunHistory,
    now: float,
) -> list[HostRow]:
    """The row of each host of a run, by name.

    :param now: Unix seconds
    """
    done = [name for name in spec.hosts if history.of_host(name).is_reopened]
    opened = [
        name
        for name in spec.hosts
        if history.of_host(name).closed is not None and name not in done
    ]
    view = RunView(done=done, ready=done, opened=opened)
    rows = [
        _row(name, services.get(name), view, spec, history, now)
        for name in spec.hosts
    ]
    _count_done(rows, history)
    return rows


def _row(
    name: str,
    service: ComputeService | None,
    view: RunView,
    spec: Maintenance,
    history: RunHistory,
    now: float,
) -> HostRow:
    if service is None:
        return HostRow(name, None, reason=MISSING)
    derived = host_states.state_of(name, service, view, spec, now)
    past = history.of_host(name)
    row = HostRow(
        name,
        derived.state,
        derived.since,
        moves=past.moves,
        is_own=derived.reason is not None,
    )
    if derived.state is State.DONE:
        row.since = past.reopened
    elif derived.state is State.FOREIGN:
        row.reason_code = Fault.HOST_TAKEN_OVER.value
        row.reason = plain_text.line(service.disabled_reason)
    elif derived.state is State.OPENED:
        row.reason = OPENED
    elif derived.state is State.DOWN:
        row.reason = DOWN
    elif past.failure is not None:
        row.reason_code = past.failure.fault or None
        row.reason = run_history.reason_of(past.failure)
    return row


def _count_done(rows: list[HostRow], history: RunHistory) -> None:
    """Note which hosts were done before the run, as far as counts tell."""
    untouched = [row for row in rows if row.state is State.TO_DO]
    before = _done_before(history)
    if before is not None and before <= 0:
        return
    for row in untouched:
        if before is not None and before >= len(untouched):
            row.state = State.DONE
        else:
            row.state, row.reason = None, UNSURE


def _done_before(history: RunHistory) -> float | None:
    """How many hosts are done that the run never closed."""
    total = history.hosts_done
    if history.plan is None or total is None:
        return None
    opened = [
        past.reopened
        for past in history.hosts.values()
        if past.is_reopened and past.reopened is not None
    ]
    return total - sum(moment <= history.plan.created for moment in opened)


def count_servers(row: HostRow, servers: Iterable[Instance]) -> None:
    """Note how many servers a host has, by what they do.

    One that is handed over and has some that run is occupied.
    """
    statuses = [server.status for server in servers]
    row.stopped = sum(status == SHUTOFF for status in statuses)
    row.running = len(statuses) - row.stopped
    if row.running and row.state is State.HANDED_OVER:
        row.state, row.reason = State.OCCUPIED, OCCUPIED
