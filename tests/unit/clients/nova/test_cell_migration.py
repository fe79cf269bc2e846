# SPDX-License-Identifier: Apache-2.0
"""The moves of servers to other cells at the wire."""

from typing import Any

from kronos.clients.nova.cell_migration import CellMigration
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_client import NovaTestCase

SERVER = f'{NOVA}/servers/vm'
ACTION = f'{SERVER}/action'
ACTIONS = f'{SERVER}/os-instance-actions'
MIGRATIONS = f'{NOVA}/os-migrations'


def migration(uuid: str, hour: int, **more: Any) -> dict[str, Any]:
    return {
        'id': 1,
        'uuid': uuid,
        'instance_uuid': 'vm',
        'migration_type': 'migration',
        'status': 'finished',
        'source_compute': 'o1',
        'dest_compute': 'n1',
        'created_at': f'2026-03-01T{hour:02d}:00:00.000000',
        'updated_at': None,
        **more,
    }


class CellMigrationTestCase(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.moves = CellMigration(self.nova.api)

    def versions(self, path: str) -> list[str]:
        return [
            request.headers['OpenStack-API-Version']
            for request in self.keystone.requests(path)
        ]


class TestRequests(CellMigrationTestCase):
    def test_bodies_and_microversions(self) -> None:
        self.wire.post(
            ACTION, status_code=202, headers={'x-compute-request-id': 'req-1'}
        )
        for found in (
            self.moves.migrate('vm', 'n1'),
            self.moves.resize('vm', '2'),
            self.moves.confirm('vm'),
            self.moves.revert('vm'),
            self.moves.set_active('vm'),
            self.moves.reboot('vm'),
            self.moves.start('vm'),
            self.moves.stop('vm'),
        ):
            self.assertEqual('req-1', found)
        self.assertEqual(
            [
                {'migrate': {'host': 'n1'}},
                {'resize': {'flavorRef': '2'}},
                {'confirmResize': None},
                {'revertResize': None},
                {'os-resetState': {'state': 'active'}},
                {'reboot': {'type': 'HARD'}},
                {'os-start': None},
                {'os-stop': None},
            ],
            [request.json() for request in self.keystone.requests('/action')],
        )
        self.assertEqual({'compute 2.100'}, {*self.versions('/action')})

    def test_a_lost_request_id(self) -> None:
        """Nova may have taken it: it is not called refused."""
        self.wire.post(ACTION, status_code=202)
        for ask, told in (
            (self.moves.migrate, 'n1'),
            (self.moves.resize, '2'),
        ):
            error = self.fails(ask, 'vm', told)
            self.assertIn('server vm: the answer was lost', str(error))
            self.assertIsNone(error.kwargs['sent'])
            self.assertTrue(error.kwargs['transient'])
        self.assertEqual(2, len(self.keystone.requests('/action')))
        self.assertEqual('', self.moves.confirm('vm'))

    def test_a_refusal(self) -> None:
        text = 'Compute host n1 could not be found.'
        self.wire.post(
            ACTION, status_code=400, json={'badRequest': {'message': text}}
        )
        error = self.fails(self.moves.migrate, 'vm', 'n1')
        self.assertEqual(400, error.kwargs['status'])
        self.assertIn(text, str(error))
        self.assertFalse(error.kwargs['transient'])

    def test_pin(self) -> None:
        self.wire.put(SERVER, json={'server': {}})
        self.moves.pin('vm', 'az1')
        self.moves.pin('vm', None)
        self.assertEqual(
            [
                {'server': {'pinned_availability_zone': 'az1'}},
                {'server': {'pinned_availability_zone': None}},
            ],
            [
                request.json()
                for request in self.keystone.requests('/servers/vm')
            ],
        )
        self.assertEqual(['compute 2.104'] * 2, self.versions('/servers/vm'))

    def test_pin_at_an_older_nova(self) -> None:
        self.wire.put(SERVER, status_code=406, json={})
        error = self.fails(self.moves.pin, 'vm', None)
        self.assertEqual(406, error.kwargs['status'])


class TestMigrations(CellMigrationTestCase):
    def listed(self, *rows: dict[str, Any]) -> list[tuple[str, str]]:
        """Uuids and statuses of what is found among the rows."""
        self.wire.get(
            MIGRATIONS,
            [{'json': {'migrations': rows}}, {'json': {'migrations': []}}],
        )
        return [
            (one.uuid, one.status) for one in self.moves.migrations_of('vm')
        ]

    def test_of_one_server(self) -> None:
        self.assertEqual([], self.listed())
        [request] = self.keystone.requests('/os-migrations')
        self.assertEqual(['vm'], request.qs['instance_uuid'])

    def test_cold_ones(self) -> None:
        result = self.listed(
            migration('a', 9, migration_type='live-migration'),
            migration('b', 8, migration_type='resize'),
            migration('c', 7, migration_type='evacuation'),
            migration('d', 6),
            migration('e', 5, migration_type=None),
        )
        self.assertEqual(['b', 'd'], [uuid for uuid, _ in result])

    def test_each_once(self) -> None:
        """It has a row in either cell; Nova lists the newest first."""
        self.assertEqual(
            [('a', 'finished'), ('b', 'reverted')],
            self.listed(
                migration('a', 9),
                migration('a', 9, status='post-migrating'),
                migration('b', 8, status='reverted'),
            ),
        )

    def test_the_newest_first(self) -> None:
        """Whatever was changed last, and whichever cell tells first."""
        result = self.listed(
            migration('a', 7, updated_at='2026-03-01T12:00:00.000000'),
            migration('b', 9),
            migration('c', 8),
        )
        self.assertEqual(['b', 'c', 'a'], [uuid for uuid, _ in result])


class TestInstanceActions(CellMigrationTestCase):
    def test_requests(self) -> None:
        rows = [
            {'action': action, 'request_id': f'req-{n}', 'user_id': 'joe'}
            for n, action in enumerate(
                ('confirmResize', 'resize', 'live-migration', 'migrate')
            )
        ]
        self.wire.get(
            ACTIONS,
            [
                {'json': {'instanceActions': rows}},
                {'json': {'instanceActions': []}},
            ],
        )
        self.assertEqual(['req-1', 'req-3'], self.moves.requests_of('vm'))

    def ended(self, *results: str | None) -> None:
        """The parts of a request ended so."""
        events = [
            {
                'event': f'part-{n}',
                'start_time': f'2026-03-01T12:00:{n:02d}.000000',
                'result': result,
                'details': result and f'what {n} says',
            }
            for n, result in enumerate(results)
        ]
        action = {
            'action': 'migrate',
            'request_id': 'req-1',
            'user_id': 'joe',
            'events': events,
        }
        self.wire.get(f'{ACTIONS}/req-1', json={'instanceAction': action})

    def test_has_failed(self) -> None:
        for results, has_failed in (
            ((), False),
            (('Success', None), False),
            (('Success', 'Error'), True),
        ):
            self.ended(*results)
            result = self.moves.has_failed('vm', 'req-1')
            self.assertIs(has_failed, result, results)

    def test_refusal_reason(self) -> None:
        self.ended('Success', 'Error')
        self.assertEqual(
            'what 1 says', self.moves.actions.refusal_reason('vm', 'req-1')
        )
