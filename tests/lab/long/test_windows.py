# SPDX-License-Identifier: Apache-2.0
"""Moves and the end of their window, and hosts without time zone data."""

import datetime
import importlib.resources
import pathlib
import re
import time
from typing import Any, ClassVar

import fixtures

from tests.lab import moves, opening
from tests.lab.moves import HELD, SOURCE

SECONDS = 20
"""What a fake hypervisor takes for a move."""
OVERHEAD = 10
"""Of a move, beside that."""
SERVICES = 'watcher-decision-engine', 'watcher-applier'


class TestWindows(moves.MovesTestCase):
    options: ClassVar[dict[str, Any]] = {
        'drain_may_exceed_threshold': True,
        'max_concurrent_migrations': 1,
        # No scope needs a metric to be drained: a plan of known moves.
        'window_exempt': '',
        'instance_quarantine_seconds': 0,
    }

    def setUp(self) -> None:
        super().setUp()
        self.began = time.time()

    def always(self) -> str:
        now = time.time()
        return opening.between(now - opening.HOUR, now + 2 * opening.HOUR)

    def this_scenario(self) -> int:
        """Seconds: so far back it has begun, and nothing before counts."""
        return int(time.time() - self.began)

    def close(self, closes: float) -> None:
        """Let the scope close, as its operator does meanwhile."""
        alpha = self.cloud.compute.find_aggregate('alpha')
        window = opening.between(closes - opening.HOUR, closes)
        self.set_window(alpha, window)
        self.addCleanup(self.set_window, alpha, None)

    def set_window(self, aggregate: Any, window: str | None) -> None:
        self.cloud.compute.set_aggregate_metadata(
            aggregate, {'kronos:window': window}
        )

    def test_moves_of_which_few_end_in_time(self):
        """They take 20 s each, one at a time, and the window a minute."""
        many = [f'many-{n}' for n in range(5)]
        self.boot_at({'paced': 'cmp3', **dict.fromkeys(many, SOURCE)})
        self.cloud.set_migrations({'default': {'seconds': SECONDS}})
        self.carried_out(self.planned('paced', windows=self.always()))
        plan = self.planned(
            *many, windows=self.always(), return_guard=self.this_scenario()
        )
        for row in self.rows(plan).values():
            expected = row['input_parameters']['window_seconds']
            self.assertGreaterEqual(expected, SECONDS)
            self.assertLess(expected, SECONDS + OVERHEAD)
        self.wait(lambda: time.time() % 60 < 2, 'a minute to begin')
        closes = opening.next_minute()
        self.close(closes)
        before = len(self.orders())
        self.start(plan)
        self.executed(plan)

        rows = self.rows(plan)
        started = [n for n in rows if rows[n]['state'] == 'SUCCEEDED']
        self.assertIn(len(started), (1, 2, 3))
        self.assertEqual(before + len(started), len(self.orders()))
        for name in started:
            self.assertLessEqual(self.ended_at(name), closes, name)
        for name in set(rows) - set(started):
            self.assert_told(rows[name], 'SKIPPED', '[window_closed] ')
            self.assertRegex(
                rows[name]['status_message'],
                f'window of alpha closes at {re.escape(opening.shown(closes))}'
                '|window of alpha is closed, and opens at ',
            )
            self.assertEqual('', self.status(name))

    def ended_at(self, name: str) -> float:
        """When the only migration of a server ended, in Unix seconds."""
        [row] = self.migrations(instance_uuid=self.uuids[name])
        self.assertEqual('completed', row['status'])
        ended = datetime.datetime.fromisoformat(row['updated_at'])
        return ended.replace(tzinfo=datetime.UTC).timestamp()

    def test_a_window_that_aborts(self):
        """Every server stays where it was, ACTIVE."""
        self.placed = {'first': SOURCE, 'second': 'cmp3'}
        self.boot_at(self.placed)
        self.cloud.set_migrations({'default': HELD})
        plan = self.planned(
            windows=self.always(),
            window_end='abort',
            max_concurrent_migrations=2,
            expected_move_seconds=5,
            return_guard=self.this_scenario(),
        )
        self.close(opening.next_minute(40))
        self.start(plan)
        for name in self.placed:
            self.wait_status(name, 'running')
        rows = self.ended(plan, 'FAILED')
        for name in self.placed:
            self.assert_told(
                rows[name],
                'FAILED',
                'aborted: the window of alpha has closed (window_end is '
                'abort)',
            )
            self.assertEqual('cancelled', self.status(name))
        self.assertEqual(2, len(self.aborts()))
        self.assert_at_rest(self.placed)

    def test_no_zone_data(self):
        """Neither an audit nor an action guesses the hour."""
        self.placed = {'only': SOURCE}
        self.boot_at(self.placed)
        window = self.always()
        plan = self.planned(windows=window)
        self.hide_zones()

        audit = self.finished(self.audit('aggregates=alpha'))
        for words in (
            '[kronos] windows: time zone UTC cannot be used',
            'install the package tzdata',
        ):
            self.assertIn(words, audit['Status Message'])
        self.assertEqual('FAILED', audit['State'])
        self.assertEqual([], [p for p in self.plans(audit) if self.actions(p)])

        self.start(plan)
        self.executed(plan)
        self.assert_told(
            self.rows(plan)['only'],
            'SKIPPED',
            'window of alpha cannot be used: [kronos] windows: ',
            'install the package tzdata',
        )
        self.assertEqual([], self.orders())
        self.assert_at_rest(self.placed)

    def hide_zones(self) -> None:
        """Let the services start where no time zone data is installed.

        They start again with it at the end.
        """
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'tzdata').mkdir()
        (folder / 'tzdata' / '__init__.py').touch()
        data = importlib.resources.files('tzdata') / 'zoneinfo' / 'UTC'
        own = folder / 'localtime'
        own.write_bytes(data.read_bytes())
        for name in SERVICES:
            self.addCleanup(self.lab.restart, name)
        for name, value in (
            # A package without data is found before that of the environment.
            ('PYTHONPATH', str(folder)),
            ('PYTHONTZPATH', ''),
            # Watcher does not start without the time zone of its host.
            ('TZ', str(own)),
        ):
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        for name in SERVICES:
            self.lab.restart(name)
