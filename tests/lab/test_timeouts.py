# SPDX-License-Identifier: Apache-2.0
"""A migration takes too long: is it aborted, and what is said of it?

==========================  =========  =======================================
The move                    Action     It says
==========================  =========  =======================================
stays in Nova's queue       FAILED     MigrationTimeout
stays preparing             FAILED     MigrationTimeout
is too slow                 FAILED     MigrationTimeout, how far it was
makes no progress           FAILED     MigrationFailed, how far it was
==========================  =========  =======================================

The server is on its source, the migration is cancelled. What is too long is
a matter of options; they leave a slow machine its time.
"""

from typing import Any

from tests.lab import moves
from tests.lab.moves import HELD, SOURCE

OTHER = 'cmp3'
"""A second source: a host gives one server at a time."""
QUEUED = 'KRONOS:MigrationTimeout: [queued_too_long] aborted after '
TIMEOUT = 'KRONOS:MigrationTimeout: [too_slow] aborted after '
LIMITS: dict[str, Any] = {
    'queue_timeout': 15,
    'migration_timeout': 20,
    'migration_timeout_per_gib': 0,
}


class TestTimeouts(moves.MovesTestCase):
    def test_each_limit(self):
        """Aborted in Nova, each for its own reason."""
        rules: dict[str, dict[str, Any]] = {
            'queued': {'queued_seconds': None},
            'stalled': HELD,
            'preparing': {'preparing_seconds': None},
            'slow': {'seconds': 1000},
        }
        placed = {
            'queued': SOURCE,
            'stalled': SOURCE,
            'preparing': OTHER,
            'slow': OTHER,
        }
        self.boot_at(placed)
        self.cloud.set_migrations(rules)
        plan = self.started(**LIMITS, stall_timeout=10)
        self.wait(lambda: 202 in self.aborts('preparing'), 'its abort')
        self.assertEqual('preparing', self.status('preparing'))
        self.cloud.set_migrations({**rules, 'preparing': HELD})

        rows = self.ended(plan, 'FAILED')
        for name, *words in (
            ('queued', QUEUED + "15 s in Nova's queue"),
            ('preparing', TIMEOUT + '20 s under way (preparing)'),
            (
                'slow',
                TIMEOUT + '20 s under way (running, ',
                ' of 1.0 GiB disk',
            ),
            (
                'stalled',
                'KRONOS:MigrationFailed: [migration_stalled] aborted: no '
                'progress for 10 s (running, ',
                '0.8 of 2.0 GiB memory',
            ),
        ):
            with self.subTest(name):
                self.assert_told(rows[name], 'FAILED', *words)
                self.assertEqual('cancelled', self.status(name))
        self.assertEqual(4, len(self.orders()))
        self.assert_at_rest(placed)
