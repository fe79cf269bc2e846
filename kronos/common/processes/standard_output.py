# SPDX-License-Identifier: Apache-2.0
"""The standard output, closed to libraries that print to it."""

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator

STDOUT, STDERR = 1, 2


class _Guard:
    """The file descriptor of stdout while any thread has it closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._stdout: int | None = None

    def close(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._stdout = _redirected()

    def open(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users and self._stdout is not None:
                _flush()
                os.dup2(self._stdout, STDOUT)
                os.close(self._stdout)
                self._stdout = None


_GUARD = _Guard()


@contextlib.contextmanager
def closed() -> Iterator[None]:
    """Send to stderr what C code prints inside.

    Several threads may be inside; the last one to leave opens it. What other
    threads print in the meantime goes to stderr, too, and is not lost.
    """
    _GUARD.close()
    try:
        yield
    finally:
        _GUARD.open()


def _redirected() -> int | None:
    """:returns: the stdout of before; None: the process has none"""
    try:
        before = os.dup(STDOUT)
    except OSError:
        return None
    try:
        _flush()
        os.dup2(STDERR, STDOUT)
    except OSError:
        os.close(before)
        return None
    return before


def _flush() -> None:
    """Write what C code has buffered to where stdout now is."""
    ctypes.CDLL(None).fflush(None)
