# SPDX-License-Identifier: Apache-2.0
"""How the Prometheus client authenticates."""

import os
from types import SimpleNamespace
from typing import Any

import fixtures
import requests_mock
from keystoneauth1 import fixture as ks_fixture
from keystoneauth1 import session
from keystoneauth1.identity import v3
from oslo_config import cfg
from responses import matchers

from kronos.clients.prometheus import auth
from kronos.clients.prometheus import client as prometheus
from kronos.common import exceptions
from kronos.conf import opts
from kronos.engine.types import Health
from tests.unit.clients.prometheus import test_client
from tests.unit.clients.prometheus.test_client import NOW, URL, answer


def options(**values: Any) -> Any:
    """The group as the services have it."""
    conf = cfg.ConfigOpts()
    opts.register_opts(conf)
    conf([], default_config_files=[])
    for name, value in values.items():
        conf.set_override(name, value, group=opts.PROMETHEUS)
    return conf.kronos_prometheus


class OptionsTestCase(test_client.PrometheusTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path

    def file(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def client_of(self, **values: Any) -> Any:
        return prometheus.from_options(
            options(url=URL, **values),
            clock=lambda: NOW,
            sleep=self.slept.append,
        )

    def sent(self) -> Any:
        return self.wire.calls[-1].request.headers.get('Authorization')


class TestHeaders(OptionsTestCase):
    """Of Mimir and Cortex, and of gateways."""

    def headers_sent(self, *lines: str, **more: Any) -> Any:
        self.wire.reset()
        self.gives('hosts')
        client = self.client_of(headers=list(lines), **more)
        self.assertEqual(Health.HEALTHY, client.instant_query('up').health)
        return self.wire.calls[-1].request.headers

    def test_several(self) -> None:
        sent = self.headers_sent(
            'X-Scope-OrgID: a|b', 'X-Gateway:k: 1, 2', bearer_token='t0ken'
        )
        self.assertEqual('a|b', sent['X-Scope-OrgID'])
        self.assertEqual('k: 1, 2', sent['X-Gateway'])
        self.assertEqual('Bearer t0ken', sent['Authorization'])

    def test_left_empty(self) -> None:
        self.assertNotIn('', self.headers_sent('', ' '))
        self.assertEqual({}, auth.given_options(options(headers=[''])))

    def test_credentials_of_another_scheme(self) -> None:
        sent = self.headers_sent('Authorization: Key abc')
        self.assertEqual('Key abc', sent['Authorization'])

    def test_what_cannot_be_sent(self) -> None:
        """The error does not show what may be a secret."""
        for lines, text in (
            (['s3cret'], 'number 1: write it as NAME: VALUE'),
            (['A: b', 'X-A:'], 'number 2: write it as NAME: VALUE'),
            (['X A: s3cret'], 'write it as NAME: VALUE'),
            (
                ['X-A: s3cret\r\nX-B: c'],
                'characters that are not allowed in a header',
            ),
            (['X-A: s3crét'], 'characters that are not allowed in a header'),
            (['Content-Length: 1'], 'Kronos sets Content-Length itself'),
            (['X-A: s3cret', 'x-a: b'], 'is set twice'),
        ):
            error = self.assertRaises(
                exceptions.ConfigurationError, self.client_of, headers=lines
            )
            self.assertIn(text, str(error))
            self.assertNotIn('s3cr', str(error))
        error = self.assertRaises(
            exceptions.ConfigurationError,
            self.client_of,
            headers=['authorization: s3cret'],
            bearer_token='t0ken',
        )
        self.assertIn('exclude each other', str(error))

    def test_a_value_that_is_repeated(self) -> None:
        self.wire.post(test_client.QUERY, status=403, body='no t3nant, K3Y')
        client = self.client_of(
            headers=['X-Scope-OrgID: t3nant', 'Authorization: Key k3y'],
            max_retries=0,
        )
        error = client.instant_query('up').error
        self.assertNotIn('t3nant', error)
        self.assertNotIn('K3Y', error)

    def test_in_clear_text(self) -> None:
        for line, sends in (
            ('X-Scope-OrgID: a', False),
            ('Authorization: a', True),
            ('X-Api-Key: a', True),
        ):
            found = options(url='http://a.example.org', headers=[line])
            self.assertEqual(sends, auth.is_readable(found), line)


class TestOptions(OptionsTestCase):
    def test_none(self) -> None:
        self.gives('hosts')
        reading = self.client_of().instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertIsNone(self.sent())

    def test_numbers(self) -> None:
        self.gives(
            'partly_stale',
            match=[
                matchers.request_kwargs_matcher({'timeout': (5.0, 5.0)}),
                matchers.urlencoded_params_matcher(
                    {'query': 'up', 'lookback_delta': '901'}
                ),
            ],
        )
        client = self.client_of(timeout=5, staleness_threshold=901)
        self.assertEqual(2, len(client.instant_query('up').samples))
        self.wire.reset()
        self.wire.post(test_client.QUERY, status=500)
        client = self.client_of(max_retries=2, retry_backoff=4)
        client.instant_query('up')
        self.assertEqual([4, 8], self.slept)

    def test_basic(self) -> None:
        self.gives('hosts')
        client = self.client_of(username='bob', password='s3cret')
        client.instant_query('up')
        self.assertEqual('Basic Ym9iOnMzY3JldA==', self.sent())

    def test_bearer(self) -> None:
        self.gives('hosts')
        self.client_of(bearer_token='t0ken\n').instant_query('up')
        self.assertEqual('Bearer t0ken', self.sent())

    def test_bearer_file_that_rotates(self) -> None:
        self.gives('hosts')
        path = self.file('token', 'first\n')
        client = self.client_of(bearer_token_file=path)
        client.instant_query('up')
        self.assertEqual('Bearer first', self.sent())
        self.file('token', 'the second\n')
        client.instant_query('up')
        self.assertEqual('Bearer the second', self.sent())
        # Replaced at once, with the old size and time.
        old = os.stat(path)
        new = self.file('new', 'the third!\n')
        os.utime(new, ns=(old.st_atime_ns, old.st_mtime_ns))
        os.replace(new, path)
        client.instant_query('up')
        self.assertEqual('Bearer the third!', self.sent())

    def test_bearer_file_that_goes_away(self) -> None:
        self.gives('hosts')
        path = self.file('token', 'first')
        client = self.client_of(bearer_token_file=path)
        os.unlink(path)
        reading = client.instant_query('up')
        self.unreachable(reading, f'bearer_token_file {path}', 'No such file')
        self.file('token', '\n')
        self.unreachable(client.instant_query('up'), 'is empty')

    def test_a_token_that_cannot_be_sent_is_not_shown(self) -> None:
        self.gives('hosts')
        client = self.client_of(bearer_token='t0k\nen')
        reading = client.instant_query('up')
        self.unreachable(reading, 'bearer_token', 'characters')
        self.assertNotIn('t0k', reading.error)

    def test_a_token_that_is_told_back_is_not_shown(self) -> None:
        self.wire.post(test_client.QUERY, status=401, body='bad token t0ken')
        client = self.client_of(bearer_token='t0ken')
        reading = client.instant_query('up')
        self.unreachable(reading, 'bad token ***')
        self.assertNotIn('t0ken', reading.error)

    def test_tls(self) -> None:
        # A variable of the environment must not win over the option.
        self.useFixture(
            fixtures.EnvironmentVariable('REQUESTS_CA_BUNDLE', '/elsewhere')
        )
        ca, cert, key = (self.file(n, 'PEM') for n in ('ca', 'cert', 'key'))
        self.gives(
            'hosts',
            match=[
                matchers.request_kwargs_matcher(
                    {
                        'verify': ca,
                        'cert': (cert, key),
                        'timeout': (30.0, 30.0),
                    }
                )
            ],
        )
        client = self.client_of(cafile=ca, certfile=cert, keyfile=key)
        reading = client.instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)

    def test_proxies(self) -> None:
        """One of the options; what the environment has is for others."""
        proxy = 'http://proxy.example.org:3128'
        for name in ('http_proxy', 'https_proxy', 'all_proxy'):
            self.useFixture(
                fixtures.EnvironmentVariable(name, 'http://other.example.org')
            )
        for values, proxies in (
            ({}, {}),
            ({'proxy': proxy}, {'http': proxy, 'https': proxy}),
        ):
            session = auth.session_from(options(url=URL, **values))
            settings = session.merge_environment_settings(
                URL, {}, None, None, None
            )
            self.assertEqual(proxies, dict(settings['proxies']))

    def test_ca_of_the_environment(self) -> None:
        self.useFixture(
            fixtures.EnvironmentVariable('REQUESTS_CA_BUNDLE', '/elsewhere')
        )
        session = auth.session_from(options(url=URL))
        settings = session.merge_environment_settings(
            URL, {}, None, None, None
        )
        self.assertEqual('/elsewhere', settings['verify'])

    def test_netrc(self) -> None:
        path = self.file('netrc', 'default login bob password s3cret\n')
        self.useFixture(fixtures.EnvironmentVariable('NETRC', path))
        self.gives('hosts')
        self.client_of().instant_query('up')
        self.assertIsNone(self.sent())

    def test_credentials_that_others_can_read(self) -> None:
        for url, values, is_readable in (
            ('http://prometheus:9090', {'bearer_token': 't'}, True),
            ('http://prometheus:9090', {'bearer_token_file': '/t'}, True),
            (
                'http://prometheus:9090',
                {'username': 'u', 'password': 'p'},
                True,
            ),
            ('http://u:p@prometheus:9090', {}, True),
            ('http://prometheus:9090', {}, False),
            ('http://prometheus:9090', {'cafile': '/c'}, False),
            ('https://prometheus:9090', {'bearer_token': 't'}, False),
            ('http://127.0.0.1:9090', {'bearer_token': 't'}, False),
            ('http://[::1]:9090', {'bearer_token': 't'}, False),
            ('http://localhost:9090', {'bearer_token': 't'}, False),
        ):
            given = options(url=url, **values)
            self.assertIs(is_readable, auth.is_readable(given), url)
        self.assertFalse(auth.is_readable(options(bearer_token='t')))

    def test_certificate_and_key_in_one_file(self) -> None:
        cert = self.file('both', 'PEM')
        self.gives(
            'hosts',
            match=[
                matchers.request_kwargs_matcher(
                    {'cert': cert, 'timeout': (30.0, 30.0)}
                )
            ],
        )
        reading = self.client_of(certfile=cert).instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)

    def test_contradictions(self) -> None:
        here = self.file('here', 'x')
        for values, names in (
            (
                {'bearer_token': 't0ken', 'bearer_token_file': here},
                ('bearer_token and bearer_token_file',),
            ),
            (
                {
                    'bearer_token': 't0ken',
                    'username': 'bob',
                    'password': 's3cret',
                },
                ('bearer_token and username',),
            ),
            ({'username': 'bob'}, ('username', 'password')),
            ({'password': 's3cret'}, ('password', 'username')),
            ({'keyfile': here}, ('keyfile', 'certfile')),
            ({'cafile': '/no/such'}, ('cafile /no/such',)),
            (
                {'bearer_token': 't0ken', 'url': 'http://u:s3cret@h'},
                ('bearer_token and the user in url',),
            ),
        ):
            error = self.assertRaises(
                exceptions.ConfigurationError,
                prometheus.from_options,
                options(**({'url': URL} | values)),
            )
            for name in ('[kronos_prometheus]', *names):
                self.assertIn(name, str(error))
            self.assertNotIn('t0ken', str(error))
            self.assertNotIn('s3cret', str(error))


