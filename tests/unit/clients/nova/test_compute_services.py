# SPDX-License-Identifier: Apache-2.0
"""The closing of hosts at the wire."""

from kronos.clients.nova.compute_services import ComputeServices
from tests.unit.clients.nova.test_client import (
    SERVICE,
    SERVICES,
    NovaTestCase,
)


class ComputeServicesTestCase(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.services = ComputeServices(self.nova.api)
        self.wire.get(SERVICES, json={'services': [{**SERVICE, 'id': 'abc'}]})
        self.wire.put(f'{SERVICES}/abc', json={'service': {}})

    def test_the_request(self) -> None:
        self.services.disable('cmp1', 'KRONOS: at fault')
        [asked] = self.keystone.requests('/os-services')
        self.assertEqual(
            {'binary': ['nova-compute'], 'host': ['cmp1']}, asked.qs
        )
        [sent] = self.keystone.requests('/os-services/abc')
        self.assertEqual('PUT', sent.method)
        self.assertEqual(
            {'status': 'disabled', 'disabled_reason': 'KRONOS: at fault'},
            sent.json(),
        )
        self.assertEqual(
            'compute 2.100', sent.headers['OpenStack-API-Version']
        )

    def test_a_long_reason(self) -> None:
        self.services.disable('cmp1', 'x' * 300)
        sent = self.keystone.requests('/os-services/abc')[-1]
        self.assertEqual(255, len(sent.json()['disabled_reason']))

    def test_no_such_service(self) -> None:
        """One of another host or kind is not taken for it."""
        for row in ({'host': 'cmp11'}, {'binary': 'nova-conductor'}):
            self.wire.get(SERVICES, json={'services': [{**SERVICE, **row}]})
            error = self.fails(self.services.disable, 'cmp1', 'x')
            self.assertIn('no nova-compute service on cmp1', str(error))
            self.assertFalse(error.kwargs['transient'])

    def test_a_refusal(self) -> None:
        self.wire.put(
            f'{SERVICES}/abc',
            status_code=403,
            json={'forbidden': {'code': 403, 'message': 'policy'}},
        )
        error = self.fails(self.services.disable, 'cmp1', 'x')
        self.assertEqual(403, error.kwargs['status'])
