# SPDX-License-Identifier: Apache-2.0
"""Much happens between an audit and a move: is the move made all the same?

=========================================  =========  ========================
Since the audit                            Action     It says
=========================================  =========  ========================
the server was deleted                     SKIPPED    it is gone
it was moved elsewhere by hand             SKIPPED    where it is
it was moved to the destination by hand    SUCCEEDED  it was there already
it was stopped, locked, pinned             FAILED     PreFlightError
a member of its group came there           FAILED     PreFlightError, the group
the destination has no room any more       FAILED     PreFlightError, what room
it was disabled, forced down               FAILED     PreFlightError
=========================================  =========  ========================

Nova was not asked.
"""

import itertools
from typing import Any, ClassVar

from tests.lab import moves
from tests.lab.moves import DESTINATION, SOURCE

REFUSED = 'KRONOS:PreFlightError: '


class TestServers(moves.MovesTestCase):
    def test_what_has_become_of_them(self):
        """Nothing is asked of Nova, and each says why."""
        names = ('deleted', 'elsewhere', 'there', 'stopped', 'locked')
        self.boot_here(*names, 'pinned')
        apart = self.cloud.group('apart', 'anti-affinity')
        made = self.cloud.boot('alone', SOURCE, group=apart, cpu=0.2)
        self.uuids['alone'] = made['id']
        self.wait_for_samples([made])
        plan = self.planned()

        uuids = self.uuids
        self.by_hand('there', DESTINATION)
        self.openstack(f'server delete --wait {uuids["deleted"]}')
        self.openstack(f'server stop {uuids["stopped"]}')
        self.openstack(f'server lock {uuids["locked"]}')
        self.openstack(
            f'server set --property kronos:pin=yes {uuids["pinned"]}'
        )
        self.wait_completed('there')
        self.by_hand('elsewhere', 'cmp9')
        self.cloud.boot('mate', DESTINATION, group=apart, cpu=0.2)
        self.wait_completed('elsewhere')
        self.wait(lambda: self.shown_as('stopped') == 'SHUTOFF', 'its stop')
        self.start(plan)

        rows = self.ended(plan, 'FAILED')
        for name, state, words in (
            ('deleted', 'SKIPPED', 'the instance is gone'),
            ('elsewhere', 'SKIPPED', 'it is on cmp9 now'),
            ('there', 'SUCCEEDED', f'was on {DESTINATION} already'),
            (
                'stopped',
                'FAILED',
                REFUSED + '[instance_not_active] the instance',
            ),
            ('locked', 'FAILED', REFUSED + '[instance_locked] the instance'),
            ('pinned', 'FAILED', REFUSED + '[instance_pinned] the instance'),
            (
                'alone',
                'FAILED',
                f'{REFUSED}[group_rule] destination {DESTINATION}: ',
            ),
        ):
            with self.subTest(name):
                self.assert_told(rows[name], state, words)
        self.assertIn('apart', rows['alone']['status_message'])
        self.assertEqual([], self.orders())
        self.openstack(f'server start {uuids["stopped"]}')
        self.wait(lambda: self.shown_as('stopped') == 'ACTIVE', 'its start')
        self.assert_at_rest(
            {
                'elsewhere': 'cmp9',
                'there': DESTINATION,
                'stopped': SOURCE,
                'locked': SOURCE,
                'pinned': SOURCE,
                'alone': SOURCE,
                'mate': DESTINATION,
            }
        )

    def shown_as(self, name: str) -> str:
        return str(self.cloud.servers()[self.uuids[name]]['status'])


class TestDestination(moves.MovesTestCase):
    options: ClassVar[dict[str, Any]] = {'max_retries': 0}

    def setUp(self) -> None:
        super().setUp()
        self.boot_here('a', 'b')
        self.here = {'a': SOURCE, 'b': SOURCE}

    def refused(self, *words: str) -> None:
        """Start the plan; both moves are refused, Nova is not asked."""
        self.start(self.plan)
        for row in self.ended(self.plan, 'FAILED').values():
            self.assert_told(row, 'FAILED', REFUSED, DESTINATION, *words)
        self.assertEqual([], self.orders())
        self.assert_at_rest(self.here)

    def test_closed_in_between(self):
        """The operator's reason is told."""
        self.plan = self.planned()
        self.openstack(
            'compute service set --disable --disable-reason smoke '
            f'{DESTINATION} nova-compute'
        )
        self.refused('is disabled (smoke)')
        self.openstack(
            f'compute service set --enable {DESTINATION} nova-compute'
        )
        self.plan = self.planned(instance_quarantine_seconds=0)
        self.cloud.force_down(DESTINATION, True)
        self.refused('is forced down')

    def test_full_in_between(self):
        """What Placement has left of memory."""
        self.plan = self.planned()
        self.fill(DESTINATION)
        self.refused('has no room: it needs 2048 MEMORY_MB, 0 are free')

    def fill(self, host: str) -> None:
        """Take all memory that Placement has on a host."""
        placement = self.cloud.connection.placement
        names = self.cloud.providers()
        [uuid] = [one for one, name in names.items() if name == host]
        url = f'/resource_providers/{uuid}'
        found = placement.get(f'{url}/inventories/MEMORY_MB').json()
        used = placement.get(f'{url}/usages').json()['usages']['MEMORY_MB']
        room = (found['total'] - found['reserved']) * found['allocation_ratio']
        left = int(room) - used
        for consumer in itertools.count():
            taken = min(left, found['max_unit'])
            if not taken:
                break
            left -= taken
            answer = placement.put(
                f'/allocations/00000000-0000-4000-8000-{consumer:012}',
                json={
                    'allocations': {uuid: {'resources': {'MEMORY_MB': taken}}},
                    'consumer_generation': None,
                    'project_id': 'filler',
                    'user_id': 'filler',
                },
                microversion='1.28',
            )
            self.assertEqual(204, answer.status_code, answer.text)
