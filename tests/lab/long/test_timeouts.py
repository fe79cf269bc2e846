# SPDX-License-Identifier: Apache-2.0
"""A migration may stand still, and another has no turn: what is said of it?"""

from typing import Any, ClassVar

from tests.lab import moves
from tests.lab.moves import HELD, SOURCE
from tests.lab.test_timeouts import LIMITS, OTHER, TIMEOUT


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
            '0.8 of 2.0 GiB memory',
        )
        self.assertEqual('cancelled', self.status('still'))
        [order] = self.orders()
        self.assertIn(self.uuids['still'], order['path'])
        self.cloud.set_migrations({})
        self.wait_completed('hand')
        self.assert_at_rest({**placed, 'hand': 'cmp9'})
