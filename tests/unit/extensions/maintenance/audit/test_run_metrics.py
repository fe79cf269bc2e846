# SPDX-License-Identifier: Apache-2.0
"""Do the metrics of a run tell who may be rebooted, and what stands still?"""

from dataclasses import replace
from typing import Any

from kronos.engine.settings import Settings
from kronos.engine.types import CycleReport
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.audit.additions import MaintenanceAdditions
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.outcome import RunOutcome, Waves
from kronos.strategies.outcome import audit_metrics
from tests.unit.metrics import measured
from tests.unit.strategies.outcome.test_planned_actions import scope, step

AUDIT = 'a0d17000-1111-4111-8111-111111111111'
NOW = 10_000.0


def closed(host: str, state: State, step: Step) -> HostState:
    reason = ClosingReason('r', step, 9_000.0, AUDIT)
    return HostState(host, state, reason.since, reason)


class TestRunMetrics(measured.MeasuredTestCase):
    def planned(
        self, *rows: HostState, run: str = 'r', steps: Any = (), **fields: Any
    ) -> None:
        result = scope('a', *steps)
        result.beside[maintenance.NAME] = RunOutcome(
            Maintenance(run, ()),
            {row.host: row for row in rows},
            taken_at=NOW,
            **fields,
        )
        report = CycleReport([result])
        audit_metrics.planned(
            report,
            [],
            Settings(),
            {},
            additions=MaintenanceAdditions(),
        )

    def of_run(self, name: str) -> dict[tuple[str, ...], float]:
        return self.values(f'kronos_maintenance_{name}')

    def test_occupied(self) -> None:
        """Nobody reboots it, though it was handed over."""
        row = closed('h1', State.OCCUPIED, Step.HANDED_OVER)
        late = closed('h2', State.LATE, Step.HANDED_OVER)
        self.planned(
            replace(row, is_occupied=True), replace(late, is_occupied=True)
        )
        self.assertEqual(
            {('a', 'r', 'h1', 'occupied'): 1, ('a', 'r', 'h2', 'late'): 1},
            self.of_run('host_state'),
        )

    def test_states(self) -> None:
        self.planned(
            HostState('h1', State.TO_DO),
            closed('h2', State.HANDED_OVER, Step.HANDED_OVER),
        )
        self.assertEqual(
            {('a', 'r', 'h1', 'to-do'): 1, ('a', 'r', 'h2', 'handed-over'): 1},
            self.of_run('host_state'),
        )
        self.assertEqual(
            {('a', 'r', 'h1'): 0, ('a', 'r', 'h2'): 9_000},
            self.of_run('host_closed_timestamp_seconds'),
        )
        hosts = self.of_run('hosts')
        self.assertEqual(len(State), len(hosts))
        self.assertEqual(1, hosts['a', 'r', 'to-do'])
        self.assertEqual(0, hosts['a', 'r', 'opened-by-hand'])
        read = self.of_run('read_timestamp_seconds')
        self.assertEqual({('a', 'r'): NOW}, read)

    def test_late_hosts_show_whether_they_are_empty(self) -> None:
        """A host is rebooted though it is late, but only once it is empty."""
        self.planned(
            closed('h1', State.LATE, Step.EMPTYING),
            closed('h2', State.LATE, Step.HANDED_OVER),
        )
        self.assertEqual(
            {('h1', 'late'), ('h1', 'emptying')}
            | {('h2', 'late'), ('h2', 'handed-over')},
            {key[2:] for key in self.of_run('host_state')},
        )

    def test_returning_is_not_handed_over(self) -> None:
        self.planned(closed('h1', State.RETURNING, Step.HANDED_OVER))
        self.assertEqual(
            [('a', 'r', 'h1', 'returning')], [*self.of_run('host_state')]
        )

    def test_the_next_audit_replaces_them(self) -> None:
        self.planned(closed('h1', State.HANDED_OVER, Step.HANDED_OVER))
        self.planned(HostState('h9', State.TO_DO), run='other')
        self.planned(HostState('h1', State.DONE))
        self.assertEqual(
            {('a', 'r', 'h1', 'done'), ('a', 'other', 'h9', 'to-do')},
            {*self.of_run('host_state')},
        )

    def test_when_hosts_are_empty(self) -> None:
        self.planned(
            HostState('h1', State.TO_DO),
            HostState('h2', State.TO_DO),
            closed('h3', State.EMPTYING, Step.EMPTYING),
            steps=[
                replace(step(name, host), seconds=60.0)
                for name, host in zip(
                    'uvwx', ('h1', 'h1', 'h3', 'h2'), strict=True
                )
            ],
            waves=Waves(closing=['h1']),
        )
        self.assertEqual(
            {('a', 'r', 'h1'): NOW + 120, ('a', 'r', 'h3'): NOW + 60},
            self.of_run('host_expected_timestamp_seconds'),
        )

    def test_what_stands_still(self) -> None:
        self.planned(
            HostState('h1', State.TO_DO),
            waves=Waves(blocked={'h1': 'a server is locked'}),
            unknown='no answer',
        )
        self.assertEqual({('a', 'r'): 1}, self.of_run('blocked_hosts'))
        answered = self.of_run('done_query_answered')
        self.assertEqual({('a', 'r'): 0}, answered)

    def test_nothing_is_maintained(self) -> None:
        self.planned()
        self.assertEqual({}, self.of_run('read_timestamp_seconds'))
