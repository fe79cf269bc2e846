# SPDX-License-Identifier: Apache-2.0
"""The HTTP server for a page of metrics, within bounds whoever connects.

A request has a thread, a head of limited size and one deadline for all of it,
the TLS handshake included. Where more connect than are served at a time, the
oldest connection ends, so that a short request gets through among slow ones.
"""

import contextlib
import io
import socket
import ssl
import threading
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from wsgiref import simple_server

from oslo_log import log as logging

from kronos.common import plain_text

LOG = logging.getLogger(__name__)

BACKLOG = 1024
"""Connections that wait in the kernel to be accepted."""
PAUSE_SECONDS = 0.1
"""After a connection that could not be accepted, such as for want of files."""
REASON_LENGTH = 200
"""Characters of a reason that the log repeats."""
TOO_LARGE = (
    b'HTTP/1.0 431 Request Header Fields Too Large\r\n'
    b'Connection: close\r\nContent-Length: 0\r\n\r\n'
)


@dataclass(frozen=True)
class ServerLimits:
    """What clients may take."""

    connections: int = 32
    head_bytes: int = 16 * 1024
    """Of the request line and the headers together."""
    request_seconds: float = 10.0
    """From accepting a connection to the last byte of the answer."""
    grace_seconds: float = 0.25
    """For which a connection is served, however many others wait."""
    log_seconds: float = 60.0
    """Between two lines of the log about requests that failed."""


