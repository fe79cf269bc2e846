# SPDX-License-Identifier: Apache-2.0
"""Which hosts are left to the plans that are busy with them?"""

from oslotest import base

from kronos.engine.types import Event, Origin, Outcome
from kronos.extensions.maintenance.readings import in_hand
from kronos.extensions.maintenance.readings.in_hand import HostInHand
from kronos.snapshots import stale_migrations

NOW = 10_000.0


class TestNames(base.BaseTestCase):
    def test_of_the_run(self) -> None:
        rows = [
            HostInHand('b', 'r', 'p', NOW),
            HostInHand('a', 'r', 'p', NOW),
            HostInHand('a', 'r', 'q', NOW),
            HostInHand('c', 's', 'p', NOW),
        ]
        self.assertEqual(['a', 'b'], in_hand.names(rows, 'r', [], NOW))

    def test_a_plan_of_which_nothing_is_heard(self) -> None:
        """Its applier is dead, unless it moves something."""
        heard = NOW - stale_migrations.GRACE_SECONDS - 1
        rows = [HostInHand('a', 'r', 'p', heard)]
        move = Event(
            'vm',
            'a',
            'b',
            Outcome.UNDER_WAY,
            heard,
            Origin.WATCHER,
            plan='p',
        )
        self.assertEqual([], in_hand.names(rows, 'r', [], NOW))
        self.assertEqual(['a'], in_hand.names(rows, 'r', [move], NOW))
        move.outcome = Outcome.MOVED
        self.assertEqual([], in_hand.names(rows, 'r', [move], NOW))
