# SPDX-License-Identifier: Apache-2.0
"""The metrics of a run, after each audit of it.

They follow from the states of the hosts, so a decision engine that was
restarted shows the same after its first audit.
"""

from collections.abc import Iterator

from kronos.engine.types import AggregateResult
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.metrics import maintenance as names
from kronos.metrics.store import Gauge


def word(state: State) -> str:
    """The state as a label has it."""
    return state.value.replace(' ', '-')


def of_scope(scope: AggregateResult) -> Iterator[Gauge]:
    """Those of the run in one scope; none where nothing is maintained."""
    row = outcome.of(scope)
    if not row.states:
        return
    own = {'scope': scope.name, 'run': row.run}
    yield Gauge(names.READ_AT, row.taken_at, own)
    yield Gauge(names.ANSWERED, not row.unknown, own)
    yield Gauge(names.BLOCKED, len(row.waves.blocked), own)
    for state in State:
        labels = {**own, 'state': word(state)}
        yield Gauge(names.HOSTS, row.count(state), labels)
    for host, host_state in row.states.items():
        of_host = {**own, 'host': host}
        for text in _words(host_state):
            yield Gauge(names.HOST_STATE, 1, {**of_host, 'state': text})
        yield Gauge(names.CLOSED_AT, _closed_at(host_state), of_host)
    for host, seconds in _emptying(scope, row).items():
        labels = {**own, 'host': host}
        yield Gauge(names.EMPTY_AT, row.taken_at + seconds, labels)


def _words(row: HostState) -> Iterator[str]:
    yield word(row.state)
    # A late host may still be rebooted, but only if it is handed over.
    if (
        row.state is State.LATE
        and row.reason is not None
        and not (row.is_occupied and row.reason.step is Step.HANDED_OVER)
    ):
        yield row.reason.step.value


def _closed_at(row: HostState) -> float:
    return 0.0 if row.reason is None else row.reason.since


def _emptying(
    scope: AggregateResult, row: outcome.RunOutcome
) -> dict[str, float]:
    """Seconds that the moves take that leave a closed host, by host."""
    seconds: dict[str, float] = {}
    for step in scope.steps:
        state = row.states.get(step.source)
        is_emptied = step.source in row.waves.closing or (
            state is not None
            and state.reason is not None
            and state.reason.step is Step.EMPTYING
        )
        if is_emptied:
            before = seconds.get(step.source, 0.0)
            seconds[step.source] = before + step.seconds
    return seconds
