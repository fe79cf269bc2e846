# SPDX-License-Identifier: Apache-2.0
"""Clients on a Keystone session."""

from types import SimpleNamespace

from oslotest import base

from kronos.clients import cloud
from kronos.common import exceptions
from kronos.engine.types import Health
from tests.unit.clients import keystone
from tests.unit.clients.keystone import NOVA, PLACEMENT

OPTIONS = {
    'url': 'http://metrics.example.org:9090',
    'timeout': 30,
    'max_retries': 0,
    'retry_backoff': 1,
    'staleness_threshold': 300,
}


class TestMakeClients(base.BaseTestCase):
    def test_all(self) -> None:
        fixture = self.useFixture(keystone.Keystone())
        fixture.wire.get(f'{NOVA}/os-aggregates', json={'aggregates': []})
        fixture.wire.get(
            f'{PLACEMENT}/resource_providers', json={'resource_providers': []}
        )
        fixture.wire.get(
            'http://metrics.example.org:9090/api/v1/status/runtimeinfo',
            json={'status': 'success', 'data': {}},
        )
        clients = cloud.make_clients(
            fixture.session, SimpleNamespace(**OPTIONS), region_name='one'
        )
        self.assertEqual([], clients.nova.list_aggregates())
        self.assertEqual({}, clients.placement.headroom())
        self.assertEqual(Health.HEALTHY, clients.prometheus.health())

    def test_another_region(self) -> None:
        fixture = self.useFixture(keystone.Keystone())
        clients = cloud.make_clients(
            fixture.session, SimpleNamespace(**OPTIONS), region_name='two'
        )
        error = self.assertRaises(
            exceptions.NovaClientError, clients.nova.list_aggregates
        )
        self.assertIn('two', str(error))
