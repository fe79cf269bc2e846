# SPDX-License-Identifier: Apache-2.0
"""What do the actions of a run come to, host by host?"""

from kronos.extensions.maintenance.client import run_history, runs
from kronos.extensions.maintenance.client.run_history import RunHistory
from tests.unit.extensions.maintenance.client import maintained
from tests.unit.osc import clouds

MIGRATE = 'kronos_live_migrate'


class TestRunHistory(maintained.MaintainedTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.begin()

    def read(self) -> RunHistory:
        run = runs.named(runs.listed(self.client), None)
        return run_history.read(self.client, run)

    def test_a_host_to_its_end(self) -> None:
        self.act(run_history.CLOSE, 'h1', 60)
        self.act(MIGRATE, 'h1', 50)
        self.act(run_history.HAND_OVER, 'h1', 40)
        past = self.read().of_host('h1')
        self.assertEqual(
            [maintained.NOW - 60 * 60, maintained.NOW - 40 * 60, None, 1],
            [past.closed, past.handed_over, past.reopened, past.moves],
        )
        self.assertFalse(past.is_reopened)
        self.act(run_history.REOPEN, 'h1', 30)
        self.assertTrue(self.read().of_host('h1').is_reopened)
        self.act(run_history.CLOSE, 'h1', 20)
        past = self.read().of_host('h1')
        self.assertFalse(past.is_reopened)
        self.assertIsNone(past.handed_over)

    def test_others(self) -> None:
        """Actions of other audits, from before, or that are not over."""
        other = {'inputs': {'audit_uuid': clouds.uuid(3)}}
        self.act(run_history.CLOSE, 'h1', 60, **other)
        self.act(run_history.CLOSE, 'h2', 500)
        self.act(run_history.CLOSE, 'h3', 60, state='ONGOING')
        history = self.read()
        for host in maintained.HOSTS:
            self.assertIsNone(history.of_host(host).closed, host)

    def test_failures(self) -> None:
        failed = {'state': 'FAILED', 'status_message': clouds.TOLD}
        self.act(MIGRATE, 'h1', 50, **failed)
        failure = self.read().of_host('h1').failure
        assert failure is not None
        self.assertEqual(
            'the instance is locked Unlock it if you want it to move.',
            run_history.reason_of(failure),
        )
        self.act(MIGRATE, 'h1', 40)
        history = self.read()
        self.assertIsNone(history.of_host('h1').failure)
        self.assertEqual((1, 1), (history.failed, len(history.moved)))

    def test_moves_of_a_server(self) -> None:
        for minutes, server in ((50, 'vm1'), (40, 'vm1'), (30, 'vm2')):
            self.act(
                MIGRATE,
                'h1',
                minutes,
                inputs={'resource_id': clouds.uuid(int(server[2:]))},
            )
        times = self.read().times
        self.assertEqual(
            [2, 1], [times[clouds.uuid(1)], times[clouds.uuid(2)]]
        )

    def test_the_newest_plan(self) -> None:
        self.assertIsNone(self.read().plan)
        self.assertIsNone(self.read().hosts_done)
        self.plan_next()
        self.plan_next(
            created_at=clouds.ago(1),
            efficacy_indicators=[{'name': 'hosts_done', 'value': 2.0}],
        )
        self.add_plan(9, created_at=clouds.ago(0))
        self.assertEqual(2.0, self.read().hosts_done)
        self.watcher.plans[:] = []
        self.plan_next(created_at=clouds.ago(500))
        self.assertIsNone(self.read().plan)
