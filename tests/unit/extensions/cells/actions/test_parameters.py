# SPDX-License-Identifier: Apache-2.0
"""Do the options of the host service become the settings of a move?"""

from oslo_config import cfg
from oslotest import base

from kronos.common import exceptions
from kronos.conf import opts
from kronos.extensions.cells.actions import parameters
from kronos.extensions.cells.options import CellOptions
from tests.unit.extensions.cells.actions import test_task


class ParametersTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.conf = cfg.ConfigOpts()
        opts.register_opts(self.conf)
        self.conf([])

    def settings(self, told=(), **options):
        for name, value in options.items():
            self.conf.set_override(name, value, 'kronos')
        return parameters.settings_of(
            test_task.PARAMETERS | dict(told), self.conf.kronos
        )

    def test_defaults_are_those_of_the_classes(self):
        """Else a test would run with other limits than an operator."""
        found = self.settings()
        mine = parameters.CellMoveSettings(task=found.task)
        # Kept as long as the moves before it may take.
        mine.timing.queue_timeout = found.timing.move_timeout
        mine.allowed_extra_specs = found.allowed_extra_specs
        self.assertEqual(mine, found)
        self.assertEqual('a', found.task.instance)

    def test_options(self):
        found = self.settings(
            queue_timeout=9000,
            migration_poll_interval=2,
            cell_move_timeout=100,
            confirm_timeout=101,
            revert_timeout=102,
            max_concurrent_cell_moves=7,
            stuck_after=1000,
            cell_recover=False,
            preflight_wait=11,
            max_retries=1,
            retry_backoff=12,
            cell_verify_query='up{uuid="{uuid}"}',
            cell_verify_seconds=13,
            cell_move_lossy=True,
            allowed_extra_specs=['a:*'],
            long_rpc_timeout=14,
            snapshot_mb_per_second=15,
            require_headroom=False,
            check_disk=True,
        )
        self.assertEqual(
            parameters.CellMoveSettings(
                task=found.task,
                timing=parameters.CellMoveTiming(
                    queue_timeout=9000,
                    poll_interval=2,
                    move_timeout=100,
                    confirm_timeout=101,
                    revert_timeout=102,
                ),
                max_out_of_cell=7,
                stuck_seconds=1000,
                recovers=False,
                preflight_wait=11,
                max_retries=1,
                retry_backoff=12,
                verify_query='up{uuid="{uuid}"}',
                verify_seconds=13,
                options=CellOptions(True, 14, 15),
                allowed_extra_specs=['a:*'],
                require_headroom=False,
                resources=['VCPU', 'MEMORY_MB', 'DISK_GB'],
            ),
            found,
        )

    def test_queued_behind_a_whole_move(self):
        found = self.settings(queue_timeout=60, cell_move_timeout=500)
        self.assertEqual(500, found.timing.queue_timeout)

    def test_not_before(self):
        found = self.settings({'not_before': '2026-01-01T00:00:00Z'})
        self.assertEqual(1767225600.0, found.not_before)
        self.assertRaises(
            exceptions.PreFlightError, self.settings, {'not_before': 'soon'}
        )


class TestSlots(base.BaseTestCase):
    def test_believed_for_as_long_as_a_move_may_take(self):
        settings = parameters.CellMoveSettings(task=None)
        told = {'action_uuid': 'a'}
        turn = parameters.slots_of(told, settings)
        self.assertEqual(
            1800.0 + 7200.0 + 600.0 + 3600.0 + 2 * 120.0, turn._max_age
        )
