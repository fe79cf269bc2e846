# SPDX-License-Identifier: Apache-2.0
"""Does the HTTP server stay within its bounds, whoever connects?"""

import contextlib
import http.client
import logging
import pathlib
import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any

import fixtures
from oslotest import base

from kronos.common.web.http_server import HttpServer, ServerLimits
from tests.unit.monitor.certificates import Authority
from tests.unit.monitor.hypervisor import until

FAST = ServerLimits(
    connections=4, head_bytes=4096, request_seconds=0.3, grace_seconds=0.01
)
PATIENT = ServerLimits(connections=4, request_seconds=300, grace_seconds=0.01)
MALFORMED = (
    b'\x00\xff\x16\x03\x01\r\n\r\n',
    b'GET\r\n\r\n',
    b'GET / HTTP/9.9\r\n\r\n',
    b'A B C D E\r\n\r\n',
    b'GET / HTTP/1.1\r\nno colon\r\n' + b'x: y\r\n' * 200 + b'\r\n',
    b'\r\n' * 9,
)


def page(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    if environ['PATH_INFO'] == '/fault':
        raise ValueError('no page')
    start_response('200 OK', [('Content-Type', 'text/plain')])
    size = 2**24 if environ['PATH_INFO'] == '/large' else 300_000
    return [environ['REQUEST_METHOD'].encode(), b' ', b'x' * size]


class ServerTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def serve(self, limits: ServerLimits, **more: Any) -> HttpServer:
        server = HttpServer('127.0.0.1', 0, page, limits=limits, **more)
        self.addCleanup(server.close)
        return server

    def connect(self, server: HttpServer, data: bytes = b'') -> socket.socket:
        client = socket.create_connection(('127.0.0.1', server.port))
        client.settimeout(60)
        self.addCleanup(client.close)
        client.sendall(data)
        return client

    def read(
        self,
        server: HttpServer,
        path: str = '/',
        context: ssl.SSLContext | None = None,
    ) -> bytes:
        address: Any = ('127.0.0.1', server.port)
        client: Any = http.client.HTTPConnection(*address, timeout=60)
        if context is not None:
            client = http.client.HTTPSConnection(
                *address, timeout=60, context=context
            )
        with contextlib.closing(client):
            client.request('GET', path)
            body: bytes = client.getresponse().read()
            return body

    def lines(self) -> list[str]:
        return [
            line for line in self.log.output.splitlines() if 'failed' in line
        ]

    def end_of(self, client: socket.socket) -> bytes:
        """All that a client gets until the server ends the connection."""
        data = b''
        with contextlib.suppress(ConnectionError):
            while piece := client.recv(65536):
                data += piece
        return data


class TestAnswer(ServerTestCase):
    def test_the_whole_page(self) -> None:
        server = self.serve(PATIENT)
        for _ in range(9):
            self.assertEqual(b'GET ' + b'x' * 300_000, self.read(server))
        self.assertEqual('', self.log.output)

    def test_an_application_at_fault(self) -> None:
        server = self.serve(PATIENT)
        body = self.read(server, '/fault')
        self.assertIn(b'A server error occurred', body)
        until(lambda: self.lines(), 'the log')
        self.assertIn("cannot be made: ValueError('no page')", self.lines()[0])
        self.assertNotIn('Traceback', self.log.output)

    def test_ipv6(self) -> None:
        try:
            server = HttpServer('::1', 0, page)
        except OSError as error:
            self.skipTest(str(error))
        self.addCleanup(server.close)
        client = http.client.HTTPConnection('::1', server.port, timeout=60)
        self.addCleanup(client.close)
        client.request('GET', '/')
        self.assertEqual(200, client.getresponse().status)

    def test_a_port_that_is_taken(self) -> None:
        port = self.serve(PATIENT).port
        self.assertRaises(OSError, HttpServer, '127.0.0.1', port, page)

    def test_its_end_is_the_end_of_all(self) -> None:
        server = self.serve(PATIENT)
        clients = [self.connect(server) for _ in range(3)]
        self.read(server)
        server.close()
        for client in clients:
            self.assertEqual(b'', self.end_of(client))
        self.assertEqual('', self.log.output)


class TestHead(ServerTestCase):
    def test_too_large(self) -> None:
        server = self.serve(PATIENT)
        for data in (
            b'GET /' + b'x' * 20_000,
            b'GET / HTTP/1.1\r\nx: ' + b'y' * 20_000,
            b'GET / HTTP/1.1\r\n' + b'x: yyyyyy\r\n' * 9_000,
        ):
            client = self.connect(server, data)
            answer = self.end_of(client)
            if answer:  # what was not read may end the connection first
                self.assertIn(answer.split()[1], (b'431', b'414'))
        self.assertIn('more than 16384 bytes', self.lines()[0])
        self.assertIn(b'GET', self.read(server))

    def test_malformed(self) -> None:
        """Hundreds of them are one line of the log, and no traceback."""
        server = self.serve(PATIENT)
        for number in range(600):
            client = self.connect(server, MALFORMED[number % len(MALFORMED)])
            client.shutdown(socket.SHUT_WR)
            self.end_of(client)
            client.close()
        self.assertIn(b'GET', self.read(server))
        self.assertEqual(1, len(self.lines()), self.log.output)
        self.assertNotIn('Traceback', self.log.output)

    def test_the_next_line_has_the_number(self) -> None:
        limits = ServerLimits(log_seconds=0.5)
        server = self.serve(limits)
        until(lambda: self.lines() or self.malformed(server), 'a line')
        for _ in range(20):
            self.malformed(server)
        until(lambda: self.lines()[1:] or self.malformed(server), 'another')
        self.assertIn('failed requests: 1,', self.lines()[0])
        self.assertNotIn('failed requests: 1,', self.lines()[1])

    def malformed(self, server: HttpServer) -> None:
        self.end_of(self.connect(server, b'GET\r\n\r\n'))

    def test_who_leaves_is_no_failure(self) -> None:
        server = self.serve(PATIENT)
        for data in (b'', b'GET / HTTP/1.0\r\n\r\n'):
            self.connect(server, data).close()
        self.read(server)
        until(lambda: not server._connections, 'the end of all')
        self.assertEqual('', self.log.output)


class TestDeadline(ServerTestCase):
    def test_who_says_nothing(self) -> None:
        server = self.serve(FAST)
        for data in (b'', b'GET / HTTP/1.1\r\nx'):
            self.assertEqual(b'', self.end_of(self.connect(server, data)))
        self.assertIn('more than 0.3 s', self.lines()[0])

    def test_who_says_a_little_all_the_time(self) -> None:
        """No byte gives it more time."""
        server = self.serve(FAST)
        client = self.connect(server, b'GET / HTTP/1.1\r\nx: ')
        with contextlib.suppress(ConnectionError):
            for _ in range(3000):
                client.sendall(b'y')
                time.sleep(0.02)
        self.assertEqual(b'', self.end_of(client))
        self.assertIn('more than 0.3 s', self.lines()[0])

    def test_who_does_not_read(self) -> None:
        server = self.serve(FAST)
        client = socket.socket()
        self.addCleanup(client.close)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(('127.0.0.1', server.port))
        client.sendall(b'GET /large HTTP/1.0\r\n\r\n')
        until(lambda: self.lines(), 'the end')
        self.assertIn('more than 0.3 s', self.lines()[0])


class TestMany(ServerTestCase):
    def test_slow_ones(self) -> None:
        """None of them ends by itself, and they are many."""
        server = self.serve(PATIENT)
        for _ in range(5):
            for _ in range(8):
                self.connect(server, b'GET / HT')
            self.assertIn(b'GET', self.read(server))
        until(lambda: len(server._connections) <= 4, 'the oldest to end')
        self.assertIn('it was the oldest of 4', self.lines()[0])
        self.assertEqual(1, len(self.lines()))

    def test_grace(self) -> None:
        """A connection is not ended at once for another one."""
        server = self.serve(
            ServerLimits(connections=1, request_seconds=300, grace_seconds=300)
        )
        client = self.connect(server)
        until(lambda: server._connections, 'the connection')
        other = self.connect(server, b'GET / HTTP/1.0\r\n\r\n')
        client.sendall(b'GET / HTTP/1.0\r\n\r\n')
        for connection in (client, other):
            self.assertIn(b' 200 ', self.end_of(connection))


class TestTls(ServerTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.authority = Authority(self.folder)
        files = self.authority.issue('server')
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(*files)
        self.client = ssl.create_default_context(cafile=self.authority.path)

    def test_the_handshake_has_the_same_deadline(self) -> None:
        server = self.serve(FAST, context=self.context)
        hello = b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'
        for data in (b'', hello):
            self.assertEqual(b'', self.end_of(self.connect(server, data)))
        self.assertIn('more than 0.3 s', self.lines()[0])

    def test_no_handshake(self) -> None:
        server = self.serve(PATIENT, context=self.context)
        self.end_of(self.connect(server, b'GET / HTTP/1.0\r\n\r\n'))
        self.assertIn('TLS: HTTP_REQUEST', self.lines()[0])

    def test_a_reader_among_slow_ones(self) -> None:
        self.context.load_verify_locations(self.authority.path)
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.client.load_cert_chain(*self.authority.issue('prometheus'))
        limits = ServerLimits(
            connections=4, request_seconds=300, grace_seconds=1
        )
        server = self.serve(limits, context=self.context)
        for _ in range(8):
            self.connect(server)
        self.assertIn(b'GET', self.read(server, context=self.client))
