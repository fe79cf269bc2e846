# SPDX-License-Identifier: Apache-2.0
"""Services that accept and then say little, or nothing, or not all of it.

On sockets: time-outs cannot be seen elsewhere. Every wait here is for an
end; that it comes at all is what is tested, so the bounds are wide.
"""

import contextlib
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib import parse

import fixtures
import testscenarios
from keystoneauth1 import fixture as ks_fixture
from oslotest import base

from kronos.clients import transport
from kronos.common import exceptions
from tests.fakes import keystone
from tests.unit.clients import every_method
from tests.unit.clients.every_method import Method

LIMITS = transport.Limits(connect=3, silence=2, whole=3)
GENEROUS = 45.0
"""Seconds for a call that has some requests of 3 s."""
FOREVER = 90.0
"""Seconds after which a service that trickles gives up, lest a test hang."""
PATHS = {
    'compute': '/nova/v2.1',
    'placement': '/placement',
    'image': '/glance',
    'infra-optim': '/watcher',
    'metric-storage': '/aetos',
}
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
TROUBLES: dict[str, tuple[bytes, bytes | None]] = {
    'silent': (b'', b''),
    'head': (HEAD + b'X-Endless: ', b'x'),
    'headers': (HEAD, b'X-Endless: x\r\n'),
    'body': (HEAD + b'Content-Length: 1000000\r\n\r\n', b' '),
    'chunks': (HEAD + b'Transfer-Encoding: chunked\r\n\r\n', b'1\r\n \r\n'),
    'cut': (HEAD + b'Content-Length: 100\r\n\r\n{', None),
    'closed': (b'', None),
    'no HTTP': (b'220 mail.example.org ESMTP\r\n', None),
}
"""What comes first, and what then comes again and again; None: the end."""


def at_once(ask: Callable[[Any], str], given: Iterable[Any]) -> list[str]:
    """What each call gives, in a thread of its own."""
    given = list(given)
    told: list[Any] = [None] * len(given)

    def run(number: int) -> None:
        try:
            told[number] = ask(given[number])
        except Exception as error:
            told[number] = error

    threads = [
        threading.Thread(target=run, args=[number])
        for number in range(len(given))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in told:
        if isinstance(one, Exception):
            raise one
    return told


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    trouble = ''
    at = ''
    """The path of the service that is in trouble."""
    token: Any
    gone: threading.Event
    troubled: list[str]
    asked: list[tuple[str, str]]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = 'HTTP/1.1'

    def log_message(self, *words: Any) -> None:
        pass

    def do_GET(self) -> None:  # noqa: N802
        length = int(self.headers.get('Content-Length') or 0)
        body = self.rfile.read(length)
        # What is wished of a server stands in the body alone.
        wish = f'?{body.decode()}' if self.path.endswith('/action') else ''
        self.server.asked.append((self.command, self.path + wish))
        if self.server.trouble and self.path.startswith(self.server.at):
            with contextlib.suppress(OSError):
                self.make_trouble()
            self.close_connection = True
            return
        body = json.dumps(self.body()).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.send_header('X-Subject-Token', 'ks-token')
        self.send_header('x-compute-request-id', 'req-1')
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def make_trouble(self) -> None:
        first, again = TROUBLES[self.server.trouble]
        self.server.troubled.append(self.path)
        self.wfile.write(first)
        end = time.monotonic() + FOREVER
        while again is not None and time.monotonic() < end:
            if self.server.gone.wait(0.05):
                return
            self.wfile.write(again)

    def body(self) -> Any:
        if self.path.startswith('/keystone'):
            version = keystone._version('v3.14', self.server.at_url, '')
            is_token = self.path.endswith('/tokens')
            return self.server.token if is_token else {'version': version}
        path = parse.urlsplit(self.path).path.rstrip('/')
        for service, newest in (('compute', '2.100'), ('placement', '1.39')):
            if path == PATHS[service]:
                name = 'v2.1' if service == 'compute' else 'v1.0'
                url = self.server.url + path
                return {'version': keystone._version(name, url, newest)}
        if path == PATHS['image']:
            url = f'{self.server.url}{path}/v2'
            return {'versions': [keystone._version('v2.17', url, '')]}
        return every_method.answer_to(self.path)


class DeadlineTestCase(base.BaseTestCase):
    HANDLER: type[Handler] = Handler

    def setUp(self) -> None:
        super().setUp()
        server = self.server = Server(('127.0.0.1', 0), self.HANDLER)
        server.url = f'http://127.0.0.1:{server.server_address[1]}'
        server.at_url = f'{server.url}/keystone/v3'
        server.gone = threading.Event()
        server.troubled, server.asked = [], []
        token = server.token = ks_fixture.V3Token()
        token.set_project_scope()
        for kind, path in PATHS.items():
            service = token.add_service(kind)
            service.add_standard_endpoints(
                public=server.url + path, region='one'
            )
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.gone.set)

    def begin(self, trouble: str, at: str) -> None:
        self.server.at = at
        self.server.trouble = trouble

    def client(self, name: str) -> Any:
        session = every_method.session_at(self.server.at_url)
        return every_method.one(
            name, session, LIMITS, timeout=LIMITS.silence, max_retries=0
        )

    def ask(self, method: Method, clients: dict[str, Any]) -> str:
        """What the client's own error says, which comes in time."""
        _, wanted = every_method.CLIENTS[method.client]
        began = time.monotonic()
        try:
            result = method.call(clients)
        except exceptions.KronosException as error:
            self.assertIs(wanted, type(error), str(method))
            text = str(error)
        else:
            # Prometheus has another way to say it.
            text = getattr(result, 'error', '') or str(result)
        self.assertLess(time.monotonic() - began, GENEROUS, str(method))
        return text


