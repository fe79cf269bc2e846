# SPDX-License-Identifier: Apache-2.0
"""With whose credentials does a command ask, and what if there are none?"""

import json
import pathlib
from typing import Any

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.cmd import credentials
from kronos.common import exceptions
from tests.fakes import keystone
from tests.fakes.keystone import AUTH_URL, NOVA

SECRET = 's3cret'
AUTH = {
    'auth_url': AUTH_URL,
    'username': 'kronos',
    'password': SECRET,
    'user_domain_id': 'default',
    'project_name': 'service',
    'project_domain_id': 'default',
}


class SessionTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('OS_CLOUD', 'OS_AUTH_URL', 'OS_AUTH_TYPE'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        self.wire = self.useFixture(keystone.Keystone()).wire

    def conf(self, group: str = 'nova', **options: str) -> Any:
        conf = cfg.ConfigOpts()
        credentials.register_opts(conf, group)
        file = self.folder / 'kronos.conf'
        lines = [f'{key} = {value}' for key, value in options.items()]
        file.write_text('\n'.join([f'[{group}]', *lines, '']))
        conf([], default_config_files=[str(file)], default_config_dirs=[])
        return conf

    def clouds(self, text: str) -> None:
        file = self.folder / 'clouds.yaml'
        file.write_text(text)
        self.useFixture(
            fixtures.EnvironmentVariable('OS_CLIENT_CONFIG_FILE', str(file))
        )

    def refused(self, conf: Any, os_cloud: str = '') -> str:
        error = self.assertRaises(
            exceptions.ConfigurationError, credentials.connect, conf, os_cloud
        )
        self.assertNotIn(SECRET, str(error))
        return str(error)


class TestSources(SessionTestCase):
    def test_the_configuration(self) -> None:
        conf = self.conf(auth_type='password', region_name='one', **AUTH)
        access = credentials.connect(conf)
        self.assertIn('[nova]', access.source)
        self.assertNotEqual('', access.identity().user)
        self.wire.get(f'{NOVA}/os-aggregates', json={'aggregates': []})
        self.assertEqual([], access.clients.nova().list_aggregates())
        # Placement is where Nova is.
        self.assertEqual('one', conf.placement.region_name)

    def test_another_group(self) -> None:
        conf = self.conf('watcher_clients_auth', auth_type='password', **AUTH)
        access = credentials.connect(conf, group='watcher_clients_auth')
        self.assertIn('[watcher_clients_auth]', access.source)

    def test_a_cloud_goes_first(self) -> None:
        self.clouds(
            json.dumps(
                {'clouds': {'one': {'auth': AUTH, 'region_name': 'one'}}}
            )
        )
        conf = self.conf(auth_type='password', **AUTH)
        access = credentials.connect(conf, 'one')
        self.assertIn('cloud one', access.source)
        self.wire.get(f'{NOVA}/os-aggregates', json={'aggregates': []})
        self.assertEqual([], access.clients.nova().list_aggregates())
        self.assertIn('two', self.refused(conf, 'two'))

    def test_the_environment(self) -> None:
        for key, value in AUTH.items():
            name = f'OS_{key.upper()}'
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        access = credentials.connect(self.conf())
        self.assertIn('environment', access.source)
        self.assertNotEqual('', access.identity().user)

    def test_none(self) -> None:
        self.assertIn('--os-cloud', self.refused(self.conf()))


class TestFaults(SessionTestCase):
    def test_what_is_not_whole(self) -> None:
        conf = self.conf(auth_type='password', password=SECRET)
        self.assertIn('auth_url', self.refused(conf))
        self.assertIn(
            'nonsense', self.refused(self.conf(auth_type='nonsense'))
        )

    def test_clouds_that_are_no_yaml(self) -> None:
        """The line may hold the password; openstacksdk passes it over."""
        log = self.useFixture(fixtures.FakeLogger())
        self.clouds(f'clouds:\n  one: {{auth: {{password: {SECRET}\n')
        text = self.refused(self.conf(), 'one')
        self.assertIn('was not found', text)
        self.assertIn('clouds.yaml', log.output)
        self.assertNotIn(SECRET, log.output)

    def test_keystone_refuses(self) -> None:
        self.wire.post(f'{AUTH_URL}/auth/tokens', status_code=401)
        access = credentials.connect(self.conf(auth_type='password', **AUTH))
        error = self.assertRaises(exceptions.ClientError, access.identity)
        self.assertEqual(401, error.kwargs['status'])
        self.assertNotIn(SECRET, str(error))

    def test_nobody_in_particular(self) -> None:
        """An endpoint that wants no credentials."""
        conf = self.conf(auth_type='none', endpoint=NOVA)
        self.assertEqual('', credentials.connect(conf).identity().user)
