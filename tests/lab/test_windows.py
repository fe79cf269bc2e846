# SPDX-License-Identifier: Apache-2.0
"""Outside its window a scope stands still, but for who names its hosts."""

import time

from tests.lab import drains, opening
from tests.lab.base import Wanted
from tests.lab.test_spread import pile

HOST = 'cmp1'


class TestWindows(drains.DrainTestCase):
    def test_closed(self):
        """A sentence with the time, and no move; a drain needs no window."""
        agreeing = Wanted(
            'agreeing', HOST, 0.2, 500, metadata={'kronos:consent': 'window'}
        )
        uuids = self.boot([*pile(HOST, 5), agreeing])
        now = time.time()
        opens = opening.next_minute(2 * opening.HOUR)
        closed = opening.between(opens, opens + opening.HOUR)
        around = opening.between(now - opening.HOUR, now + opening.HOUR)
        self.configure(cooldown=0, windows=around)
        _, _, actions = self.audited('aggregates=alpha')
        self.assertNotEqual([], actions)

        self.configure(cooldown=0, windows=closed)
        audit, plan, actions = self.audited('aggregates=alpha')
        self.assertEqual(
            f'The window of alpha opens at {opening.shown(opens)}',
            audit['Status Message'],
        )
        self.assertEqual([], actions)
        self.assertEqual('SUCCEEDED', plan['state'])

        audit, plan, actions = self.audited(
            f'aggregates=alpha hosts={HOST}', '', 'kronos_evacuate'
        )
        self.assertEqual(set(uuids) - {'agreeing'}, self.moved(actions))
        self.assertIn('while its window is open', audit['Status Message'])
        self.carried_out(plan)
        self.assertEqual(['agreeing'], self.left_on(HOST))
