# SPDX-License-Identifier: Apache-2.0
"""Are Neutron's extensions read, and is every failure the client's own?"""

import requests_mock
from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.clients import neutron
from kronos.common import exceptions

URL = 'https://neutron.example.org/networking'


class TestExtensions(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wire = requests_mock.Mocker()
        self.wire.start()
        self.addCleanup(self.wire.stop)

    def asked(self, url: str = URL) -> set[str]:
        plain = session.Session(noauth.NoAuth())
        return neutron.extensions(
            adapter.Adapter(
                plain, service_type='network', endpoint_override=url
            )
        )

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
