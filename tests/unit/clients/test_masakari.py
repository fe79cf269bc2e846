# SPDX-License-Identifier: Apache-2.0
"""The Masakari client at the wire."""

import datetime
from typing import Any

import requests_mock
from keystoneauth1 import token_endpoint
from oslotest import base

from kronos.clients import keystone, masakari
from kronos.common import exceptions

URL = 'https://masakari.example.org/v1'
AT = datetime.datetime(2026, 11, 23, 20, 0, 1, 500000, datetime.UTC)


class MasakariTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wire = requests_mock.Mocker()
        self.wire.start()
        self.addCleanup(self.wire.stop)
        links = [{'rel': 'self', 'href': URL}]
        version = {'id': 'v1', 'status': 'CURRENT', 'links': links}
        self.wire.get(URL, json={'version': version})
        self.client = masakari.connect(
            keystone.KeystoneSession(token_endpoint.Token(URL, 'a-token')),
            max_retries=0,
        )

    def listings(self, **hosts: list[tuple[str, bool]]) -> None:
        """Of each segment its hosts; True: under maintenance."""
        self.wire.get(f'{URL}/segments', json=self.paged('segments', hosts))
        for segment, host in hosts.items():
            rows = {f'{segment}-{n}': one for n, one in enumerate(host)}
            self.wire.get(
                f'{URL}/segments/{segment}/hosts',
                json=self.paged('hosts', rows),
            )

    @staticmethod
    def paged(key: str, rows: dict[str, Any]) -> Any:
        def answer(request: Any, _: Any) -> dict[str, Any]:
            names = [*rows]
            after = request.qs.get('marker')
            start = names.index(after[0]) + 1 if after else 0
            found = []
            for uuid in names[start : start + masakari._PAGE]:
                one = {'uuid': uuid}
                if key == 'hosts':
                    one['name'], one['on_maintenance'] = rows[uuid]
                found.append(one)
            return {key: found}

        return answer


class TestNotify(MasakariTestCase):
    def test_what_is_sent(self) -> None:
        sent = self.wire.post(f'{URL}/notifications', status_code=202, json={})
        self.client.notify('node1', AT, {'event': 'LIFECYCLE'})
        self.assertEqual(
            {
                'notification': {
                    'type': 'VM',
                    'hostname': 'node1',
                    'generated_time': '2026-11-23T20:00:01.500000',
                    'payload': {'event': 'LIFECYCLE'},
                }
            },
            sent.last_request.json(),
        )

    def test_refused(self) -> None:
        self.wire.post(
            f'{URL}/notifications',
            status_code=400,
            json={'badRequest': {'code': 400, 'message': 'no such host'}},
        )
        error = self.assertRaises(
            exceptions.ClientError, self.client.notify, 'node1', AT, {}
        )
        self.assertEqual(400, error.kwargs['status'])
        self.assertIn('no such host', str(error))


class TestHosts(MasakariTestCase):
    def test_every_page_is_read(self) -> None:
        self.listings(
            a=[
                *((f'm{n}', False) for n in range(2 * masakari._PAGE)),
                ('n3', True),
            ],
            b=[],
            c=[('n3', False)],
        )
        found = [host['on_maintenance'] for host in self.client.hosts('n3')]
        self.assertEqual([True, False], found)
        self.assertEqual([], [*self.client.hosts('n4')])

    def test_the_case_does_not_matter(self) -> None:
        self.listings(a=[('Node1', True)])
        self.assertEqual(1, len([*self.client.hosts('nODE1')]))

    def test_a_marker_is_not_sent_in_vain(self) -> None:
        """Masakari 22 refuses those of hosts."""
        self.listings(a=[('n1', False)])
        self.assertEqual(1, len([*self.client.hosts('n1')]))
        for one in self.wire.request_history:
            self.assertNotIn('marker', one.qs)
