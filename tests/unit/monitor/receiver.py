# SPDX-License-Identifier: Apache-2.0
"""A receiver of messages: a real HTTP server on the loopback."""

import contextlib
import http.server
import json
import socket
import ssl
import threading
import time
from typing import Any


class Receiver:
    """Keeps what it is sent.

    :param files: its certificate and key; None: without TLS
    :param clients: CA of the certificates that a client must have
    :param port: 0: any that is free
    """

    def __init__(
        self,
        files: tuple[str, str] | None = None,
        clients: str = '',
        port: int = 0,
    ) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        """All that came, taken or not."""
        self.times: list[float] = []
        """When each of them came, in Unix seconds."""
        self.headers: list[dict[str, str]] = []
        self.ports: set[int] = set()
        self.statuses: list[int] = []
        """Of the next answers; then 204."""
        self.refused: set[str] = set()
        """Instances whose messages get a 400."""
        self.more: dict[str, str] = {}
        """Headers of answers."""
        self.said = b''
        self.open: set[socket.socket] = set()
        self._context: ssl.SSLContext | None = None
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            timeout = 60

            def setup(self) -> None:
                receiver.open.add(self.request)
                super().setup()

            def finish(self) -> None:
                receiver.open.discard(self.request)
                super().finish()

            def do_POST(self) -> None:
                receiver.take(self)

            do_OPTIONS = do_POST

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 50

            def handle_error(self, *_: Any) -> None:
                """A client may have another mind."""

        self._server = Server(('127.0.0.1', port), Handler)
        if files is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(*files)
            if clients:
                self._context.load_verify_locations(clients)
                self._context.verify_mode = ssl.CERT_REQUIRED
            self._server.socket = self._context.wrap_socket(
                self._server.socket,
                server_side=True,
                do_handshake_on_connect=False,
            )
        self.port = int(self._server.server_port)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        scheme = 'https' if self._context else 'http'
        return f'{scheme}://127.0.0.1:{self.port}/hook'

    @property
    def ids(self) -> list[str]:
        return [body['id'] for body in self.bodies]

    def rotate(self, files: tuple[str, str]) -> None:
        """Show another certificate from now on."""
        assert self._context is not None
        self._context.load_cert_chain(*files)

    def take(self, request: Any) -> None:
        length = int(request.headers.get('Content-Length') or 0)
        data = request.rfile.read(length)
        self.raw.append(data)
        body = json.loads(data or b'null')
        self.ports.add(request.client_address[1])
        self.headers.append(dict(request.headers))
        status = self.statuses.pop(0) if self.statuses else 204
        if body and body.get('instance', {}).get('uuid') in self.refused:
            status = 400
        if body and status < 300:
            self.times.append(time.time())
            self.bodies.append(body)
        request.send_response(status)
        for name, value in self.more.items():
            request.send_header(name, value)
        if status != 204:
            request.send_header('Content-Length', str(len(self.said)))
        request.end_headers()
        if status != 204:
            request.wfile.write(self.said)

    def close(self) -> None:
        """Be gone, for those who are connected, too; again is no harm."""
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for one in [*self.open]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class Babbler:
    """Answers each request with the same bytes, over and over.

    :param first: what it says once
    :param then: what it says after that, for ever
    """

    def __init__(self, first: bytes, then: bytes) -> None:
        self._said = (first, then)
        self._socket = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self._socket.getsockname()[1]}/'
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                one, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(
                target=self._babble, args=(one,), daemon=True
            ).start()

    def _babble(self, one: socket.socket) -> None:
        try:
            one.recv(65536)
            one.sendall(self._said[0])
            while self._said[1]:
                one.sendall(self._said[1])
                time.sleep(0.002)
            one.recv(65536)
        except OSError:
            return
        finally:
            one.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
