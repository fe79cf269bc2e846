# SPDX-License-Identifier: Apache-2.0
"""A host is closed while servers move: which migrations go on?

===========================  =========  ======================================
What is done                 Action     What becomes of the migration
===========================  =========  ======================================
the destination is disabled  FAILED     aborted at the next look, queued or
                                        running; MigrationCancelled
the destination is forced    FAILED     aborted at the next look;
down                                    MigrationCancelled
the source is disabled       SUCCEEDED  it goes on
===========================  =========  ======================================
"""

from typing import Any

from tests.lab import moves
from tests.lab.moves import DESTINATION, HELD, SOURCE

CLOSED = 'KRONOS:MigrationCancelled: [destination_closed] aborted '
TROUBLE = f'nova-compute on destination {DESTINATION} is '


class TestHostsClosed(moves.MovesTestCase):
    def under_way(self) -> dict[str, Any]:
        """A plan with one migration in Nova's queue and one that runs."""
        self.placed = {'queued': SOURCE, 'running': 'cmp3'}
        self.boot_at(self.placed)
        self.cloud.set_migrations(
            {'queued': {'queued_seconds': None}, 'running': HELD}
        )
        plan = self.started()
        for name in self.placed:
            self.wait_status(name, name)
        # What it says of them later is what it has seen.
        self.wait_followed(*self.placed)
        return plan

    def test_destination_disabled(self):
        """Seen at the next look, aborted, and the reason is told."""
        plan = self.under_way()
        self.openstack(
            'compute service set --disable --disable-reason smoke '
            f'{DESTINATION} nova-compute'
        )
        before = len(self.cloud.api_requests())
        rows = self.ended(plan, 'FAILED')
        self.assert_aborted(rows, 'disabled (smoke)')
        for name in self.placed:
            # One may have been on its way, the next one sees it.
            self.assertLessEqual(self.looks(name, before), 2)
        self.assert_at_rest(self.placed)

    def assert_aborted(self, rows: dict[str, Any], why: str) -> None:
        """Both were asked of Nova once, and aborted for what is told."""
        for name in self.placed:
            self.assert_told(
                rows[name], 'FAILED', f'{CLOSED}{name}', f'{TROUBLE}{why}'
            )
            self.assertEqual('cancelled', self.status(name))
        self.assertEqual(2, len(self.orders()))

    def looks(self, name: str, before: int) -> int:
        """How often Watcher looked at a migration before it aborted it.

        :param before: requests that do not count
        """
        uuid = self.uuids[name]
        found = 0
        for request in self.cloud.api_requests()[before:]:
            if request['method'] == 'DELETE' and uuid in request['path']:
                break
            found += f'instance_uuid={uuid}' in request['path']
        return found

    def test_destination_forced_down(self):
        plan = self.under_way()
        self.cloud.force_down(DESTINATION, True)
        rows = self.ended(plan, 'FAILED')
        self.assert_aborted(rows, 'forced down')
        self.cloud.force_down(DESTINATION, False)
        self.assert_at_rest(self.placed)

    def test_source_disabled(self):
        """That is what a drained host is."""
        plan = self.under_way()
        for host in self.placed.values():
            self.openstack(
                f'compute service set --disable {host} nova-compute'
            )
        self.wait_followed(*self.placed)
        self.assertEqual([], self.aborts())
        self.cloud.set_migrations({})
        for row in self.ended(plan, 'SUCCEEDED').values():
            self.assert_told(row, 'SUCCEEDED')
        self.assertEqual([], self.aborts())
        self.assertEqual(2, len(self.orders()))
        self.assert_at_rest(dict.fromkeys(self.placed, DESTINATION))
