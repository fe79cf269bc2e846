# SPDX-License-Identifier: Apache-2.0
"""Do credentials stay at the scheme, host and port that were asked?"""

import http.server
import threading
from collections.abc import Callable
from typing import Any

import requests
from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import http_basic
from keystoneauth1 import session as ks_session
from oslotest import base

from kronos.clients import connection, masakari, redirects
from kronos.clients import keystone as own
from kronos.clients.prometheus import client as prometheus
from kronos.common import exceptions
from kronos.common.web import addresses
from kronos.engine.types import Health
from tests.unit.clients import deadlines, every_method, login_alone
from tests.unit.clients.prometheus import test_auth

SECRET = login_alone.SECRET


class Server(deadlines.Server):
    status = 0
    location: Callable[[str], str]


class Handler(deadlines.Handler):
    server: Server

    def make_trouble(self) -> None:
        self.send_response(self.server.status)
        self.send_header('Location', self.server.location(self.path))
        self.send_header('Content-Length', '0')
        self.send_header('Connection', 'close')
        self.end_headers()


class Other(http.server.ThreadingHTTPServer):
    """Another address, where nothing may arrive."""

    daemon_threads = True

    def __init__(self) -> None:
        arrived: list[str] = []

        class Recorder(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                arrived.append(f'{self.command} {self.path} {self.headers}')
                self.send_response(403)
                self.send_header('Content-Length', '0')
                self.end_headers()

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

            def log_message(self, *words: Any) -> None:
                pass

        super().__init__(('127.0.0.1', 0), Recorder)
        self.arrived = arrived
        self.url = f'http://127.0.0.1:{self.server_address[1]}'


class RedirectTestCase(deadlines.DeadlineTestCase):
    HANDLER = Handler

    def setUp(self) -> None:
        super().setUp()
        self.other = Other()
        thread = threading.Thread(target=self.other.serve_forever, args=[0.05])
        thread.start()
        self.addCleanup(self.other.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.other.shutdown)
        self.server.location = lambda path: (
            f'http://user:{SECRET}@{self.other.url[7:]}{path}?{SECRET}'
        )

    def redirect(self, at: str, status: int = 307) -> None:
        self.server.status = status
        self.begin('redirect', at)

    def session(self, plugin: str = 'password') -> Any:
        return ks_session.Session(
            login_alone.PLUGINS[plugin](self.server.at_url)
        )

    def refused(self, ask: Callable[[], Any]) -> str:
        """One line, and nothing has left the address."""
        error = self.assertRaises(exceptions.ClientError, ask)
        text = str(error)
        self.assertEqual(1, len(text.splitlines()))
        self.assertNotIn(SECRET, text)
        self.assertEqual([], self.other.arrived)
        return text


class TestKeystone(RedirectTestCase):
    def test_each_kind_at_each_step(self) -> None:
        for status in addresses.REDIRECTS:
            for name in login_alone.PLUGINS:
                for at in ('/keystone', '/keystone/v3/auth/tokens'):
                    with self.subTest(f'{status} {name} {at}'):
                        self.redirect(at, status)
                        session = self.session(name)
                        text = self.refused(
                            lambda session=session: every_method.one(
                                'PlacementClient', session
                            )
                        )
                        self.assertIn(
                            f'HTTP {status}: {self.server.url} redirects to '
                            f'{self.other.url}, ',
                            text,
                        )
                        self.assertIn('Set auth_url to', text)

    def test_a_redirect_that_stays(self) -> None:
        """Relative ones, too."""
        for prefix in ('', self.server.url):
            self.redirect('/keystone/old')
            self.server.location = lambda path, prefix=prefix: (
                prefix + path.replace('/old', '/v3')
            )
            plugin = login_alone.PLUGINS['v3password'](
                f'{self.server.url}/keystone/old/v3'
            )
            self.server.location = lambda path, prefix=prefix: (
                prefix + path.replace('/old/v3', '/v3')
            )
            self.assertEqual(
                'ks-token', own.KeystoneSession(plugin).get_token()
            )

    def test_one_without_end(self) -> None:
        self.redirect('/keystone')
        self.server.location = lambda path: path
        self.refused(
            lambda: every_method.one('PlacementClient', self.session())
        )


class TestServices(RedirectTestCase):
    def test_each_kind_of_each_service(self) -> None:
        session = self.session()
        clients = {
            name: every_method.one(
                name, session, max_retries=0, sleep=lambda seconds: None
            )
            for name in every_method.CLIENTS
        }
        for client in clients.values():
            getattr(client, 'microversion', '')
        methods = every_method.methods()
        clients['LiveMigration'].live_migrate(every_method.UUID, 'cmp1')
        refused = set()
        for status in addresses.REDIRECTS:
            for method in methods:
                with self.subTest(f'{status} {method}'):
                    if self.refuses(status, method, clients):
                        refused.add((method.client, status))
        self.assertEqual(len(clients) * len(addresses.REDIRECTS), len(refused))

    def refuses(
        self, status: int, method: Any, clients: dict[str, Any]
    ) -> bool:
        """Whether it says so; it may need no answer."""
        self.redirect('/', status)
        try:
            text = getattr(method.call(clients), 'error', '')
        except exceptions.KronosException as error:
            text = str(error)
        self.server.trouble = ''
        self.assertEqual([], self.other.arrived)
        self.assertNotIn(SECRET, text)
        if text:
            self.assertIn(f'redirects to {self.other.url}', text)
            self.assertIn('Set the endpoint in the Keystone catalog', text)
        return bool(text)

    def test_versions_of_a_service(self) -> None:
        self.redirect('/nova')
        client = every_method.one('NovaClient', self.session(), max_retries=0)
        self.refused(client.list_aggregates)
        self.redirect('/placement')
        session = self.session()
        self.refused(
            lambda: every_method.one(
                'PlacementClient', session, max_retries=0
            ).headroom()
        )

    def test_it_is_not_asked_again(self) -> None:
        """A redirect does not pass."""
        session = self.session()
        client = every_method.one('WatcherClient', session)
        client.strategies()
        self.redirect('/watcher')
        self.server.asked.clear()
        self.refused(client.strategies)
        self.assertEqual(1, len(self.server.asked))

    def test_masakari(self) -> None:
        adapter = ks_adapter.Adapter(
            own.own(self.session()),
            service_type='instance-ha',
            endpoint_override=f'{self.server.url}/masakari/v1',
        )
        client = masakari.MasakariClient(adapter, max_retries=0)
        self.redirect('/masakari')
        self.assertIn(
            f'redirects to {self.other.url}',
            self.refused(lambda: list(client.hosts('cmp1'))),
        )

    def test_http_basic(self) -> None:
        """Which sends the password with every request."""
        plugin = http_basic.HTTPBasicAuth(
            f'{self.server.url}/watcher', 'kronos', SECRET
        )
        session = ks_session.Session(plugin)
        host = connection.HostProcess(
            lambda: session, every_method.conf(), deadlines.LIMITS
        )
        self.redirect('/watcher')
        self.refused(lambda: host.nova().list_aggregates())


class TestPrometheus(RedirectTestCase):
    def test_each_kind(self) -> None:
        for status in addresses.REDIRECTS:
            for given in (
                {'bearer_token': SECRET},
                {'username': 'kronos', 'password': SECRET},
            ):
                self.redirect('/prometheus', status)
                client = prometheus.from_options(
                    test_auth.options(
                        url=f'{self.server.url}/prometheus', **given
                    )
                )
                reading = client.instant_query('up')
                self.assertEqual(Health.UNREACHABLE, reading.health)
                self.assertIn(f'redirects to {self.other.url}', reading.error)
                self.assertIn('set url', reading.error)
                self.assertNotIn(SECRET, reading.error)
        self.assertEqual([], self.other.arrived)


class TestStay(base.BaseTestCase):
    def test_what_leads_nowhere(self) -> None:
        """Nor do other statuses lead to another request."""
        response = requests.Response()
        response.request = requests.Request('GET', 'https://h/a').prepare()
        response.status_code = 302
        redirects.stay(response, '')
        for location in ('//evil/a', 'https://[', 'ftp://h/a', 'http://h/a'):
            response.headers['Location'] = location
            self.assertRaises(
                redirects.Elsewhere, redirects.stay, response, ''
            )
        for location in ('b', '/b', '//h/b', 'https://h:443/b'):
            response.headers['Location'] = location
            redirects.stay(response, '')
            self.assertTrue(
                addresses.is_same('https://h', response.headers['Location'])
            )
        response.status_code = 300
        response.headers['Location'] = '//evil/a'
        redirects.stay(response, '')