class HttpServer:
    """Serves a WSGI application to a few clients at a time.

    :param host: an address or a name
    :param port: 0: any that is free
    :param application: is called by several threads
    :param context: of TLS; None: without. Another one may take its place
    :raises OSError: the address is not ours, or taken
    """

    def __init__(
        self,
        host: str,
        port: int,
        application: Any,
        context: ssl.SSLContext | None = None,
        limits: ServerLimits | None = None,
    ) -> None:
        self.context = context
        self._limits = limits or ServerLimits()
        self._application = application
        self._listener = _listener(host, port, self._limits.head_bytes)
        self.port = int(self._listener.getsockname()[1])
        self._failures = _FailureLog(
            f'HTTP server {host}:{self.port}', self._limits.log_seconds
        )
        self._changed = threading.Condition()
        self._connections: list[_Connection] = []
        """The oldest first."""
        self._is_closed = False
        self._thread = threading.Thread(
            target=self._accept_all, name='HTTP server', daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End the server and all connections."""
        self._is_closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        with self._changed:
            for connection in self._connections:
                connection.abort('the server ends')

    def _accept_all(self) -> None:
        while not self._is_closed:
            try:
                accepted, peer = self._listener.accept()
            except OSError:
                if not self._is_closed:
                    time.sleep(PAUSE_SECONDS)
                continue
            self._await_slot()
            deadline = time.monotonic() + self._limits.request_seconds
            connection = _Connection(accepted, str(peer[0]), deadline)
            with self._changed:
                self._connections.append(connection)
            try:
                threading.Thread(
                    target=self._serve, args=(connection,), daemon=True
                ).start()
            except RuntimeError as error:
                # No thread can be started just now.
                self._end(connection)
                self._failures.add(connection.peer, str(error))
                time.sleep(PAUSE_SECONDS)

    def _await_slot(self) -> None:
        """Wait until there may be one connection more."""
        limits = self._limits
        with self._changed:
            while len(self._connections) >= limits.connections:
                live = [
                    connection
                    for connection in self._connections
                    if not connection.aborted
                ]
                wait = limits.grace_seconds
                if live:
                    age = time.monotonic() - live[0].accepted_at
                    wait -= age
                    if wait <= 0:
                        live[0].abort(
                            f'it was the oldest of {limits.connections} '
                            'connections, and others wait'
                        )
                        wait = limits.grace_seconds
                self._changed.wait(wait)

    def _serve(self, connection: '_Connection') -> None:
        try:
            reason = self._failure(connection)
            reason = connection.aborted or reason
            if reason and not self._is_closed:
                self._failures.add(connection.peer, reason)
        finally:
            self._end(connection)

    def _failure(self, connection: '_Connection') -> str:
        """Answer a request, or say why it failed; '': it did not."""
        most = self._limits.head_bytes
        try:
            return connection.serve(self._application, self.context, most)
        except _HeadTooLarge:
            with contextlib.suppress(OSError):
                connection.send(TOO_LARGE)
            return f'its head has more than {most} bytes'
        except TimeoutError:
            return f'it takes more than {self._limits.request_seconds:g} s'
        except ssl.SSLError as error:
            if isinstance(error, ssl.SSLEOFError):
                return ''
            return f'TLS: {error.reason or type(error).__name__}'
        except OSError:
            # A client may leave when it likes.
            return ''
        except Exception as error:
            # Whatever a client sends, the server goes on.
            return f'{type(error).__name__}: {error}'

    def _end(self, connection: '_Connection') -> None:
        connection.close()
        with self._changed:
            self._connections.remove(connection)
            self._changed.notify_all()


class _HeadTooLarge(Exception):
    """A client sends more than the head of a request may have."""


class _Connection:
    """One connection, and the one request on it.

    :param deadline: by the monotonic clock
    """

    def __init__(
        self, accepted: socket.socket, peer: str, deadline: float
    ) -> None:
        self.peer = peer
        self.accepted_at = time.monotonic()
        self.aborted = ''
        """Why the server ended it; '': it did not."""
        self._deadline = deadline
        self._socket = accepted
        self._lock = threading.Lock()
        """A descriptor that was closed may be another one's."""

    def serve(
        self, application: Any, context: ssl.SSLContext | None, most: int
    ) -> str:
        """Answer the request.

        :param most: bytes of its head
        :returns: what is wrong with it; '': nothing
        :raises OSError: it cannot be answered, or not in time
        """
        if context is not None:
            with self._lock:
                self._socket = context.wrap_socket(
                    self._socket,
                    server_side=True,
                    do_handshake_on_connect=False,
                )
            with self._bounded() as stream:
                stream.do_handshake()
        head = io.BufferedReader(_Head(self.receive_into, most))
        request = _Request(head, self.peer)
        answer = request.answer(application)
        self.send(answer)
        return request.fault

    def receive_into(self, buffer: memoryview) -> int:
        with self._bounded() as stream:
            return int(stream.recv_into(buffer))

    def send(self, data: bytes) -> None:
        """:raises OSError: the client does not take it in time"""
        rest = memoryview(data)
        while rest:
            with self._bounded() as stream:
                rest = rest[stream.send(rest) :]

    def abort(self, why: str) -> None:
        """End it, whatever its thread waits for."""
        with self._lock:
            self.aborted = self.aborted or why
            with contextlib.suppress(OSError):
                # That of TLS is no good while another thread uses it.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._socket.close()

    @contextlib.contextmanager
    def _bounded(self) -> Iterator[Any]:
        """The socket, for one operation.

        :raises TimeoutError: the time of the request is over
        """
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._socket.settimeout(seconds)
        yield self._socket


class _Head(io.RawIOBase):
    """The bytes of a request's head, as they come.

    :param most: so many may come
    """

    def __init__(
        self, receive_into: Callable[[memoryview], int], most: int
    ) -> None:
        self._receive_into = receive_into
        self._rest = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            raise _HeadTooLarge
        count = self._receive_into(memoryview(buffer)[: self._rest])
        self._rest -= count
        return count


class _Request(simple_server.WSGIRequestHandler):
    """The HTTP of a request: the standard library's, over other streams."""

    def __init__(self, head: Any, peer: str) -> None:
        self.rfile = head
        self.wfile = self._answer = io.BytesIO()
        self.client_address = (peer, 0)
        self.server: Any = types.SimpleNamespace(base_environ={})
        self.fault = ''
        """What is wrong with it; '': nothing."""

    def answer(self, application: Any) -> bytes:
        """The bytes of the answer; none to a client that sent nothing."""
        self.raw_requestline = self.rfile.readline()
        if self.raw_requestline and self.parse_request():
            handler = _Application(self, self._answer)
            handler.run(application)
        return self._answer.getvalue()

    def log_error(self, format: str, *args: Any) -> None:
        """Note it; the server says how many there are."""
        self.fault = format % args

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Application(simple_server.ServerHandler):
    def __init__(self, request: _Request, answer: io.BytesIO) -> None:
        super().__init__(
            io.BytesIO(), answer, io.StringIO(), request.get_environ()
        )
        self.request_handler = request

    def log_exception(self, exc_info: Any) -> None:
        """Note it; the client gets the status 500."""
        fault = f'the page cannot be made: {exc_info[1]!r}'
        self.request_handler.fault = fault


class _FailureLog:
    """Logs how many requests failed, and one reason, now and then.

    :param name: of the server
    :param seconds: between two lines
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._name = name
        self._seconds = seconds
        self._lock = threading.Lock()
        self._count = 0
        self._after = float('-inf')
        """Seconds of the monotonic clock."""

    def add(self, peer: str, reason: str) -> None:
        now = time.monotonic()
        with self._lock:
            self._count += 1
            if now < self._after:
                return
            count, self._count = self._count, 0
            self._after = now + self._seconds
        LOG.warning(
            '%s: failed requests: %d, the last from %s: %s. Further ones are '
            'counted, and logged in %g s at the earliest',
            self._name,
            count,
            peer,
            plain_text.line(reason)[:REASON_LENGTH],
            self._seconds,
        )


def _listener(host: str, port: int, head_bytes: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.create_server(
        address,
        family=family,
        backlog=BACKLOG,
        dualstack_ipv6=family == socket.AF_INET6
        and socket.has_dualstack_ipv6(),
    )
    # Each connection has it from here: what waits there is memory, too.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * head_bytes)
    return listener