class TestEveryMethod(testscenarios.WithScenarios, DeadlineTestCase):
    scenarios = [(name, {'trouble': name}) for name in TROUBLES]

    def test_its_service_is_in_trouble(self) -> None:
        """Each request that writes reaches it once."""
        clients = {name: self.client(name) for name in every_method.CLIENTS}
        for client in clients.values():
            # Else none would get as far as to write.
            getattr(client, 'microversion', '')
        methods = every_method.methods()
        if self.trouble in ('headers', 'chunks', 'no HTTP'):
            methods = methods[::6]
        clients['LiveMigration'].live_migrate(every_method.UUID, 'cmp1')
        self.server.asked.clear()
        self.begin(self.trouble, '/')
        told = at_once(lambda method: self.ask(method, clients), methods)
        for method, text in zip(methods, told, strict=True):
            if method.name not in ('microversion', 'get_migration_status'):
                self.assertRegex(text, SAID, str(method))
        self.assertNotEqual([], self.server.troubled)
        writes = [one for one in self.server.asked if self.is_write(*one)]
        self.assertEqual(sorted(set(writes)), sorted(writes))

    @staticmethod
    def is_write(verb: str, path: str) -> bool:
        return verb != 'GET' and not path.startswith('/keystone')


def wire_of(client: Any) -> Any:
    """What a client speaks through."""
    api = getattr(client, 'api', None) or getattr(client, '_api', None)
    return api.wire if api else getattr(client, '_wire', None) or client._http


WAITED_FOR = ('silent', 'head', 'headers', 'body', 'chunks')
"""The troubles in which no end of an answer comes."""
SAID = (
    'timed out|Unable to establish|Unexpected exception|no answer within|'
    'no complete answer within|cannot connect|ConnectionError|ProtocolError|'
    'unreachable|has not answered within'
)


class TestKeystone(testscenarios.WithScenarios, DeadlineTestCase):
    scenarios = [(name, {'trouble': name}) for name in TROUBLES]

    def test_it_is_in_trouble_from_the_start(self) -> None:
        log = self.useFixture(fixtures.FakeLogger('kronos.clients.keystone'))
        self.begin(self.trouble, '/keystone')
        for text in at_once(self.once, every_method.CLIENTS):
            self.assertIn('Keystone', text)
        self.assertNotEqual([], self.server.troubled)
        told = 'Keystone has not answered within' in log.output
        self.assertEqual(self.trouble in WAITED_FOR, told, log.output)

    def once(self, name: str) -> str:
        """What is told when the client is made, or first used."""
        _, wanted = every_method.CLIENTS[name]
        began = time.monotonic()
        try:
            client = self.client(name)
        except exceptions.KronosException as error:
            self.assertIs(wanted, type(error))
            self.assertLess(time.monotonic() - began, GENEROUS)
            return str(error)
        method = next(
            one for one in every_method.methods() if one.client == name
        )
        if name == 'PrometheusClient':
            method = next(
                one
                for one in every_method.methods()
                if one.name == 'instant_query'
            )
        return self.ask(method, {name: client})

    def test_when_the_token_has_to_be_renewed(self) -> None:
        """As in the middle of a migration."""
        clients = {name: self.client(name) for name in every_method.CLIENTS}
        methods = [
            one
            for one in every_method.methods()
            if one.name
            in ('get_instance', 'live_migrate', 'headroom', 'instant_query')
        ]
        for method in methods:
            self.ask(method, clients)
        for client in clients.values():
            wire = wire_of(client)
            getattr(
                wire, 'adapter', getattr(wire, '_session', None)
            ).invalidate()
        self.server.asked.clear()
        self.begin(self.trouble, '/keystone')
        told = at_once(lambda method: self.ask(method, clients), methods)
        for text in told:
            self.assertRegex(text, 'Keystone|keystone')
        beyond = [
            path
            for _, path in self.server.asked
            if not path.startswith('/keystone')
        ]
        self.assertEqual([], beyond)
