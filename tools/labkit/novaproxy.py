# SPDX-License-Identifier: Apache-2.0
"""A proxy before Nova's API that misbehaves on request.

``novaproxy.py PORT PORT-OF-NOVA``. Everything passes unchanged, unless a
rule of nova-api.json, read anew at each request, fits it::

    {"rules": [{"method": "POST", "path": "/action$", "body": "os-migrateLive",
                "answer": 503, "count": 2, "retry_after": 3}]}

method and path (with the query) and body are regular expressions; all of
them are optional. The first rule that fits and is not used up is taken,
``count`` times; without that until the file changes. answer is a status from
400 to 599; "reset" (the connection ends before Nova is asked), "refuse" (it
is closed), "swallow" (Nova gets the request, nobody its answer), "hang" (Nova
is asked after so many ``seconds``, unless the client has given up) or "late"
(the answer comes so late). Without seconds, that is when the file changes.
Standard library only.
"""

import http.client
import http.server
import json
import re
import select
import socket
import struct
import sys
import threading
import time
from typing import Any

from labkit import faults, layout

HOP_BY_HOP = {
    'connection',
    'keep-alive',
    'proxy-authenticate',
    'te',
    'trailers',
    'transfer-encoding',
    'upgrade',
}
NAMES = {429: 'overLimit', 500: 'computeFault', 503: 'serviceUnavailable'}
"""As Nova calls its errors; others come from what stands before it."""
RESET = struct.pack('ii', 1, 0)
"""SO_LINGER that makes a close a TCP reset."""
TICK = 0.1


