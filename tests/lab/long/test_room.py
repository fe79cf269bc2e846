# SPDX-License-Identifier: Apache-2.0
"""Boots and deletions go on while a plan makes room."""

import itertools
from typing import Any

from tests.lab import rooms
from tests.lab.base import Wanted
from tests.lab.rooms import CORES, MEMORY_MB

NUMBER = 3
SECONDS = 10
"""From audit to audit, and what a move takes."""
ROUNDS = 8
"""Boots and deletions."""
TOO_MANY = 5
"""Small servers after which the free vCPUs are fewer than 3 large ones have.
"""


class TestRoom(rooms.RoomTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.fill_hosts()
        self.cloud.set_migrations({'default': {'seconds': SECONDS}})
        self.keeper = self.begin()
        self.wait(self.is_moving, 'the first plan to run')

    def test_boots_and_deletions(self) -> None:
        """As much comes as goes: in the end there is room, and it is taken."""
        names = map('other-{}'.format, itertools.count())
        for _ in range(ROUNDS):
            self.boot_small(next(names))
            self.delete_small()
        message = self.ended('already has room for')
        self.assertIn(f'{NUMBER} servers of {self.large}', message)
        self.assertGreaterEqual(self.slots(), NUMBER)
        self.openstack(_cancelled(self.keeper))
        self.assert_taken(self.slots())

    def test_room_that_is_taken(self) -> None:
        """More comes than there is room for beside the large ones."""
        for number in range(TOO_MANY):
            self.boot_small(f'other-{number}')
        message = self.ended('no number of migrations makes room for')
        self.assertIn(f'at most 2 servers of {self.large} can get', message)
        self.assertLess(self.slots(), NUMBER)

    def begin(self) -> dict[str, Any]:
        audit = self.audit(
            f'aggregates={self.aggregate} flavors={self.large}={NUMBER}',
            f'--audit_type CONTINUOUS --interval {SECONDS} --auto-trigger',
            'kronos_make_room',
        )
        # Refused if the scenario has cancelled it.
        self.addCleanup(self.run_client, _cancelled(audit))
        return audit

    def is_moving(self) -> bool:
        servers = self.cloud.servers().values()
        return 'MIGRATING' in {server['status'] for server in servers}

    def boot_small(self, name: str) -> None:
        """Boot a small server where Nova likes it."""
        self.cloud.boot_all([Wanted(name, '', CORES, MEMORY_MB)])

    def delete_small(self) -> None:
        """Delete the oldest small server that doesn't move."""
        oldest = min(
            (
                server
                for server in self.cloud.servers().values()
                if server['flavor']['original_name'] == 'lab.medium'
                and server['OS-EXT-STS:task_state'] is None
            ),
            key=lambda server: (server['created'], server['name']),
        )
        self.openstack(f'server delete --wait {oldest["id"]}')

    def ended(self, words: str) -> str:
        """What the audit says once it says so and no plan is under way."""
        url = f'/v1/audits/{self.keeper["UUID"]}'

        def message() -> str:
            states = {plan['state'] for plan in self.plans(self.keeper)}
            text = str(self.cloud.watcher(url)['status_message'])
            is_over = words in text and not states & {'PENDING', 'ONGOING'}
            return text if is_over else ''

        return str(self.wait(message, f'the audit to say {words!r}'))


def _cancelled(audit: dict[str, Any]) -> str:
    """The command that ends an audit."""
    return f'optimize audit update {audit["UUID"]} replace state=CANCELLED'
