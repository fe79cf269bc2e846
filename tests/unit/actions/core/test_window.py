# SPDX-License-Identifier: Apache-2.0
"""Does a move start only if it ends before its window closes?

The clock of these tests is at 00:16:40 UTC on a Thursday.
"""

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from tests.unit.actions.live import base

LONG = 200
NIGHT = 'Thu 00:00-00:20 UTC'
"""It closes at 1200 s."""


class WindowTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.windows = [NIGHT]
        self.settings.window_seconds = 20.0

    def skipped(self, *words):
        error = self.fails(exceptions.StaleTask, *words)
        self.assertIs(Fault.WINDOW_CLOSED, faults.of_error(error))
        self.assertEqual([], self.cloud.migrations)
        self.assertFalse(self.slots.held)

    def test_inside(self):
        self.assertEqual('', self.run_move())
        self.assertEqual('h2', self.instance.host)

    def test_would_not_end_inside(self):
        self.settings.window_seconds = 201.0
        self.skipped('window of alpha closes at 1970-01-01 00:20 (UTC)')

    def test_ends_with_the_window(self):
        self.settings.window_seconds = 200.0
        self.assertEqual('', self.run_move())

    def test_closed(self):
        self.settings.windows = ['Thu 22:00-23:00 UTC']
        self.skipped('window of alpha is closed', '1970-01-01 22:00 (UTC)')

    def test_closes_while_it_waits(self):
        """The turn comes too late."""
        other = self.move_by_hand(self.add_server(2, 'h1'), 'h3')
        self.clock.at(1500, lambda: self.end(other))
        error = self.fails(exceptions.StaleTask, 'window of alpha')
        self.assertIs(Fault.WINDOW_CLOSED, faults.of_error(error))

    def test_plan_without_windows(self):
        """As of an older engine, or of an exempt strategy."""
        self.settings.window_seconds = None
        self.settings.windows = ['Thu 22:00-23:00 UTC']
        self.assertEqual('', self.run_move())

    def test_aggregate(self):
        """A freeze that has come since the audit holds."""
        self.cloud.aggregate_metadata['alpha'] = {
            'kronos:freeze': '1970-01-01/1970-01-02 UTC'
        }
        self.skipped('is closed, and opens at 1970-01-08 00:00 (UTC)')

    def test_unusable(self):
        self.cloud.aggregate_metadata['alpha'] = {'kronos:window': 'always'}
        self.skipped('aggregate alpha, metadata kronos:window', '"always"')

    def test_consent(self):
        """Of an exempt strategy, too."""
        self.settings.window_seconds = None
        self.instance.metadata = {'kronos:consent': 'window'}
        self.settings.windows = ['Thu 22:00-23:00 UTC']
        self.fails(exceptions.PreFlightError, 'while its window is open')
        self.settings.windows = [NIGHT]
        self.assertEqual('', self.run_move())


class WindowEndTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.windows = [NIGHT]
        self.settings.window_seconds = 20.0
        self.instance.script = (*['running'] * 6, 'completed')

    def test_finish(self):
        self.assertEqual('', self.run_move())
        self.assertEqual('h2', self.instance.host)
        self.assertGreater(self.clock.now, 1200.0)

    def test_abort(self):
        self.settings.aborts_at_end = True
        self.instance.script = ('running',) * LONG
        error = self.fails(
            exceptions.MigrationCancelled,
            'the window of alpha has closed',
            'window_end is abort',
        )
        self.assertIs(Fault.WINDOW_ENDED, faults.of_error(error))
        self.assertTrue(self.cloud.migrations[0].aborted)
        self.assertEqual('h1', self.instance.host)
