# SPDX-License-Identifier: Apache-2.0
"""HTTPS to one address: everything ends, and rotated files are read again."""

import contextlib
import http.client
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib import parse

from kronos.common import durations, plain_files
from kronos.common.web import timed_response
from kronos.monitor.sinks.base import Options

LONGEST = 64 * 1024
"""Bytes of an answer's body that are read; nothing but its status counts."""
CLEAR_TEXT = (
    'which anybody on the network path can read and change; use https://, or '
    'set insecure = true'
)


class Unreachable(Exception):
    """No answer; the text says why, without secrets."""


@dataclass(frozen=True)
class Files:
    """Paths, '' for none."""

    cafile: str = ''
    certfile: str = ''
    keyfile: str = ''


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b''
    """Its beginning."""


class Https:
    """One address; one thread uses it.

    :param url: ``https://`` or ``http://``, without a user
    :param timeout: seconds from connecting to the end of the answer
    """

    def __init__(self, url: str, files: Files, timeout: float) -> None:
        self._url = parse.urlsplit(url)
        self._files = files
        self._timeout = timeout
        self._open: http.client.HTTPConnection | None = None
        self._versions: plain_files.Versions = ()

    @property
    def place(self) -> str:
        """For messages: a path may hold a secret."""
        port = f':{self._url.port}' if self._url.port else ''
        return f'{self._url.scheme}://{self._url.hostname}{port}'

    def ask(
        self, method: str, body: bytes, headers: Mapping[str, str]
    ) -> Answer:
        """Send a request and take its answer.

        :raises Unreachable: there is none
        """
        files = self._files
        versions = plain_files.versions(
            files.cafile, files.certfile, files.keyfile
        )
        if versions != self._versions:
            self.close()
        is_old = self._open is not None
        try:
            try:
                return self._try(method, body, headers, versions)
            except (http.client.RemoteDisconnected, ConnectionError):
                if not is_old:
                    raise
                # It was closed while nothing was to be sent.
                return self._try(method, body, headers, versions)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise Unreachable(self._fault_of(error)) from None

    def close(self) -> None:
        """Close the connection; the next request makes another."""
        if self._open is not None:
            with contextlib.suppress(OSError):
                self._open.close()
        self._open = None

    def _try(
        self,
        method: str,
        body: bytes,
        headers: Mapping[str, str],
        versions: plain_files.Versions,
    ) -> Answer:
        try:
            with timed_response.within(self._timeout) as deadline:
                return self._exchange(
                    method, body, headers, versions, deadline
                )
        except BaseException:
            self.close()
            raise

    def _exchange(
        self,
        method: str,
        body: bytes,
        headers: Mapping[str, str],
        versions: plain_files.Versions,
        deadline: timed_response.Deadline,
    ) -> Answer:
        connection = self._connection(versions)
        if connection.sock is None:
            connection.connect()
        connection.sock.settimeout(deadline.remaining())
        connection.response_class = timed_response.TimedResponse
        path = self._url.path or '/'
        if self._url.query:
            path = f'{path}?{self._url.query}'
        connection.request(method, path, body, dict(headers))
        return self._read(connection.getresponse())

    def _connection(
        self, versions: plain_files.Versions
    ) -> http.client.HTTPConnection:
        if self._open is None:
            host, port = self._url.hostname or '', self._url.port
            if self._url.scheme == 'https':
                self._open = http.client.HTTPSConnection(
                    host,
                    port,
                    timeout=self._timeout,
                    context=context_of(self._files),
                )
            else:
                self._open = http.client.HTTPConnection(
                    host, port, timeout=self._timeout
                )
            self._versions = versions
        return self._open

    def _read(self, response: http.client.HTTPResponse) -> Answer:
        """The status is known; a body that does not end changes nothing."""
        body, is_whole = b'', False
        try:
            body = response.read(LONGEST)
            is_whole = response.isclosed() or not response.read(1)
        except (OSError, http.client.HTTPException):
            is_whole = False
        if not is_whole:
            self.close()
        return Answer(response.status, dict(response.headers), body)

    def _fault_of(self, error: Exception) -> str:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f'TLS: {error.verify_message}'
        if isinstance(error, ssl.SSLError):
            return f'TLS: {error.reason or error}'
        if isinstance(error, TimeoutError):
            return f'no answer within {durations.exact(self._timeout)}'
        if isinstance(error, socket.gaierror):
            return f'its name is not known: {error.strerror}'
        reason = getattr(error, 'strerror', None) or type(error).__name__
        path = getattr(error, 'filename', None)
        return f'{path}: {reason}' if path else reason


def context_of(files: Files) -> ssl.SSLContext:
    """What is trusted, and who we are.

    :raises OSError: a file cannot be read, or holds something else
    """
    plain_files.require(files.cafile, files.certfile, files.keyfile)
    context = ssl.create_default_context(cafile=files.cafile or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if files.certfile:
        # A password would be asked for on the terminal.
        context.load_cert_chain(
            files.certfile, files.keyfile or None, password=lambda: ''
        )
    return context


def faults_of_files(options: Options, names: Sequence[str]) -> list[str]:
    """What is wrong with the options that name files."""
    texts = [
        f'{name}: {options[name]} cannot be read: {reason}'
        for name in names
        if (reason := plain_files.fault(options[name] or ''))
    ]
    if options['keyfile'] and not options['certfile']:
        texts.append('keyfile: is set, but certfile is not')
    return texts


def address_of(url: str) -> parse.SplitResult | None:
    """The parts of a URL; None: it is none of a service."""
    try:
        parts = parse.urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return None
    return parts if parts.scheme in ('http', 'https') and host else None
