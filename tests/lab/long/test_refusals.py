# SPDX-License-Identifier: Apache-2.0
"""Nova's scheduler refuses a move when all that Kronos looks at is in order.

The destination was disabled, or a member of the group came there, after the
call; or it is in another zone. The action is FAILED: PreFlightError, and what
Nova says.
"""

from typing import Any, ClassVar

from tests.lab import moves
from tests.lab.moves import DESTINATION, SOURCE
from tests.lab.test_refusals import REFUSED

BY_NOVA = REFUSED + '[destination_refused] destination refused: '


class TestScheduler(moves.MovesTestCase):
    """What Nova's scheduler refuses, in its own words."""

    options: ClassVar[dict[str, Any]] = {'retry_backoff': 1}

    def held_back(self) -> dict[str, Any]:
        """A plan of which a request waits to reach Nova.

        All that Kronos looks at before has been looked at.
        """
        plan = self.planned()
        self.cloud.set_nova_api([{'answer': 'hang', 'body': 'os-migrateLive'}])
        self.start(plan)
        self.wait(
            lambda: 'ONGOING' in {row['state'] for row in self.actions(plan)},
            'a move to begin',
        )
        return plan

    def refused(self, plan: dict[str, Any]) -> None:
        """Let the request go; Nova refuses it."""
        self.cloud.set_nova_api([])
        rows = self.ended(plan, 'FAILED')
        self.assert_told(rows['a'], 'FAILED', BY_NOVA, 'No valid host')
        self.assertEqual('error', self.status('a'))
        self.assertEqual(1, len(self.orders()))

    def test_closed_after_the_call(self):
        self.boot_here('a')
        plan = self.held_back()
        self.openstack(
            f'compute service set --disable {DESTINATION} nova-compute'
        )
        self.refused(plan)
        self.assert_at_rest({'a': SOURCE})

    def test_a_member_comes_after_the_call(self):
        apart = self.cloud.group('apart', 'anti-affinity')
        self.boot_here('a', group=apart)
        plan = self.held_back()
        self.cloud.boot('mate', DESTINATION, group=apart)
        self.refused(plan)
        self.assert_at_rest({'a': SOURCE, 'mate': DESTINATION})

    def test_another_zone(self):
        """A zone that binds a server is known to Nova's scheduler only."""
        zone = self.cloud.zone('west', [SOURCE, DESTINATION])
        self.addCleanup(self.cloud.drop_zone, zone)
        self.addCleanup(self.cloud.reset)
        self.boot_here('a', zone='west')
        plan = self.planned()
        self.openstack(f'aggregate remove host {zone} {DESTINATION}')
        self.start(plan)
        self.refused(plan)
        self.assert_at_rest({'a': SOURCE})
