# SPDX-License-Identifier: Apache-2.0
"""The additions to a maintenance run: its actions, its summary, its log."""

from collections.abc import Iterator
from typing import Any

from oslo_log import log as logging

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.types import AggregateResult, CycleReport
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.audit import run_metrics
from kronos.extensions.maintenance.audit.history import CLOSE
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.outcome import RunOutcome
from kronos.extensions.maintenance.planning import endings
from kronos.metrics.store import Gauge
from kronos.strategies.outcome.additions import Additions
from kronos.strategies.outcome.planned_actions import PlannedAction

HAND_OVER = 'kronos_hand_over'
REOPEN = 'kronos_reopen'
SHOWN = 4
"""Hosts of a state that a summary names."""


class MaintenanceAdditions(Additions):
    """What an audit that maintains hosts does and says."""

    def ahead(self, report: CycleReport) -> list[PlannedAction]:
        """Hosts that are done are opened first, then others are closed.

        One after the other: each looks at how many are unavailable.
        """
        actions: list[PlannedAction] = []
        rows: list[tuple[str, str, str]] = [
            (REOPEN, scope.name, host)
            for scope in report.scopes
            for host in outcome.of(scope).reopening
        ]
        rows += [
            (CLOSE, scope, closing.host) for scope, closing in report.closings
        ]
        spec = {s.name: outcome.of(s).spec for s in report.scopes}
        for kind, scope, host in rows:
            if any(action.resource == host for action in actions):
                continue
            number = len(actions) + 1
            inputs = _inputs(number, scope, host, spec[scope])
            inputs |= _more(kind, spec[scope])
            actions.append(PlannedAction(kind, inputs, host, actions[-1:]))
        return actions

    def arranged(
        self,
        report: CycleReport,
        ahead: list[PlannedAction],
        moves: list[PlannedAction],
    ) -> list[PlannedAction]:
        """What leaves a host waits for its closing, a hand-over for both.

        The first server on a host that was just opened goes there alone.
        """
        closed = {
            action.resource: action
            for action in ahead
            if action.action_type == CLOSE
        }
        fresh = {
            host
            for scope in report.scopes
            for host in outcome.of(scope).empty_done
        }
        first: dict[str, PlannedAction] = {}
        for action in moves:
            source = action.parameters['source_node']
            destination = action.parameters['destination_node']
            if source in closed:
                action.parameters['source_closed'] = True
                action.after.append(closed[source])
            if destination in first:
                action.after.append(first[destination])
            elif destination in fresh:
                first[destination] = action
        actions = [*ahead, *moves]
        return actions + list(_hand_overs(report, actions))

    def acts(self, scope: AggregateResult) -> bool:
        row = outcome.of(scope)
        return bool(row.reopening or row.handing_over)

    def is_described(self, scope: AggregateResult) -> bool:
        return bool(outcome.of(scope).states)

    def lines(self, scope: AggregateResult) -> Iterator[tuple[int, str]]:
        row = outcome.of(scope)
        for host, state in row.states.items():
            if state.state is State.LATE:
                yield logging.WARNING, f'{host} of run {row.run} is late'

    def gauges(self, scope: AggregateResult) -> Iterator[Gauge]:
        return run_metrics.of_scope(scope)

    def subject(self, scope: AggregateResult) -> str:
        return f'run {outcome.of(scope).run}'


def _hand_overs(
    report: CycleReport, actions: list[PlannedAction]
) -> Iterator[PlannedAction]:
    number = len(actions)
    handed: set[str] = set()
    for scope in report.scopes:
        row = outcome.of(scope)
        for host in row.handing_over:
            if host in handed:
                continue
            handed.add(host)
            number += 1
            yield PlannedAction(
                HAND_OVER,
                _inputs(number, scope.name, host, row.spec)
                | _more(HAND_OVER, row.spec),
                host,
                [
                    action
                    for action in actions
                    if action.parameters['source_node'] == host
                ],
            )


def _more(kind: str, spec: Maintenance) -> dict[str, Any]:
    """The parameters of one kind of action."""
    if kind == CLOSE:
        limits: dict[str, Any] = {
            'at_once': spec.at_once,
            'reopen': spec.reopen,
        }
        if spec.at_once_per_az is not None:
            limits['at_once_per_az'] = spec.at_once_per_az
        return limits
    if kind == HAND_OVER:
        return {'stopped': spec.stopped.value}
    return {'done_query': spec.done_query, 'ready_query': spec.ready_query}


def _inputs(
    number: int, scope: str, host: str, spec: Maintenance
) -> dict[str, Any]:
    return {
        'aggregate': scope,
        'sequence': number,
        'resource_name': host,
        'source_node': host,
        'run': spec.run,
    }


def _expected(row: RunOutcome) -> Iterator[str]:
    """How many moves are to come, and when the run ends."""
    ahead = row.forecast
    if ahead.moves:
        least = ''
        if ahead.least_moves < ahead.moves:
            least = f' (at least {ahead.least_moves})'
        yield wording.counted(ahead.moves, 'move') + least + ' to come'
    if ahead.seconds:
        yield f'the end in about {durations.rounded(ahead.seconds)}'
    if ahead.stuck:
        yield f'no room to empty {wording.some(ahead.stuck, SHOWN)}'


def _trouble(row: RunOutcome) -> Iterator[str]:
    """What somebody has to look at."""
    late, waits = row.hosts(State.LATE), row.waves.waits
    if late:
        holds = waits == endings.late(late)
        then = ', so no further host is closed' if holds else ''
        waits = '' if holds else waits
        yield _counted(late, 'late') + then
    for hosts, word in (
        (row.hosts(State.OCCUPIED), 'occupied again'),
        (row.hosts(State.FOREIGN), 'closed by somebody else'),
        (row.hosts(State.DOWN), 'enabled but down'),
        (row.missing, 'in no scope of the audit'),
    ):
        if hosts:
            yield _counted(hosts, word)
    if opened := row.hosts(State.OPENED):
        remedy = 'a run of another name closes them again'
        yield _counted(opened, 'opened by hand', f'; {remedy}')
    if row.waves.blocked:
        yield f'{len(row.waves.blocked)} cannot be emptied'
    if row.look.pace:
        yield row.look.pace
    if waits:
        yield waits


def _next(row: RunOutcome) -> Iterator[str]:
    """What the plan does beside its moves."""
    for word, hosts in (
        ('opened', row.reopening),
        ('closed', row.waves.closing),
        ('handed over', row.handing_over),
    ):
        if hosts:
            yield _counted(hosts, word)


def _counted(hosts: list[str], word: str, remedy: str = '') -> str:
    return f'{len(hosts)} {word} ({wording.some(hosts, SHOWN)}{remedy})'


def summary(scope: AggregateResult) -> str:
    """What a plan does for ``kronos_maintenance``, state by state.

    Watcher keeps no more than 255 characters: what somebody has to do is
    said first.
    """
    row = outcome.of(scope)
    if row.unknown:
        return f'no host is closed or opened: {row.unknown}'
    parts = [*_trouble(row), *_next(row), *_expected(row)]
    done, total = row.count(State.DONE), len(row.states)
    return f'run {row.run}: {done} of {total} hosts done' + ''.join(
        f', {part}' for part in parts
    )
