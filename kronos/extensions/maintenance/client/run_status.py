# SPDX-License-Identifier: Apache-2.0
"""The status of a run, and the exit status that it comes to."""

from dataclasses import dataclass
from enum import StrEnum

from kronos.engine import wording
from kronos.extensions.maintenance import host_states
from kronos.extensions.maintenance.client import runs
from kronos.extensions.maintenance.client.exit_status import ExitStatus
from kronos.extensions.maintenance.client.host_rows import HostRow
from kronos.extensions.maintenance.client.run_history import RunHistory
from kronos.extensions.maintenance.client.runs import Run
from kronos.extensions.maintenance.host_states import State

STUCK = (State.FOREIGN, State.OPENED, State.DOWN)
"""States that a person has to end."""
ORDER = (State.EMPTYING, State.HANDED_OVER, State.RETURNING, State.DONE)
"""States that hosts pass one after the other."""


class RunState(StrEnum):
    """What a run does."""

    WAITING = 'waiting'
    """No decision engine has taken its audit yet."""
    RUNNING = 'running'
    BLOCKED = 'blocked'
    """No host is closed by it, and its newest plan closes none."""
    PAUSED = 'paused'
    DONE = 'done'
    """All of its hosts are."""
    ENDED = 'ended'
    """It has no live audit, and hosts are not done."""


@dataclass
class RunStatus:
    """What is known of a run; times are Unix seconds."""

    run: Run
    hosts: list[HostRow]
    history: RunHistory

    @property
    def state(self) -> RunState:
        audit = self.run.audit
        if all(row.state is State.DONE for row in self.hosts):
            return RunState.DONE
        if not audit.is_live:
            return RunState.ENDED
        if audit.state == runs.SUSPENDED:
            return RunState.PAUSED
        if self.history.plan is None:
            return RunState.WAITING
        if not self.own and not self.history.plan.moves:
            return RunState.BLOCKED
        return RunState.RUNNING

    @property
    def own(self) -> list[HostRow]:
        """Hosts that the run has closed."""
        return [row for row in self.hosts if row.is_own]

    @property
    def closed(self) -> int:
        """Hosts of the run that take no server, whoever closed them."""
        return sum(row.state in host_states.CLOSED for row in self.hosts)

    def host(self, name: str) -> HostRow | None:
        return next((row for row in self.hosts if row.host == name), None)


def exit_status(
    status: RunStatus, state: State, host: str | None = None
) -> ExitStatus:
    """Whether it is reached, and else what keeps it.

    :param state: in which a host is to be
    :param host: None: each host of the run
    """
    rows = [row for row in status.hosts if host in (None, row.host)]
    if all(_has_reached(row, state) for row in rows):
        return ExitStatus.REACHED
    if any(row.state is State.LATE for row in rows):
        return ExitStatus.LATE
    run_state = status.state
    if run_state is RunState.PAUSED:
        return ExitStatus.PAUSED
    is_stuck = run_state in (RunState.BLOCKED, RunState.ENDED, RunState.DONE)
    if host is not None:
        # What is done does not come back to be closed, or late.
        is_stuck |= rows[0].state in (*STUCK, State.DONE)
    return ExitStatus.BLOCKED if is_stuck else ExitStatus.NOT_YET


def _has_reached(row: HostRow, state: State) -> bool:
    """Whether a host is in a state, or has passed it."""
    now = row.state
    if now is State.OCCUPIED and state is not now:
        now = State.EMPTYING
    if state in ORDER and now in ORDER:
        return ORDER.index(now) >= ORDER.index(state)
    return now is state


def line(status: RunStatus, host: str | None = None) -> str:
    """What stays the same until something happens, for who waits."""
    row = status.host(host) if host is not None else None
    if row is not None:
        return f'{row.host} is {row.state or "in an unknown state"}'
    done = sum(row.state is State.DONE for row in status.hosts)
    return (
        f'run {status.run.name} is {status.state}: {done} of '
        f'{wording.counted(len(status.hosts), "host")} done'
    )
