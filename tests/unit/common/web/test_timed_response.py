# SPDX-License-Identifier: Apache-2.0
"""Does a response end in time, however often a byte comes?"""

import io
from typing import Any

from oslotest import base

from kronos.common.web import timed_response
from kronos.common.web.timed_response import TimedResponse

HEAD = b'HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n'


class Dripping(io.RawIOBase):
    """A peer that sends a byte a second, by a clock of its own."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.now = 0.0
        self.timeouts: list[float] = []

    def makefile(self, mode: str) -> Any:
        return io.BufferedReader(self)

    def gettimeout(self) -> float:
        return 5.0

    def settimeout(self, seconds: float) -> None:
        self.timeouts.append(seconds)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.now += 1.0
        piece, self._data = self._data[:1], self._data[1:]
        buffer[: len(piece)] = piece
        return len(piece)


class TestResponse(base.BaseTestCase):
    def read(self, peer: Dripping) -> bytes:
        response = TimedResponse(peer)
        response.begin()
        return response.read()

    def test_in_time(self) -> None:
        peer = Dripping(HEAD + b'x' * 40)
        with timed_response.within(200.0, lambda: peer.now) as deadline:
            self.assertEqual(b'x' * 40, self.read(peer))
        self.assertEqual(len(HEAD) + 40, deadline.received)
        self.assertEqual({5.0}, set(peer.timeouts))

    def test_too_late(self) -> None:
        """No time-out of the socket is ever reached."""
        peer = Dripping(HEAD + b'x' * 40)
        with timed_response.within(50.0, lambda: peer.now):
            self.assertRaises(TimeoutError, self.read, peer)
        self.assertEqual(50.0, peer.now)
        self.assertEqual(1.0, peer.timeouts[-1])

    def test_without_a_deadline(self) -> None:
        """Only what is read within one is bounded."""
        peer = Dripping(HEAD + b'x' * 40)
        self.assertEqual(b'x' * 40, self.read(peer))
        self.assertEqual([], peer.timeouts)
