# SPDX-License-Identifier: Apache-2.0
"""Does Nova's listing tell when a server came, and when it went?"""

from typing import Any

from kronos.clients.nova import server_lives
from kronos.common import exceptions
from kronos.engine.types import Disruption, Instance
from tests.unit.clients.nova.test_client import (
    NOVA,
    SERVERS,
    NovaTestCase,
    server,
)

CREATED = '2026-01-01T00:00:00Z'
SINCE = 1767225600.0


class TestListing(NovaTestCase):
    def listing(
        self, *rows: dict[str, Any], **filters: str
    ) -> list[server_lives.ServerLife]:
        times = {'created': CREATED, 'updated': '2026-01-01T02:00:00Z'}
        page = [times | row for row in rows]
        self.wire.get(SERVERS, json={'servers': page})
        return list(server_lives.listing(self.nova.api, SINCE, **filters))

    def test_a_server_of_today(self) -> None:
        [life] = self.listing(server('a'))
        self.assertEqual(
            ('a', 'cmp1'), (life.instance.uuid, life.instance.host)
        )
        self.assertEqual((SINCE, None), (life.instance.created, life.gone))
        [request] = self.keystone.requests('/servers/detail')
        self.assertEqual(['2026-01-01t00:00:00z'], request.qs['changes-since'])
        self.assertEqual(['1'], request.qs['all_tenants'])

    def test_servers_that_are_gone(self) -> None:
        """By when Nova ended them, else by the last change of the row."""
        ended = {'OS-SRV-USG:terminated_at': '2026-01-01T01:00:00.000000'}
        lives = self.listing(
            server('a', status='DELETED', **ended),
            server('b', status='DELETED'),
            server('c', status='SOFT_DELETED'),
            server('d', status='SHUTOFF', **ended),
        )
        self.assertEqual(
            [SINCE + 3600, SINCE + 7200, SINCE + 7200, None],
            [life.gone for life in lives],
        )

    def test_those_without_a_host(self) -> None:
        nowhere = {'OS-EXT-SRV-ATTR:host': None}
        hidden = {'id': 'c', 'status': 'UNKNOWN'}
        self.assertEqual(
            ['a'],
            [
                life.instance.uuid
                for life in self.listing(
                    server('a'), server('b', **nowhere), hidden
                )
            ],
        )

    def test_some_only(self) -> None:
        self.listing(deleted='true')
        [request] = self.keystone.requests('/servers/detail')
        self.assertEqual(['true'], request.qs['deleted'])


class TestPastMoves(NovaTestCase):
    def test_requests_are_left_of_servers_that_are_gone(self) -> None:
        actions = [
            {'request_id': f'req-{number}', 'action': kind, 'start_time': at}
            for number, (kind, at) in enumerate(
                (
                    ('delete', '2026-01-01T00:09:00.000000'),
                    ('evacuate', '2026-01-01T00:08:00.000000'),
                    ('resize', '2026-01-01T00:07:00.000000'),
                    ('migrate', '2026-01-01T00:00:00.000000'),
                    ('live-migration', '2025-12-31T23:59:59.000000'),
                )
            )
        ]
        self.wire.get(
            f'{NOVA}/servers/gone/os-instance-actions',
            json={'instanceActions': actions},
        )
        forgotten = f'{NOVA}/servers/forgotten/os-instance-actions'
        self.wire.get(forgotten, status_code=404)
        lives = [
            server_lives.ServerLife(Instance(uuid, 'a', project_id='p'), gone)
            for uuid, gone in (
                ('gone', SINCE + 540),
                ('forgotten', SINCE + 540),
                ('before', SINCE - 1),
                ('living', None),
            )
        ]
        self.assertEqual(
            [
                Disruption('gone', 'p', SINCE + 480),
                Disruption('gone', 'p', SINCE),
            ],
            list(server_lives.past_moves(self.nova.api, lives, SINCE)),
        )
        self.wire.get(forgotten, status_code=403)
        error = self.assertRaises(
            exceptions.NovaClientError,
            list,
            server_lives.past_moves(self.nova.api, lives, SINCE),
        )
        self.assertIn('forgotten', str(error))