class TestAetos(OptionsTestCase):
    """Aetos: found and authenticated to by Keystone, takes GET only."""

    AUTH_URL = 'https://keystone.example.org/v3'
    QUERY = 'https://aetos.example.org/metrics/api/v1/query'

    def setUp(self) -> None:
        super().setUp()
        self.wire.stop()
        self.net = requests_mock.Mocker()
        self.net.start()
        self.addCleanup(self.net.stop)
        token = ks_fixture.V3Token()
        token.set_project_scope()
        for kind, region, host in (
            ('metric-storage', 'one', 'aetos'),
            ('metric-storage', 'two', 'elsewhere'),
            ('compute', 'one', 'nova'),
        ):
            service = token.add_service(kind)
            service.add_standard_endpoints(
                public=f'https://{host}.example.org/metrics',
                internal=f'https://{host}.internal/metrics',
                region=region,
            )
        self.net.get(self.AUTH_URL, json=ks_fixture.V3Discovery(self.AUTH_URL))
        self.net.post(
            f'{self.AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'ks-token'},
        )
        self.session = session.Session(
            v3.Password(
                self.AUTH_URL,
                username='kronos',
                password='s3cret',
                user_domain_id='default',
                project_name='service',
                project_domain_id='default',
            )
        )

    def aetos(self, **values: Any) -> Any:
        values.setdefault('region_name', 'one')
        return prometheus.from_options(
            options(**values),
            self.session,
            clock=lambda: NOW,
            sleep=self.slept.append,
        )

    def test_a_query(self) -> None:
        self.net.get(self.QUERY, json=answer('hosts'))
        reading = self.aetos().instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertEqual(2, len(reading.samples))
        request = self.net.last_request
        self.assertEqual('ks-token', request.headers['X-Auth-Token'])
        # Aetos refuses parameters that it does not know.
        self.assertEqual({'query': ['up']}, request.qs)
        self.assertEqual(30, request.timeout)

    def test_interface_and_region(self) -> None:
        self.net.get(
            'https://elsewhere.internal/metrics/api/v1/query',
            json=answer('hosts'),
        )
        client = self.aetos(interface='internal', region_name='two')
        reading = client.instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)

    def test_retries(self) -> None:
        self.net.get(
            self.QUERY,
            [{'status_code': 503}, {'json': answer('hosts')}],
        )
        reading = self.aetos().instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertEqual([1], self.slept)

    def test_no_endpoint(self) -> None:
        reading = self.aetos(region_name='three').instant_query('up')
        self.unreachable(reading, 'metric-storage endpoint')
        self.assertNotIn('s3cret', reading.error)

    def test_keystone_says_no(self) -> None:
        self.net.post(f'{self.AUTH_URL}/auth/tokens', status_code=401)
        reading = self.aetos().instant_query('up')
        self.unreachable(reading, 'Unauthorized')
        self.assertNotIn('s3cret', reading.error)

    def test_forbidden(self) -> None:
        self.net.get(self.QUERY, status_code=403, text='RBAC says no')
        self.unreachable(
            self.aetos().instant_query('up'), 'HTTP 403', 'RBAC says no'
        )

    def test_other_credentials_are_refused(self) -> None:
        error = self.assertRaises(
            exceptions.ConfigurationError,
            self.aetos,
            bearer_token='t0ken',
            cafile='/ca',
        )
        self.assertIn('url is not set', str(error))
        self.assertIn('bearer_token, cafile', str(error))
        self.assertNotIn('t0ken', str(error))

    def test_no_session(self) -> None:
        error = self.assertRaises(
            exceptions.ConfigurationError, prometheus.from_options, options()
        )
        self.assertIn('url is not set', str(error))

    def test_any_object_with_the_attributes(self) -> None:
        plain = SimpleNamespace(
            url='',
            timeout=30,
            max_retries=0,
            retry_backoff=1,
            staleness_threshold=300,
            interface='public',
            region_name='one',
        )
        self.net.get(self.QUERY, json=answer('hosts'))
        client = prometheus.from_options(
            plain, self.session, clock=lambda: NOW
        )
        self.assertEqual(2, len(client.instant_query('up').samples))
