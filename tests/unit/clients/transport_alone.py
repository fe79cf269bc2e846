# SPDX-License-Identifier: Apache-2.0
"""Does an answer take no more memory than it may, whoever sent it?

On sockets: what is unpacked when, and what came until then, is seen nowhere
else.
"""

import gzip
import socket
import threading

import requests
from oslotest import base

from kronos.clients import schema, transport

MIB = 2**20


class OneAnswer:
    """A server that gives one answer, whatever it is asked."""

    def __init__(self, test: base.BaseTestCase, answer: bytes) -> None:
        self._listener = socket.create_server(('127.0.0.1', 0))
        self._answer = answer
        self.asked = b''
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        test.addCleanup(thread.join, 10)
        test.addCleanup(self._listener.close)

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self._listener.getsockname()[1]}/'

    def _run(self) -> None:
        sock, _ = self._listener.accept()
        with sock:
            sock.settimeout(10)
            self.asked = sock.recv(MIB)
            try:
                sock.sendall(self._answer)
            except OSError:
                return  # enough was read


def whole(body: bytes, *lines: str) -> bytes:
    head = ['HTTP/1.1 200 OK', f'Content-Length: {len(body)}', *lines]
    return '\r\n'.join([*head, '', '']).encode() + body


def chunked(body: bytes, *lines: str) -> bytes:
    head = ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', *lines]
    size = f'{len(body):x}\r\n'.encode()
    return (
        '\r\n'.join([*head, '', '']).encode() + size + body + b'\r\n0\r\n\r\n'
    )


class TestAnswers(base.BaseTestCase):
    def get(self, answer: bytes, longest: int = 64 * MIB) -> bytes:
        self.server = OneAnswer(self, answer)
        session = requests.Session()
        session.trust_env = False
        limits = transport.Limits(silence=10.0, longest=longest)
        session.mount('http://', transport.Transport(limits))
        self.addCleanup(session.close)
        return session.get(self.server.url).content

    def refused(self, answer: bytes, longest: int = 64 * MIB) -> str:
        error = self.assertRaises(
            requests.RequestException, self.get, answer, longest
        )
        return str(error)

    def test_as_it_came(self) -> None:
        body = b'{"a": 1}' * 1000
        for form in (whole, chunked):
            self.assertEqual(body, self.get(form(body)))
            packed = gzip.compress(body)
            line = 'Content-Encoding: gzip'
            self.assertEqual(body, self.get(form(packed, line)))
        self.assertIn(b'Accept-Encoding: gzip, deflate\r\n', self.server.asked)

    def test_large_ones(self) -> None:
        """In pieces of whatever size, packed or not."""
        body = b'"' + bytes(range(32, 126)).replace(b'"', b'') * 2**18 + b'"'
        self.assertGreater(len(body), transport.FREE_BYTES)
        for answer in (
            whole(body),
            chunked(body),
            whole(gzip.compress(body, 0), 'Content-Encoding: gzip'),
            chunked(gzip.compress(body, 0), 'Content-Encoding: gzip'),
        ):
            self.assertEqual(len(body), len(self.get(answer)))

    def test_too_long(self) -> None:
        for form in (whole, chunked):
            text = self.refused(form(b' ' * 3 * MIB), 2 * MIB)
            self.assertEqual('the answer is longer than 2 MiB', text)

    def test_little_that_becomes_much(self) -> None:
        packed = gzip.compress(b' ' * 40 * MIB)
        self.assertLess(len(packed), 50_000)
        for form in (whole, chunked):
            text = self.refused(form(packed, 'Content-Encoding: gzip'))
            self.assertIn('unpacks to more than 200 times', text)

    def test_packed_twice(self) -> None:
        """Each time it may become 1,000 times as large."""
        packed = gzip.compress(gzip.compress(b'{}'))
        for encoding in ('gzip, gzip', 'br', 'zstd'):
            line = f'Content-Encoding: {encoding}'
            self.assertIn(encoding, self.refused(whole(packed, line)))

    def test_many_values(self) -> None:
        text = self.refused(whole(b'[' + b'[],' * 5 * MIB + b'1]'))
        self.assertIn('too many values', text)


class TestText(base.BaseTestCase):
    def test_halves_of_pairs(self) -> None:
        """They can be written nowhere; whole pairs are a character."""
        for body, text in (
            (rb'["\ud800"]', '?'),
            (rb'["a\udfffb"]', 'a?b'),
            (b'["\xed\xa0\x80"]', '?'),
            (rb'["\ud83d\ude00"]', '\U0001f600'),
            ('["\U0001f600"]'.encode(), '\U0001f600'),
            (rb'["\\ud800"]', r'\ud800'),
        ):
            [found] = schema.json_of(body)
            self.assertEqual(text, found)
            found.encode()
