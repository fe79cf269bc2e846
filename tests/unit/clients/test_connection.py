# SPDX-License-Identifier: Apache-2.0
"""Clients on the session of the process that loaded Kronos."""

from keystoneauth1 import exceptions as ks_exceptions
from oslo_config import cfg
from oslotest import base

from kronos.clients import connection as clients_connection
from kronos.common import exceptions
from tests.fakes import keystone
from tests.fakes.keystone import GLANCE, NEUTRON, NOVA, PLACEMENT
from tests.unit.clients import every_method


class TestHostProcess(base.BaseTestCase):
    def test_public_endpoints_without_the_groups(self) -> None:
        """Watcher before 17 has no groups of that name."""
        fixture = self.useFixture(keystone.Keystone())
        fixture.wire.get(f'{NOVA}/os-aggregates', json={'aggregates': []})
        fixture.wire.get(
            f'{PLACEMENT}/resource_providers', json={'resource_providers': []}
        )
        fixture.wire.get(f'{GLANCE}/v2/images', json={'images': []})
        host = clients_connection.HostProcess(
            lambda: fixture.session, cfg.ConfigOpts()
        )
        self.assertEqual([], host.nova().list_aggregates())
        self.assertEqual({}, host.placement().headroom())
        self.assertEqual([], host.glance().images_named('a'))

    def test_glance_by_the_options_of_nova(self) -> None:
        """Watcher has none for it that openstacksdk understands."""
        fixture = self.useFixture(keystone.Keystone())
        fixture.wire.get(f'{GLANCE}/v2/images', json={'images': []})
        conf = every_method.conf()
        host = clients_connection.HostProcess(lambda: fixture.session, conf)
        for region, interfaces, found in (
            (None, ['public'], True),
            ('one', ['internal', 'public'], True),
            ('two', ['public'], False),
            (None, ['internal'], False),
        ):
            conf.set_override('region_name', region, 'nova')
            conf.set_override('valid_interfaces', interfaces, 'nova')
            if found:
                self.assertEqual([], host.glance().images_named('a'))
                continue
            error = self.assertRaises(
                exceptions.GlanceClientError, host.glance().images_named, 'a'
            )
            self.assertIn('image', str(error))

    def test_neutron_by_the_options_of_nova(self) -> None:
        """Watcher has none for it, either."""
        fixture = self.useFixture(keystone.Keystone())
        fixture.wire.get(f'{NEUTRON}/v2.0/ports', json={'ports': []})
        conf = every_method.conf()
        host = clients_connection.HostProcess(lambda: fixture.session, conf)
        for region, is_found in ((None, True), ('one', True), ('two', False)):
            conf.set_override('region_name', region, 'nova')
            if is_found:
                self.assertEqual({}, host.tied_ports(['a']))
                continue
            error = self.assertRaises(
                exceptions.ClientError, host.tied_ports, ['a']
            )
            self.assertIn('network service in two region', str(error))

    def test_keystone_is_away(self) -> None:
        def get_session() -> None:
            raise ks_exceptions.ConnectFailure('no route to Keystone')

        host = clients_connection.HostProcess(get_session, cfg.ConfigOpts())
        for ask, wanted in (
            (host.nova, exceptions.NovaClientError),
            (host.placement, exceptions.PlacementClientError),
            (host.glance, exceptions.GlanceClientError),
        ):
            error = self.assertRaises(wanted, ask)
            self.assertIn('no route to Keystone', str(error))
            self.assertTrue(error.kwargs['transient'])
            self.assertIs(False, error.kwargs['sent'])

    def test_keystone_says_no(self) -> None:
        fixture = self.useFixture(keystone.Keystone())
        fixture.wire.post(f'{keystone.AUTH_URL}/auth/tokens', status_code=401)
        host = clients_connection.HostProcess(
            lambda: fixture.session, cfg.ConfigOpts()
        )
        for ask, wanted in (
            (host.nova, exceptions.NovaClientError),
            (host.placement, exceptions.PlacementClientError),
            (host.glance, exceptions.GlanceClientError),
        ):
            error = self.assertRaises(wanted, ask)
            self.assertNotIn('s3cret', str(error))

    def test_another_region(self) -> None:
        fixture = self.useFixture(keystone.Keystone())
        connection = clients_connection.connect(
            fixture.session, region_name='two'
        )
        error = self.assertRaises(
            exceptions.NovaClientError,
            clients_connection.nova_client.NovaClient(
                connection.compute
            ).list_aggregates,
        )
        self.assertIn('two', str(error))
