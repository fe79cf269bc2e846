# SPDX-License-Identifier: Apache-2.0
"""Has each state of a run, and of a host, its exit status?"""

from typing import Any

from oslotest import base

from kronos.extensions.maintenance.client import run_status
from kronos.extensions.maintenance.client.exit_status import ExitStatus
from kronos.extensions.maintenance.client.host_rows import HostRow
from kronos.extensions.maintenance.client.run_history import RunHistory
from kronos.extensions.maintenance.client.run_status import RunStatus
from kronos.extensions.maintenance.client.runs import Run, RunAudit
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.osc import moves
from kronos.osc.plans import Plan
from kronos.snapshots.watcher_actions import ActionRow

ACTION = moves.of(ActionRow('a', 'kronos_reopen', 'PENDING', {}, '', 1.0, 1.0))
OWN = (State.EMPTYING, State.HANDED_OVER, State.LATE, State.RETURNING)


def status(
    *states: State | None, audit: str = 'ONGOING', plan: Any = ()
) -> RunStatus:
    """:param plan: actions of the newest plan; None: there is no plan"""
    rows = [
        HostRow(f'h{number}', state, is_own=state in OWN)
        for number, state in enumerate(states, start=1)
    ]
    newest = None
    if plan is not None:
        newest = Plan(
            'p', '', '', '', '', 0.0, 0.0, {}, [], [ACTION] * len(plan)
        )
    spec = Maintenance('r', tuple(row.host for row in rows))
    row = RunAudit('u', 'n', audit, 'CONTINUOUS', '', 0.0, spec)
    return RunStatus(Run('r', [row]), rows, RunHistory(plan=newest))


class TestRunStatus(base.BaseTestCase):
    def test_states(self) -> None:
        to_do, done, over = State.TO_DO, State.DONE, State.HANDED_OVER
        for row, expected in (
            (status(to_do, plan=None), 'waiting'),
            (status(to_do, plan='x'), 'running'),
            (status(to_do), 'blocked'),
            (status(to_do, over), 'running'),
            (status(to_do, State.FOREIGN), 'blocked'),
            (status(to_do, audit='SUSPENDED'), 'paused'),
            (status(to_do, audit='FAILED'), 'ended'),
            (status(done, done), 'done'),
            (status(done, done, audit='CANCELLED'), 'done'),
        ):
            self.assertEqual(expected, row.state.value)

    def test_closed(self) -> None:
        """Whoever closed them."""
        row = status(State.LATE, State.FOREIGN, State.DOWN, State.OPENED)
        self.assertEqual((3, 1), (row.closed, len(row.own)))

    def test_exit_status_of_a_run(self) -> None:
        to_do, done, over = State.TO_DO, State.DONE, State.HANDED_OVER
        for row, expected in (
            (status(done), ExitStatus.REACHED),
            (status(done, over), ExitStatus.NOT_YET),
            (status(to_do, plan=None), ExitStatus.NOT_YET),
            (status(done, None, plan='x'), ExitStatus.NOT_YET),
            (status(to_do), ExitStatus.BLOCKED),
            (status(to_do, audit='CANCELLED'), ExitStatus.BLOCKED),
            (status(over, audit='SUSPENDED'), ExitStatus.PAUSED),
            (status(State.LATE, done), ExitStatus.LATE),
            (status(State.LATE, audit='SUSPENDED'), ExitStatus.LATE),
        ):
            self.assertIs(expected, run_status.exit_status(row, done))

    def test_exit_status_of_an_occupied_host(self) -> None:
        """It is emptied again, and is no more handed over."""
        occupied = State.OCCUPIED
        for state, expected in (
            (State.EMPTYING, ExitStatus.REACHED),
            (occupied, ExitStatus.REACHED),
            (State.HANDED_OVER, ExitStatus.NOT_YET),
            (State.DONE, ExitStatus.NOT_YET),
        ):
            row = status(occupied, plan='x')
            self.assertIs(expected, run_status.exit_status(row, state, 'h1'))

    def test_exit_status_of_a_host(self) -> None:
        to_do, done, over = State.TO_DO, State.DONE, State.HANDED_OVER
        for state, wish, expected in (
            (over, over, ExitStatus.REACHED),
            (State.LATE, State.LATE, ExitStatus.REACHED),
            (State.LATE, over, ExitStatus.LATE),
            (to_do, over, ExitStatus.NOT_YET),
            (None, over, ExitStatus.NOT_YET),
            (State.EMPTYING, over, ExitStatus.NOT_YET),
            (State.RETURNING, over, ExitStatus.REACHED),
            (done, over, ExitStatus.REACHED),
            (done, State.EMPTYING, ExitStatus.REACHED),
            (over, State.RETURNING, ExitStatus.NOT_YET),
            (done, to_do, ExitStatus.BLOCKED),
            (done, State.LATE, ExitStatus.BLOCKED),
            (State.FOREIGN, done, ExitStatus.BLOCKED),
            (State.OPENED, done, ExitStatus.BLOCKED),
            (State.DOWN, done, ExitStatus.BLOCKED),
        ):
            row = status(state, over, plan='x')
            self.assertIs(
                expected, run_status.exit_status(row, wish, 'h1'), state
            )
        row = status(to_do, State.LATE)
        self.assertIs(
            ExitStatus.NOT_YET, run_status.exit_status(row, done, 'h1')
        )
        row = status(to_do, State.FOREIGN)
        self.assertIs(
            ExitStatus.BLOCKED, run_status.exit_status(row, done, 'h1')
        )

    def test_line(self) -> None:
        row = status(State.DONE, State.EMPTYING, None)
        self.assertEqual(
            'run r is running: 1 of 3 hosts done', run_status.line(row)
        )
        self.assertEqual('h2 is emptying', run_status.line(row, 'h2'))
        self.assertEqual(
            'h3 is in an unknown state', run_status.line(row, 'h3')
        )
