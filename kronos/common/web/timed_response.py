# SPDX-License-Identifier: Apache-2.0
"""A response of http.client that is read before a deadline.

The time-out of a socket begins anew with every byte that comes.
"""

import contextlib
import contextvars
import http.client
import io
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

NEVER = float('inf')


class Deadline:
    """When a request has to be over, and how much has come of its answer."""

    def __init__(self, moment: float, clock: Callable[[], float]) -> None:
        self._moment = moment
        self._clock = clock
        self.received = 0
        """Bytes."""

    def remaining(self) -> float:
        """Seconds until then.

        :raises TimeoutError: none
        """
        seconds = self._moment - self._clock()
        if seconds <= 0:
            raise TimeoutError('the answer takes too long')
        return seconds


_DEADLINE: contextvars.ContextVar[Deadline] = contextvars.ContextVar(
    'kronos_deadline'
)
"""Of the request that this thread has under way."""


@contextlib.contextmanager
def within(
    seconds: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[Deadline]:
    """Bound the response that this thread reads meanwhile."""
    deadline = Deadline(clock() + seconds, clock)
    token = _DEADLINE.set(deadline)
    try:
        yield deadline
    finally:
        _DEADLINE.reset(token)


class _Socket(io.RawIOBase):
    """Reads from a socket, and never beyond the deadline."""

    def __init__(self, raw: Any, sock: socket.socket) -> None:
        self._raw = raw
        self._sock = sock
        self._silence = sock.gettimeout() or NEVER
        self._deadline = _DEADLINE.get(None)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._deadline is not None:
            seconds = self._deadline.remaining()
            self._sock.settimeout(min(self._silence, seconds))
        size = cast('int | None', self._raw.readinto(buffer))
        if self._deadline is not None:
            self._deadline.received += size or 0
        return size

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def close(self) -> None:
        self._raw.close()
        super().close()


class TimedResponse(http.client.HTTPResponse):
    """One whose head and body are read as above."""

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_Socket(raw, sock))
