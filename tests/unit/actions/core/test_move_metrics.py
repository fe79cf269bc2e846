# SPDX-License-Identifier: Apache-2.0
"""Moves are counted by how they end, and without who they move."""

from kronos.actions.core import notifications
from kronos.actions.core.move_metrics import MoveMetrics
from kronos.actions.core.parameters import MigrationTask, MoveSettings
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.metrics import exposition
from tests.unit.metrics import measured

SECRET = 's3cret'


class MoveMetricsTestCase(measured.MeasuredTestCase):
    def setUp(self) -> None:
        super().setUp()
        task = MigrationTask('uuid-1', 'h1', 'h2', 'spread', 'alpha', SECRET)
        self.metrics = MoveMetrics(MoveSettings(task, forecast_seconds=20.0))

    def test_where_it_is(self) -> None:
        name = 'kronos_migrations_running'
        with self.metrics.running(), self.metrics.running():
            self.assertEqual(2.0, self.values(name)['alpha',])
        self.assertEqual(0.0, self.values(name)['alpha',])
        with self.metrics.waiting():
            name = 'kronos_moves_waiting'
            self.assertEqual(1.0, self.values(name)['alpha',])

    def test_one_that_arrived(self) -> None:
        self.metrics.succeeded(
            notifications.Record(
                queued_seconds=1.0,
                running_seconds=30.0,
                memory_bytes=2**30,
                disk_bytes=0,
            )
        )
        self.assertEqual(
            {('alpha', 'spread', 'succeeded', 'none'): 1.0},
            self.values('kronos_migrations_total'),
        )
        for name, seconds in (
            ('queued', 1.0),
            ('running', 30.0),
            ('forecast', 20.0),
        ):
            found = self.values(f'kronos_migration_{name}_seconds')
            self.assertEqual(seconds, found['alpha',].total)
        self.assertEqual(
            {('alpha', 'memory'): 2.0**30},
            self.values('kronos_migration_bytes_total'),
        )

    def test_one_that_failed_twice(self) -> None:
        error = exceptions.MigrationTimeout(SECRET)
        self.metrics.failed(error, final=False)
        self.metrics.failed(error, final=True)
        self.metrics.failed(
            faults.error(Fault.PLAN_CANCELLED, SECRET), final=True
        )
        self.assertEqual(
            {('alpha', 'MigrationTimeout'): 1.0},
            self.values('kronos_migration_retries_total'),
        )
        self.assertEqual(
            {
                ('alpha', 'spread', 'failed', 'MigrationTimeout'): 1.0,
                ('alpha', 'spread', 'cancelled', 'MigrationCancelled'): 1.0,
            },
            self.values('kronos_migrations_total'),
        )

    def test_one_that_was_skipped(self) -> None:
        self.metrics.ended_early(faults.error(Fault.OTHER_HALF, SECRET))
        self.assertEqual(
            {('alpha', str(Fault.OTHER_HALF)): 1.0},
            self.values('kronos_moves_skipped_total'),
        )

    def test_no_name_and_no_text(self) -> None:
        self.test_one_that_failed_twice()
        self.test_one_that_was_skipped()
        text = exposition.text_of(self.store, ('applier', '0')).decode()
        for word in (SECRET, 'uuid-1', 'h1', 'h2'):
            self.assertNotIn(word, text)
