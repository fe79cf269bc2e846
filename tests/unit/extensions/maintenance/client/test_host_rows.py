# SPDX-License-Identifier: Apache-2.0
"""Is each host in the state that Nova and the history show?"""

from typing import Any

from oslotest import base

from kronos.engine.types import ComputeService, Instance
from kronos.extensions.maintenance.client import host_rows
from kronos.extensions.maintenance.client.host_rows import HostRow
from kronos.extensions.maintenance.client.run_history import (
    HostHistory,
    RunHistory,
)
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.osc import moves
from kronos.osc.plans import Plan
from kronos.snapshots.watcher_actions import ActionRow

NOW = 10_000.0
AUDIT = 'a0d17000-1111-4111-8111-111111111111'
ASKED = Maintenance('r', ('h1', 'h2'), host_timeout=100.0)
FAILED = moves.of(
    ActionRow(
        'a',
        'kronos_hand_over',
        'FAILED',
        {},
        'Action failed in execute: KRONOS:StaleTask: [host_occupied] full',
        1.0,
        1.0,
    )
)


def plan(done: float | None, created: float = 50.0) -> Plan:
    numbers = {} if done is None else {'hosts_done': done}
    return Plan(
        'p', 'SUCCEEDED', '', AUDIT, '', created, created, numbers, [], []
    )


class TestHostRows(base.BaseTestCase):
    def row(self, past: HostHistory | None = None, **service: Any) -> HostRow:
        fields = {'state': 'up', 'status': 'enabled'} | service
        history = RunHistory({'h1': past or HostHistory()}, plan=plan(0))
        services = {
            'h1': ComputeService('h1', **fields),
            'h2': ComputeService('h2', state='up', status='enabled'),
        }
        return host_rows.of(ASKED, services, history, NOW)[0]

    def closed(
        self, step: Step, age: float, past: HostHistory | None = None
    ) -> HostRow:
        reason = str(ClosingReason('r', step, NOW - age, AUDIT))
        return self.row(past, status='disabled', disabled_reason=reason)

    def test_closed_by_the_run(self) -> None:
        for step, age, state in (
            (Step.EMPTYING, 1000, State.EMPTYING),
            (Step.HANDED_OVER, 99, State.HANDED_OVER),
            (Step.HANDED_OVER, 101, State.LATE),
        ):
            row = self.closed(step, age)
            self.assertEqual(
                (state, NOW - age, True), (row.state, row.since, row.is_own)
            )

    def test_why_it_gets_no_further(self) -> None:
        row = self.closed(Step.EMPTYING, 9, HostHistory(1.0, failure=FAILED))
        self.assertEqual('host_occupied', row.reason_code)
        self.assertRegex(str(row.reason), '^full ')

    def test_open(self) -> None:
        for past, state in (
            (HostHistory(), State.TO_DO),
            (HostHistory(1.0), State.OPENED),
            (HostHistory(1.0, 2.0, 3.0), State.DONE),
        ):
            row = self.row(past)
            self.assertEqual((state, False), (row.state, row.is_own))
        self.assertEqual(3.0, row.since)
        self.assertIs(State.DOWN, self.row(state='down').state)

    def test_somebody_elses(self) -> None:
        row = self.row(status='disabled', disabled_reason='x\x1b[31m')
        self.assertEqual(
            (State.FOREIGN, 'host_taken_over', 'x?[31m', False),
            (row.state, row.reason_code, row.reason, row.is_own),
        )

    def test_gone_from_nova(self) -> None:
        row = host_rows.of(ASKED, {}, RunHistory(), NOW)[0]
        self.assertEqual((None, host_rows.MISSING), (row.state, row.reason))

    def states(self, *pasts: HostHistory, newest: Plan | None) -> list[Any]:
        hosts = [f'h{number}' for number in range(1, 1 + len(pasts))]
        services = {
            name: ComputeService(name, state='up', status='enabled')
            for name in hosts
        }
        history = RunHistory(dict(zip(hosts, pasts, strict=True)), plan=newest)
        spec = Maintenance('r', tuple(hosts))
        rows = host_rows.of(spec, services, history, NOW)
        return [row.state for row in rows]

    def test_hosts_that_were_done_before(self) -> None:
        """As far as the newest plan counts them."""
        new, old = HostHistory(), HostHistory(1.0, 2.0, 3.0)
        late = HostHistory(1.0, 2.0, 60.0)
        done, to_do = State.DONE, State.TO_DO
        for pasts, number, expected in (
            ((new, new), 0, [to_do, to_do]),
            ((new, new), 1, [None, None]),
            ((new, new), 2, [done, done]),
            ((new, new), None, [None, None]),
            ((old, new), 1, [done, to_do]),
            ((old, new), 2, [done, done]),
            ((late, new), 0, [done, to_do]),
            ((late, new), 1, [done, done]),
        ):
            self.assertEqual(
                expected, self.states(*pasts, newest=plan(number))
            )
        self.assertEqual([None], self.states(new, newest=None))

    def test_servers(self) -> None:
        row = HostRow('h1', State.EMPTYING)
        statuses = ('ACTIVE', 'SHUTOFF', 'PAUSED')
        host_rows.count_servers(
            row,
            [
                Instance(str(number), 'h1', status=status)
                for number, status in enumerate(statuses)
            ],
        )
        self.assertEqual((2, 1), (row.running, row.stopped))
        self.assertIs(State.EMPTYING, row.state)

    def test_servers_that_came_since(self) -> None:
        for status, state in (
            ('SHUTOFF', State.HANDED_OVER),
            ('ACTIVE', State.OCCUPIED),
        ):
            row = HostRow('h1', State.HANDED_OVER)
            server = Instance('1', 'h1', status=status)
            host_rows.count_servers(row, [server])
            self.assertIs(state, row.state)
            self.assertEqual(status == 'ACTIVE', bool(row.reason))
