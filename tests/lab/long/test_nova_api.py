# SPDX-License-Identifier: Apache-2.0
"""Nova's API answers nothing: do migrations go on, and are they followed?"""

import time
from typing import Any

from tests.lab import moves
from tests.lab.moves import DESTINATION, HELD, SOURCE

AWAY_SECONDS = 60.0


class TestAway(moves.MovesTestCase):
    def test_for_a_minute(self):
        """Two migrations go on, one in Nova's queue."""
        placed = {'queued': SOURCE, 'running': 'cmp3'}
        rules: dict[str, Any] = {
            'queued': {'queued_seconds': None},
            'running': HELD,
        }
        self.boot_at(placed)
        self.cloud.set_migrations(rules)
        plan = self.started()
        for name in placed:
            self.wait_status(name, name)
        self.wait_followed(*placed)
        self.lab.stop('nova-proxy')
        self.addCleanup(self.lab.start, 'nova-proxy')
        began = time.monotonic()
        # Time is the fault here.
        self.wait(
            lambda: time.monotonic() - began > AWAY_SECONDS / 2,
            'half of the time',
        )
        self.cloud.set_nova_api([{'answer': 503}])
        self.lab.start('nova-proxy')
        self.wait(
            lambda: time.monotonic() - began > AWAY_SECONDS, 'the other half'
        )
        self.assertEqual(
            {'ONGOING'}, {row['state'] for row in self.actions(plan)}
        )
        self.cloud.set_migrations({})
        for name in placed:
            self.wait_status(name, 'completed')
        self.cloud.set_nova_api([])
        for row in self.ended(plan, 'SUCCEEDED').values():
            self.assert_told(row, 'SUCCEEDED')
            self.assertIsNone(row['status_message'])
        self.assertEqual(2, len(self.orders()))
        self.assert_at_rest(dict.fromkeys(placed, DESTINATION))

    def test_when_one_has_to_be_aborted(self):
        """It is asked again and again, until it is back."""
        self.boot_here('a', 'b')
        self.cloud.set_migrations({'default': HELD})
        plan = self.started()
        name, other = self.first('running')
        self.wait_followed(name)
        self.cloud.set_nova_api([{'answer': 503}])
        self.cancel(plan)
        self.wait(lambda: 503 in self.aborts(name), 'a request to abort it')
        self.assertEqual('running', self.status(name))
        self.cloud.set_nova_api([])
        rows = self.ended(plan, 'CANCELLED')
        self.assert_told(
            rows[name],
            'FAILED',
            'KRONOS:MigrationCancelled: [plan_cancelled] its plan was '
            'cancelled',
        )
        self.assert_never_started(rows[other])
        self.assertEqual('cancelled', self.status(name))
        self.assertEqual(1, len(self.orders()))
        self.assert_at_rest({'a': SOURCE, 'b': SOURCE})
