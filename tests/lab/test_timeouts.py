# SPDX-License-Identifier: Apache-2.0
"""A migration takes too long: is it aborted, and what is said of it?

==========================  =========  =======================================
The move                    Action     It says
==========================  =========  =======================================
has no turn in time         SKIPPED    what it waited for
stays in Nova's queue       FAILED     MigrationTimeout
stays preparing             FAILED     MigrationTimeout
is too slow                 FAILED     MigrationTimeout, how far it was
makes no progress           FAILED     MigrationFailed, how far it was
makes none, that may be     FAILED     MigrationTimeout, how far it was
==========================  =========  =======================================

The server is on its source, the migration is cancelled. What is too long is
a matter of options; they leave a slow machine its time.
"""

from typing import Any, ClassVar

from tests.lab import moves
from tests.lab.moves import HELD, SOURCE

OTHER = 'cmp3'
"""A second source: a host gives one server at a time."""
QUEUED = 'KRONOS:MigrationTimeout: [queued_too_long] aborted after '
TIMEOUT = 'KRONOS:MigrationTimeout: [too_slow] aborted after '
LIMITS: dict[str, Any] = {'queue_timeout': 15, 'migration_timeout': 20}


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
                ' of 2.0 GiB memory',
            ),
            (
                'stalled',
                'KRONOS:MigrationFailed: [migration_stalled] aborted: no '
                'progress for 10 s (running, ',
                '1.0 of 2.0 GiB memory',
            ),
        ):
            with self.subTest(name):
                self.assert_told(rows[name], 'FAILED', *words)
                self.assertEqual('cancelled', self.status(name))
        self.assertEqual(4, len(self.orders()))
        self.assert_at_rest(placed)


class TestNoLimit(moves.MovesTestCase):
    options: ClassVar[dict[str, Any]] = LIMITS

    def test_what_may_stand_still_and_what_has_no_turn(self):
        """A turn that does not come; stall_timeout is off."""
        placed = {'still': SOURCE, 'patient': OTHER}
        self.boot_at(placed)
        plan = self.planned(stall_timeout=0)
        self.cloud.set_host(OTHER, True)
        self.uuids['hand'] = self.cloud.boot('hand', OTHER, cpu=0.1)['id']
        self.cloud.set_migrations({'hand': HELD, 'still': HELD})
        self.by_hand('hand', 'cmp9')
        self.wait_status('hand', 'running')
        self.start(plan)

        rows = self.ended(plan, 'FAILED')
        self.assert_told(
            rows['patient'],
            'SKIPPED',
            f'no turn within 15 s: 1 under way out of {OTHER}, of at most 1',
        )
        self.assert_told(
            rows['still'],
            'FAILED',
            TIMEOUT + '20 s under way (running, ',
            '1.0 of 2.0 GiB memory',
        )
        self.assertEqual('cancelled', self.status('still'))
        [order] = self.orders()
        self.assertIn(self.uuids['still'], order['path'])
        self.cloud.set_migrations({})
        self.wait_status('hand', 'completed')
        self.assert_at_rest({**placed, 'hand': 'cmp9'})
