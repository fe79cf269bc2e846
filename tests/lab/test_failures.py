# SPDX-License-Identifier: Apache-2.0
"""A migration fails, before it begins or on its way: what is said of it?

=====================  ================================  =====================
Nova                   The action, which is FAILED       The server
=====================  ================================  =====================
the destination or     PreFlightError, destination       ACTIVE on its source
the source refuses it  refused: Nova's words
cannot prepare it      MigrationFailed                   ACTIVE on its source
gives it up halfway    MigrationFailed                   ACTIVE on its source
=====================  ================================  =====================

None is tried again: one request each reaches Nova.
"""

from typing import Any, ClassVar

from tests.lab import moves
from tests.lab.moves import SOURCE

FAILED = 'KRONOS:MigrationFailed: [migration_failed] '
REFUSED = 'KRONOS:PreFlightError: [destination_refused] destination refused: '
BROKEN = 'the lab was told to break this'


class FailuresTestCase(moves.MovesTestCase):
    options: ClassVar[dict[str, Any]] = {
        'retry_backoff': 1,
        'drain_may_exceed_threshold': True,
        'max_concurrent_migrations': 4,
    }

    def broken(
        self, table: dict[str, tuple[dict[str, Any], list[str]]]
    ) -> None:
        """Carry out a plan in which every migration fails in its way.

        :param table: rule and words of the message, by name of the server
        """
        self.placed = {
            name: (SOURCE, 'cmp3')[number % 2]
            for number, name in enumerate(table)
        }
        self.boot_at(self.placed)
        self.cloud.set_migrations({n: rule for n, (rule, _) in table.items()})
        rows = self.ended(self.started(), 'FAILED')
        for name, (_rule, words) in table.items():
            with self.subTest(name):
                self.assert_told(rows[name], 'FAILED', *words)
                self.assertEqual(1, len(self.orders_for(name)))


class TestFailures(FailuresTestCase):
    def test_nova_puts_it_right(self):
        self.broken(
            {
                'destination-check': (
                    {'fail': 'destination-check'},
                    [REFUSED, BROKEN],
                ),
                'source-check': ({'fail': 'source-check'}, [REFUSED, BROKEN]),
                'pre': ({'fail': 'pre'}, [FAILED, BROKEN]),
                'rolled-back': (
                    {'end': 'failed', 'seconds': 4, 'fail_at': 0.5},
                    [FAILED + 'migration failed: '],
                ),
            }
        )
        self.assert_at_rest(self.placed)