class Rules:
    """The rules of the moment, and how often each was used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._rules: list[dict[str, Any]] = []
        self._used: list[int] = []

    def stamp(self) -> tuple[int, int] | None:
        """Another one says that the file is another one."""
        try:
            result = layout.NOVA_API.stat()
        except FileNotFoundError:
            return None
        return result.st_ino, result.st_mtime_ns

    def take(self, method: str, path: str, body: str) -> dict[str, Any] | None:
        """The rule for a request, counted as used."""
        with self._lock:
            self._read()
            for number, rule in enumerate(self._rules):
                count = rule.get('count')
                if count is not None and self._used[number] >= count:
                    continue
                if (
                    re.fullmatch(rule.get('method', '.*'), method)
                    and re.search(rule.get('path', ''), path)
                    and re.search(rule.get('body', ''), body)
                ):
                    self._used[number] += 1
                    return {**rule, 'number': number}
        return None

    def _read(self) -> None:
        stamp = self.stamp()
        if stamp == self._seen:
            return
        try:
            rules = layout.read_json(layout.NOVA_API).get('rules', [])
            faults.check_api(rules)
        except ValueError as error:
            print(error, file=sys.stderr, flush=True)
            return  # half written perhaps: those of before hold
        self._seen, self._rules = stamp, rules
        self._used = [0] * len(rules)


class Proxy(http.server.ThreadingHTTPServer):
    """One thread per connection of a client."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, nova: int) -> None:
        self.nova = nova
        self.rules = Rules()
        self._lock = threading.Lock()
        super().__init__(('127.0.0.1', port), Request)

    def note(self, **facts: Any) -> None:
        """One line for a request that has been dealt with."""
        line = json.dumps({'time': time.time(), **facts}) + '\n'
        with self._lock, layout.NOVA_REQUESTS.open('a') as file:
            file.write(line)

    def shutdown_request(self, request: Any) -> None:
        """End a connection; one to be reset gets no decent end."""
        linger = request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)
        if linger == RESET:
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go when they like."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Request(http.server.BaseHTTPRequestHandler):
    """A client's connection, with one to Nova of its own."""

    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    server: Proxy

    def setup(self) -> None:
        super().setup()
        self._nova: http.client.HTTPConnection | None = None

    def finish(self) -> None:
        if self._nova is not None:
            self._nova.close()
        super().finish()

    def _pass(self) -> None:
        length = int(self.headers.get('Content-Length') or 0)
        self._body = self.rfile.read(length)
        text = self._body.decode(errors='replace')
        rule = self.server.rules.take(self.command, self.path, text)
        answer = rule['answer'] if rule else None
        if isinstance(answer, int):
            self._refuse(rule or {}, answer)
        elif answer in ('reset', 'refuse'):
            self._note(rule, None, False)
            self._drop(reset=answer == 'reset')
        else:
            self._ask(rule)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _pass

    def _ask(self, rule: dict[str, Any] | None) -> None:
        """Let Nova answer, and give its answer unless told otherwise."""
        answer = rule['answer'] if rule else None
        if answer == 'hang':
            self._wait(rule or {})
            if self._client_has_gone():
                self._note(rule, None, False)
                self._drop(reset=False)
                return
        try:
            status, reason, headers, content = self._forward()
        except OSError as error:
            self._note(rule, None, False, str(error))
            self._drop(reset=True)  # as if there were nothing in between
            return
        self._note(rule, status, True)
        if answer == 'swallow':
            self._drop(reset=True)
            return
        if answer == 'late':
            self._wait(rule or {})
        self._give(status, reason, headers, content)

    def _wait(self, rule: dict[str, Any]) -> None:
        seconds, begin = rule.get('seconds'), time.monotonic()
        stamp = self.server.rules.stamp()
        while self.server.rules.stamp() == stamp:
            if self._client_has_gone():
                return
            if seconds is not None and time.monotonic() - begin >= seconds:
                return
            time.sleep(TICK)

    def _client_has_gone(self) -> bool:
        link = self.connection
        readable = bool(select.select([link], [], [], 0)[0])
        return readable and not link.recv(1, socket.MSG_PEEK)

    def _forward(self) -> tuple[int, str, list[tuple[str, str]], bytes]:
        connection = self._connection()
        connection.putrequest(
            self.command, self.path, skip_host=True, skip_accept_encoding=True
        )
        for name, value in self.headers.items():
            if name.lower() not in HOP_BY_HOP:
                connection.putheader(name, value)
        try:
            connection.endheaders(self._body)
            result = connection.getresponse()
            content = result.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self._nova = None
            raise ConnectionError(repr(error)) from error
        return result.status, result.reason, result.getheaders(), content

    def _connection(self) -> http.client.HTTPConnection:
        """To Nova: that of the last request, unless Nova has ended it."""
        if self._nova is not None and self._nova.sock is not None:
            if not select.select([self._nova.sock], [], [], 0)[0]:
                return self._nova
            self._nova.close()
        self._nova = http.client.HTTPConnection('127.0.0.1', self.server.nova)
        self._nova.connect()
        self._nova.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._nova

    def _give(
        self,
        status: int,
        reason: str,
        headers: list[tuple[str, str]],
        content: bytes,
    ) -> None:
        lines = [f'HTTP/1.1 {status} {reason}']
        for name, value in headers:
            if name.lower() not in (*HOP_BY_HOP, 'content-length'):
                lines.append(f'{name}: {value}')
        if self.command == 'HEAD':
            content = b''
        if status != 204:
            lines.append(f'Content-Length: {len(content)}')
        head = '\r\n'.join([*lines, '', '']).encode('latin-1')
        self.wfile.write(head + content)

    def _refuse(self, rule: dict[str, Any], status: int) -> None:
        self._note(rule, status, False)
        phrase = http.client.responses.get(status, 'Error')
        headers = [('Content-Type', 'application/json')]
        if rule.get('retry_after') is not None:
            headers.append(('Retry-After', str(rule['retry_after'])))
        if status in NAMES:
            fault = {'code': status, 'message': f'The lab says: {phrase}.'}
            content = json.dumps({NAMES[status]: fault})
        else:
            headers[0] = ('Content-Type', 'text/html')
            content = f'<html><body><h1>{status} {phrase}</h1></body></html>'
        self._give(status, phrase, headers, content.encode())

    def _drop(self, reset: bool) -> None:
        """End the connection without an answer."""
        self.close_connection = True
        if reset:
            self.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, RESET
            )

    def _note(
        self,
        rule: dict[str, Any] | None,
        status: int | None,
        forwarded: bool,
        error: str = '',
    ) -> None:
        self.server.note(
            method=self.command,
            path=self.path,
            action=_action(self._body),
            status=status,
            forwarded=forwarded,
            rule=rule['number'] if rule else None,
            answer=rule['answer'] if rule else None,
            error=error,
        )

    def log_message(self, format: str, *args: object) -> None:
        """No line per request here."""


def _action(body: bytes) -> str | None:
    """What a server is asked to do, such as os-migrateLive."""
    try:
        content = json.loads(body) if body else None
    except ValueError:
        return None
    return next(iter(content), None) if isinstance(content, dict) else None


def main() -> None:
    port, nova = map(int, sys.argv[1:3])
    Proxy(port, nova).serve_forever()


if __name__ == '__main__':
    main()
