# SPDX-License-Identifier: Apache-2.0
"""A Prometheus whose answers have no end.

On a socket: what a client does with every byte cannot be seen elsewhere.
"""

import contextlib
import socketserver
import threading
from typing import Any

import requests
from oslotest import base

from kronos.clients.prometheus import client
from kronos.engine.types import Health

HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
SIZED = HEAD + b'Content-Length: 1000000000\r\n\r\n'
CHUNKED = HEAD + b'Transfer-Encoding: chunked\r\n\r\n'
ANSWER = (
    b'{"status":"success","data":{"resultType":"vector","result":[{"metric":'
    b'{"host":"a"},"value":[1700000000,"0.5"]}]}}'
)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    head: bytes
    piece: bytes
    pause: float
    gone: threading.Event


class Handler(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        self.request.recv(65536)
        with contextlib.suppress(OSError):
            self.request.sendall(self.server.head)
            while not self.server.gone.wait(self.server.pause):
                self.request.sendall(self.server.piece)
        self.server.gone.set()


class TestEndlessAnswers(base.BaseTestCase):
    def serve(self, head: bytes, piece: bytes, pause: float = 0.02) -> str:
        server = Server(('127.0.0.1', 0), Handler)
        server.head, server.piece, server.pause = head, piece, pause
        self.gone = server.gone = threading.Event()
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.addCleanup(self.gone.set)
        return f'http://127.0.0.1:{server.server_address[1]}'

    def ask(self, url: str, timeout: float, **more: Any) -> client.Reading:
        session = requests.Session()
        self.addCleanup(session.close)
        return client.PrometheusClient(
            url, session, max_retries=0, timeout=timeout, **more
        ).instant_query('up')

    def assert_given_up(self, head: bytes, piece: bytes) -> None:
        # Long enough for its head to come on a busy machine.
        reading = self.ask(self.serve(head, piece), 3.0)
        self.assertEqual(Health.UNREACHABLE, reading.health)
        self.assertIn('no complete answer within 3 s', reading.error)
        self.assertTrue(reading.is_away)
        # The connection is closed, not left to trickle on.
        self.assertTrue(self.gone.wait(60))

    def test_a_body_that_trickles_in(self) -> None:
        """A socket's own time-out begins anew with every byte."""
        self.assert_given_up(SIZED, b' ')

    def test_chunks_that_trickle_in(self) -> None:
        self.assert_given_up(CHUNKED, b'1\r\n \r\n')

    def test_a_body_without_end(self) -> None:
        reading = self.ask(
            self.serve(SIZED, b' ' * 2**16, pause=0.0), 60.0, longest=2**20
        )
        self.assertEqual(Health.UNREACHABLE, reading.health)
        self.assertIn('the answer is longer than 1 MiB', reading.error)

    def test_one_that_comes_to_its_end(self) -> None:
        """Piece by piece is no fault."""
        head = HEAD + b'Content-Length: %d\r\n\r\n' % len(ANSWER)
        url = self.serve(head + ANSWER[:50], ANSWER[50:])
        session = requests.Session()
        self.addCleanup(session.close)
        reading = client.PrometheusClient(
            url, session, clock=lambda: 1700000000.0
        ).instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertEqual([0.5], [sample.value for sample in reading.samples])
