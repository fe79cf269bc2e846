# SPDX-License-Identifier: Apache-2.0
"""A Keystone, a Masakari and a Watcher at the wire: one server, loopback."""

import http.server
import json
import socket
import ssl
import threading
from contextlib import suppress
from typing import Any
from urllib import parse

from keystoneauth1 import fixture as ks_fixture

AUDIT = 'recover'
DUPLICATE = "Notification received from host node1 of  type 'VM' is duplicate."
CLOSED = (
    "Notification received from host node1 of type 'VM' is ignored as the "
    'host is already under maintenance.'
)
UNKNOWN = 'Host with name node1 could not be found.'
Answer = tuple[int, dict[str, str], Any]


class Cloud:
    """Answers as those services do, and keeps what it was asked.

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
        self.passwords = {'s3cret-password'}
        self.tokens: set[str] = set()
        """Those that are valid."""
        self.logins = 0
        self.requests: list[tuple[str, str]] = []
        """Method and path of all but Keystone's."""
        self.notifications: list[dict[str, Any]] = []
        self.errors: list[tuple[int, str]] = []
        """Of the next requests that write or read, and then none."""
        self.more: dict[str, str] = {}
        """Headers of errors."""
        self.segments: dict[str, list[dict[str, Any]]] = {
            'seg': [{'uuid': 'h1', 'name': 'node1', 'on_maintenance': False}]
        }
        self.audit: dict[str, Any] | None = {
            'uuid': 'a',
            'audit_type': 'EVENT',
            'state': 'PENDING',
            'updated_at': None,
        }
        self.triggers = 0
        self.is_skipped = False
        """Whether a trigger is passed over, as while a plan runs."""
        self.may_read = True
        self.may_trigger = True
        self.catalog_scheme = ''
        """'': the same as here."""
        self.place = 'ha/v1'
        """Of Masakari, in the catalog; its version may be left out."""
        self.silent = ''
        """Requests whose paths begin so get no answer; '': all do."""
        self.open: set[socket.socket] = set()
        self._ended = threading.Event()
        self._begin(files, clients, port)

    def _begin(
        self, files: tuple[str, str] | None, clients: str, port: int
    ) -> None:
        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 50

            def handle_error(self, *_: Any) -> None:
                """A client may have another mind."""

        self._server = Server(('127.0.0.1', port), _handler(self))
        self._context: ssl.SSLContext | None = None
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
        return f'{scheme}://127.0.0.1:{self.port}'

    def rotate(self, files: tuple[str, str]) -> None:
        """Show another certificate from now on."""
        assert self._context is not None
        self._context.load_cert_chain(*files)

    def begin(self) -> None:
        """The audit begins."""
        assert self.audit is not None
        self.audit['state'] = 'ONGOING'
        self.audit['updated_at'] = f'{self.triggers}-begun'

    def end(self, state: str = 'SUCCEEDED') -> None:
        """The audit is over."""
        assert self.audit is not None
        self.audit['state'] = state
        self.audit['updated_at'] = f'{self.triggers}-over'

    def answer(self, method: str, path: str, token: str, body: Any) -> Answer:
        if self.silent and path.startswith(self.silent):
            self._ended.wait()
        if path.startswith('/v3'):
            return self._keystone(method, body)
        self.requests.append((method, path))
        if path.rstrip('/') in ('/ha', '/ha/v1', '/optim'):
            return 200, {}, self._versions(path)
        if token not in self.tokens:
            return 401, {}, _fault('The request you have made requires auth')
        if self.errors:
            status, text = self.errors.pop(0)
            return status, self.more, _fault(text)
        if path.startswith('/ha/v1/'):
            return self._masakari(method, path.removeprefix('/ha/v1'), body)
        return self._watcher(method, path.removeprefix('/optim/v1'))

    def _keystone(self, method: str, body: Any) -> Answer:
        if method == 'GET':
            links = [{'rel': 'self', 'href': f'{self.url}/v3'}]
            told = {'id': 'v3.14', 'status': 'stable', 'links': links}
            return 200, {}, {'version': told}
        self.logins += 1
        user = body['auth']['identity']['password']['user']
        if user['password'] not in self.passwords:
            return 401, {}, _fault('Wrong: ' + user['password'])
        found = ks_fixture.V3Token()
        found.set_project_scope()
        scheme = self.catalog_scheme or parse.urlsplit(self.url).scheme
        url = f'{scheme}://127.0.0.1:{self.port}'
        for kind, path in (
            ('instance-ha', self.place),
            ('infra-optim', 'optim'),
        ):
            service = found.add_service(kind)
            service.add_standard_endpoints(
                public=f'{url}/{path}', region='one'
            )
        token = f'token-{self.logins}'
        self.tokens.add(token)
        return 201, {'X-Subject-Token': token}, found

    def _versions(self, path: str) -> Any:
        links = [{'rel': 'self', 'href': f'{self.url}{path}'}]
        told = {'id': 'v1', 'status': 'CURRENT', 'links': links}
        told |= {'version': '1.3', 'min_version': '1.0'}
        return {'version': told}

    def _masakari(self, method: str, path: str, body: Any) -> Answer:
        if path.startswith('/notifications'):
            self.notifications.append(body['notification'])
            return 202, {}, body
        where, _, query = path.partition('?')
        parts = where.strip('/').split('/')
        if len(parts) == 1:
            key, rows = (
                'segments',
                [{'uuid': segment} for segment in self.segments],
            )
        else:
            key, rows = 'hosts', self.segments[parts[1]]
        return 200, {}, {key: [] if 'marker' in query else rows}

    def _watcher(self, method: str, path: str) -> Answer:
        kind, name = path.strip('/').split('/')
        may = self.may_read if kind == 'audits' else self.may_trigger
        if not may:
            return 403, {}, _fault('Policy does not allow this')
        if self.audit is None or name != AUDIT:
            return 404, {}, _fault(f'Audit {name} could not be found')
        if kind == 'audits':
            return 200, {}, self.audit
        if self.audit['audit_type'] != 'EVENT':
            return 400, {}, _fault('Audit type ONESHOT is disallowed.')
        if self.audit['state'] not in ('PENDING', 'SUCCEEDED'):
            text = f'Audit state {self.audit["state"]} is disallowed.'
            return 400, {}, _fault(text)
        self.triggers += 1
        if not self.is_skipped:
            self.begin()
        return 202, {}, None

    def close(self) -> None:
        """Be gone, for those who are connected, too; again is no harm."""
        if not self._thread.is_alive():
            return
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for one in [*self.open]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def _fault(text: str) -> Any:
    return {'error': {'message': text}}


def _handler(cloud: Cloud) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        timeout = 60
        # An answer in two pieces would wait for the client's delayed ACK.
        disable_nagle_algorithm = True
        wbufsize = -1

        def setup(self) -> None:
            cloud.open.add(self.request)
            super().setup()

        def finish(self) -> None:
            cloud.open.discard(self.request)
            super().finish()

        def do_POST(self) -> None:
            length = int(self.headers.get('Content-Length') or 0)
            body = json.loads(self.rfile.read(length) or b'null')
            token = self.headers.get('X-Auth-Token', '')
            status, more, told = cloud.answer(
                self.command, self.path, token, body
            )
            content = json.dumps(told).encode()
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
