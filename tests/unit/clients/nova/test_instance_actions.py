# SPDX-License-Identifier: Apache-2.0
"""What became of a server's requests, at the wire."""

from typing import Any

from kronos.clients.nova.instance_actions import InstanceActions
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova import test_client

ACTIONS = f'{NOVA}/servers/vm/os-instance-actions'
SINCE = 1699999500.0
"""2023-11-14, 22:05:00 UTC."""


def action(minute: int, name: str = 'live-migration') -> dict[str, Any]:
    return {
        'action': name,
        'instance_uuid': 'vm',
        'request_id': f'req-{minute}',
        'start_time': f'2023-11-14T22:{minute:02}:00.000000',
        'updated_at': None,
        'message': None,
    }


class RequestsTestCase(test_client.NovaTestCase):
    def gives(self, *rows: Any) -> None:
        self.wire.get(ACTIONS, json={'instanceActions': list(rows)})


class TestRequests(RequestsTestCase):
    def test_the_newest_first(self) -> None:
        self.gives(
            action(9),
            action(8, 'live_migration_cancel'),
            action(7),
            action(1, 'create'),
        )
        self.assertEqual(
            ['req-9', 'req-7'],
            self.live_migration.actions.live_migration_requests('vm'),
        )
        (request,) = self.keystone.requests('/os-instance-actions')
        self.assertEqual(
            'compute 2.100', request.headers['OpenStack-API-Version']
        )

    def test_pages(self) -> None:
        """Nova calls the links of this listing just "links"."""
        self.wire.get(
            ACTIONS,
            json={
                'instanceActions': [action(9), action(8, 'reboot')],
                'links': [{'rel': 'next', 'href': 'http://inner'}],
            },
        )
        self.wire.get(
            f'{ACTIONS}?marker=req-8', json={'instanceActions': [action(7)]}
        )
        self.assertEqual(
            ['req-9', 'req-7'],
            self.live_migration.actions.live_migration_requests('vm'),
        )

    def test_none(self) -> None:
        self.gives(action(1, 'create'))
        self.assertEqual(
            [], self.live_migration.actions.live_migration_requests('vm')
        )

    def test_no_such_server(self) -> None:
        self.wire.get(ACTIONS, status_code=404)
        error = self.fails(
            self.live_migration.actions.live_migration_requests, 'vm'
        )
        self.assertEqual(404, error.kwargs['status'])


class TestAskedAfter(RequestsTestCase):
    def test_newer_than_the_newest(self) -> None:
        self.gives(
            action(9, 'lock'),
            action(8, 'attach_volume'),
            action(7, 'migrate'),
            action(6, 'detach_volume'),
            action(5, 'resize'),
        )
        actions = InstanceActions(self.nova.api)
        for kinds, expected in (
            (('migrate', 'resize'), {'lock', 'attach_volume'}),
            (('lock',), set()),
            (
                ('resize',),
                {'lock', 'attach_volume', 'migrate', 'detach_volume'},
            ),
        ):
            self.assertEqual(expected, actions.asked_after('vm', kinds))


class TestAborts(RequestsTestCase):
    def test_those_alone(self) -> None:
        """A nova-compute that is stopped writes no such action."""
        self.gives(
            action(6, 'live_migration_cancel'),
            action(5),
            action(4, 'reboot'),
            action(3, 'live_migration_cancel'),
        )
        self.assertEqual(
            ['req-6', 'req-3'],
            self.live_migration.actions.abort_requests('vm'),
        )
