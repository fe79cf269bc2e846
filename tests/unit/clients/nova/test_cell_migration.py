# SPDX-License-Identifier: Apache-2.0
"""Cold migrations and resizes at the wire."""

from typing import Any

from kronos.clients.nova.cell_migration import CellMigration
from kronos.common import exceptions
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova import test_client, test_live_migration

SERVER = f'{NOVA}/servers/vm'
ACTION = f'{SERVER}/action'
MIGRATIONS = f'{NOVA}/os-migrations'
LISTED = f'{SERVER}/os-instance-actions'
REQUEST = 'req-11111111-2222-3333-4444-555555555555'
event = test_live_migration.event


def migration(number: int, **more: Any) -> dict[str, Any]:
    return test_live_migration.migration(
        number, migration_type='migration', **more
    )


class CellMigrationTestCase(test_client.NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.migration = CellMigration(self.nova.api)

    def accepts(self, status: int = 202, request: str = REQUEST) -> None:
        headers = {'x-compute-request-id': request} if request else {}
        self.wire.post(ACTION, status_code=status, headers=headers)


class TestRequests(CellMigrationTestCase):
    def test_bodies(self) -> None:
        self.accepts()
        for do, body in (
            (
                lambda: self.migration.migrate('vm', 'cmp2'),
                {'migrate': {'host': 'cmp2'}},
            ),
            (
                lambda: self.migration.resize('vm', 'f-2'),
                {'resize': {'flavorRef': 'f-2'}},
            ),
            (
                lambda: self.migration.confirm('vm'),
                {'confirmResize': None},
            ),
            (lambda: self.migration.revert('vm'), {'revertResize': None}),
            (
                lambda: self.migration.set_active('vm'),
                {'os-resetState': {'state': 'active'}},
            ),
            (
                lambda: self.migration.reboot('vm'),
                {'reboot': {'type': 'HARD'}},
            ),
            (lambda: self.migration.start('vm'), {'os-start': None}),
            (lambda: self.migration.stop('vm'), {'os-stop': None}),
        ):
            self.assertEqual(REQUEST, do())
            asked = self.keystone.requests('/action')[-1]
            self.assertEqual(body, asked.json())
            # With a host since 2.56.
            self.assertEqual(
                'compute 2.100', asked.headers['OpenStack-API-Version']
            )

    def test_an_answer_of_something_in_between(self) -> None:
        """Nova's own have a request id; the request may be there."""
        self.accepts(status=200, request='')
        for do in (
            lambda: self.migration.migrate('vm', 'cmp2'),
            lambda: self.migration.resize('vm', '2'),
        ):
            error = self.fails(do)
            self.assertIn('the answer was lost', str(error))
            self.assertTrue(error.kwargs['transient'])
            self.assertIsNone(error.kwargs['sent'])

    def test_an_ending_without_a_request_id(self) -> None:
        """Nothing depends on it."""
        self.accepts(status=204, request='')
        self.assertEqual('', self.migration.confirm('vm'))

    def test_refused(self) -> None:
        text = 'Compute host cmp2 could not be found.'
        self.wire.post(
            ACTION, status_code=400, json={'badRequest': {'message': text}}
        )
        error = self.fails(self.migration.migrate, 'vm', 'cmp2')
        self.assertEqual(400, error.kwargs['status'])
        self.assertTrue(error.kwargs['reason'].endswith(f'HTTP 400: {text}'))

    def test_never_sent_twice(self) -> None:
        """Nova may be at it."""
        self.wire.post(ACTION, status_code=503)
        for do in (
            lambda: self.migration.migrate('vm', 'cmp2'),
            lambda: self.migration.confirm('vm'),
        ):
            before = len(self.keystone.requests('/action'))
            self.fails(do)
            self.assertEqual(
                before + 1, len(self.keystone.requests('/action'))
            )


class TestPin(CellMigrationTestCase):
    def test_a_zone_and_none(self) -> None:
        self.wire.put(SERVER, json={'server': {}})
        for zone in ('az1', None):
            self.migration.pin('vm', zone)
            asked = self.keystone.requests('/servers/vm')[-1]
            self.assertEqual(
                {'server': {'pinned_availability_zone': zone}}, asked.json()
            )
            self.assertEqual(
                'compute 2.104', asked.headers['OpenStack-API-Version']
            )

    def test_an_older_nova(self) -> None:
        self.wire.put(SERVER, status_code=406)
        error = self.fails(self.migration.pin, 'vm', None)
        self.assertIsInstance(error, exceptions.NovaClientError)
        self.assertEqual(406, error.kwargs['status'])


class TestMigrations(CellMigrationTestCase):
    def listed(self, *rows: dict[str, Any]) -> list[str]:
        self.wire.get(MIGRATIONS, json={'migrations': list(rows)})
        found = self.migration.migrations_of('vm')
        self.asked = self.keystone.requests('/os-migrations')[-1]
        return [one.uuid for one in found]

    def test_of_one_server(self) -> None:
        self.listed()
        self.assertEqual({'instance_uuid': ['vm']}, self.asked.qs)

    def test_the_newest_first(self) -> None:
        self.assertEqual(
            ['migration-3', 'migration-2', 'migration-1'],
            self.listed(migration(1), migration(3), migration(2)),
        )

    def test_cold_ones(self) -> None:
        self.assertEqual(
            ['migration-2', 'migration-1'],
            self.listed(
                migration(1),
                {**migration(2), 'migration_type': 'resize'},
                {**migration(3), 'migration_type': 'live-migration'},
                {**migration(4), 'migration_type': 'evacuation'},
            ),
        )

    def test_a_row_in_either_cell(self) -> None:
        """Of the same uuid, and of any id."""
        one, other = (
            migration(1, id=number, status=status)
            for number, status in ((3, 'finished'), (4, 'migrating'))
        )
        self.wire.get(MIGRATIONS, json={'migrations': [one, other]})
        [found] = self.migration.migrations_of('vm')
        self.assertEqual('finished', found.status)


class TestActions(CellMigrationTestCase):
    def test_requests(self) -> None:
        """Migrations and resizes alone."""
        rows = [
            {'action': action, 'request_id': f'req-{number}'}
            for number, action in enumerate(
                ('resize', 'live-migration', 'migrate', 'confirmResize')
            )
        ]
        self.wire.get(
            LISTED,
            [
                {'json': {'instanceActions': rows}},
                {'json': {'instanceActions': []}},
            ],
        )
        self.assertEqual(['req-0', 'req-2'], self.migration.requests_of('vm'))

    def events(self, *events: dict[str, Any]) -> None:
        self.wire.get(
            f'{LISTED}/{REQUEST}',
            json={
                'instanceAction': {
                    'action': 'migrate',
                    'request_id': REQUEST,
                    'events': list(events),
                }
            },
        )

    def test_one_that_failed(self) -> None:
        self.events(
            event('cold_migrate'),
            event(
                'conductor_migrate_server',
                result='Error',
                details='No valid host was found.',
            ),
        )
        self.assertTrue(self.migration.has_failed('vm', REQUEST))
        self.assertEqual(
            'No valid host was found.',
            self.migration.refusal_reason('vm', REQUEST),
        )

    def test_one_that_goes_on(self) -> None:
        """Events of a move that went well stay open for ever."""
        self.events(event('cold_migrate'), event('conductor_migrate_server'))
        self.assertFalse(self.migration.has_failed('vm', REQUEST))
        self.assertEqual('', self.migration.refusal_reason('vm', REQUEST))
