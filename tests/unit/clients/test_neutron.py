# SPDX-License-Identifier: Apache-2.0
"""Are Neutron's answers read, and is every failure the client's own?"""

from typing import Any

import requests_mock
from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.clients import neutron
from kronos.common import exceptions

URL = 'https://neutron.example.org/networking'


class NeutronTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wire = requests_mock.Mocker()
        self.wire.start()
        self.addCleanup(self.wire.stop)

    def network(self, url: str = URL) -> adapter.Adapter:
        plain = session.Session(noauth.NoAuth())
        return adapter.Adapter(
            plain, service_type='network', endpoint_override=url
        )


class TestPorts(NeutronTestCase):
    PORTS = f'{URL}/v2.0/ports'

    def answers(self, *ports: dict[str, Any]) -> None:
        rows = [{'id': str(index), **port} for index, port in enumerate(ports)]
        self.wire.get(self.PORTS, json={'ports': rows})

    def tied(self, *servers: str) -> dict[str, str]:
        return neutron.tied(self.network(), servers)

    def test_what_ties(self) -> None:
        """Both formats of a resource request, and two kinds of accelerators.

        An accelerated port beside one with a request makes no difference.
        """
        of_old = {'resources': {'NET_BW_EGR_KILOBIT_PER_SEC': 1}}
        of_new = {'request_groups': [of_old], 'same_subtree': []}
        vnic = 'binding:vnic_type'
        self.answers(
            {'device_id': 'a', 'resource_request': of_old},
            {'device_id': 'a', vnic: 'accelerator-direct'},
            {'device_id': 'b', 'resource_request': of_new},
            {'device_id': 'c', vnic: 'accelerator-direct-physical'},
            {'device_id': 'd', vnic: 'direct', 'resource_request': None},
            {'device_id': 'e', 'resource_request': {}},
            {'device_id': '', 'resource_request': of_old},
            {'device_id': 'elsewhere', 'resource_request': of_old},
        )
        self.assertEqual(
            {
                'a': 'a resource request',
                'b': 'a resource request',
                'c': 'an accelerator',
            },
            self.tied('a', 'b', 'c', 'd', 'e', 'f'),
        )

    def test_few_calls(self) -> None:
        """Nothing is asked of nobody, and 50 servers at a time."""
        self.answers()
        self.assertEqual({}, self.tied())
        self.assertEqual(0, self.wire.call_count)
        self.tied(*(f'server-{number}' for number in range(101)))
        asked = [one.qs['device_id'] for one in self.wire.request_history]
        self.assertEqual([50, 50, 1], [len(one) for one in asked])
        self.assertEqual(
            ['id', 'device_id', 'resource_request', 'binding:vnic_type'],
            self.wire.last_request.qs['fields'],
        )

    def test_pages(self) -> None:
        """Of a Neutron that limits them."""
        row = {'device_id': 'a', 'resource_request': {'resources': {'x': 1}}}
        first = {
            'ports': [{'id': '1', 'device_id': 'a'}],
            'ports_links': [{'rel': 'next', 'href': 'http://elsewhere'}],
        }
        self.wire.get(self.PORTS, json=first)
        self.wire.get(
            f'{self.PORTS}?marker=1', json={'ports': [{'id': '2', **row}]}
        )
        self.assertEqual({'a': 'a resource request'}, self.tied('a'))

    def test_away(self) -> None:
        self.wire.get(self.PORTS, status_code=403, json={})
        error = self.assertRaises(exceptions.ClientError, self.tied, 'a')
        self.assertIn('HTTP 403', str(error))


class TestExtensions(NeutronTestCase):
    def asked(self, url: str = URL) -> set[str]:
        return neutron.extensions(self.network(url))

    def test_aliases(self) -> None:
        rows = [{'alias': one, 'links': []} for one in ('quotas', 'binding')]
        self.wire.get(f'{URL}/v2.0/extensions', json={'extensions': rows})
        for url in (URL, f'{URL}/', f'{URL}/v2.0', f'{URL}/v2.0/'):
            self.assertEqual({'quotas', 'binding'}, self.asked(url))
        [header] = {
            one.headers.get('OpenStack-API-Version')
            for one in self.wire.request_history
        }
        self.assertIsNone(header)

    def test_failures(self) -> None:
        for answer, told in (
            ({'status_code': 403, 'json': {}}, 'HTTP 403'),
            ({'json': {'extensions': [{'name': 'x'}]}}, 'not what was'),
            ({'text': '<html>'}, 'not JSON'),
        ):
            self.wire.get(f'{URL}/v2.0/extensions', **answer)
            error = self.assertRaises(exceptions.ClientError, self.asked)
            self.assertIn(told, str(error))

    def test_no_endpoint(self) -> None:
        plain = session.Session(noauth.NoAuth())
        nowhere = adapter.Adapter(plain, service_type='network')
        error = self.assertRaises(
            exceptions.ClientError, neutron.extensions, nowhere
        )
        self.assertIn('no endpoint', str(error))
