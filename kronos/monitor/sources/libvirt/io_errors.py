# SPDX-License-Identifier: Apache-2.0
"""The I/O errors, on a connection of their own that is closed in a storm.

One guest whose disk refuses all it writes makes thousands of them a second,
and libvirt keeps for each client what that has not taken. So beyond a rate
the connection is closed for a while: that frees what was kept for it, and
holds up no other event.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from oslo_log import log as logging

from kronos.monitor.events import Event
from kronos.monitor.sources.libvirt import callbacks
from kronos.monitor.sources.libvirt.connection import Connection

LOG = logging.getLogger(__name__)

WINDOW = 1.0
"""Seconds over which a rate is measured."""
SAME_STORM = 10.0
"""Seconds: a storm that is back sooner is the same, and is told once."""
RETRY_SECONDS = 1.0
END_SECONDS = 2.0
STORM = 'a storm'


class Meter:
    """Measures how fast something comes.

    :param rate: per second, that is still right
    """

    def __init__(self, rate: float) -> None:
        self._most = rate * WINDOW
        self._began = float('-inf')
        self._count = 0

    def is_storm(self, now: float) -> bool:
        """Count one more; whether they are too many.

        :param now: seconds of the monotonic clock
        """
        if now - self._began >= WINDOW:
            self._began, self._count = now, 0
        self._count += 1
        return self._count > self._most


class IoErrors:
    """Listens to I/O errors, for ever.

    :param append: takes each event
    :param rate: events per second above which it is a storm
    :param seconds: for which the connection is closed then
    """

    def __init__(
        self,
        uri: str,
        append: Callable[[Event], None],
        rate: float,
        seconds: float,
    ) -> None:
        self._uri = uri
        self._append = append
        self._rate = rate
        self._seconds = seconds
        self._calm_after = float('-inf')
        """Seconds of the monotonic clock."""
        self._connection: Connection | None = None
        self._listens = threading.Event()
        """Or does not just now, because of a storm."""
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name='libvirt I/O errors', daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until it listens, but no longer than that."""
        self._listens.wait(seconds)

    def stop(self) -> None:
        self._ended.set()
        if (connection := self._connection) is not None:
            connection.end('')
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        while not self._ended.is_set():
            is_storm = False
            try:
                with Connection(self._uri) as connection:
                    is_storm = self._listen(connection) == STORM
            except OSError as error:
                LOG.debug('The agent receives no I/O errors: %s', error)
            except Exception:
                LOG.exception('The agent receives I/O errors again')
            if not is_storm:
                self._listens.clear()
            self._ended.wait(self._seconds if is_storm else RETRY_SECONDS)

    def _listen(self, connection: Connection) -> str:
        """Why it does no longer."""
        listener = _Listener(self._append, self._rate, connection.end)
        connection.subscribe({callbacks.IO_ERROR: listener.take})
        self._connection = connection
        self._listens.set()
        if self._ended.is_set():
            return ''
        why = connection.wait()
        self._connection = None
        if why == STORM:
            self._warn(listener.last)
        return why

    def _warn(self, instance: str) -> None:
        now = time.monotonic()
        if now > self._calm_after:
            LOG.warning(
                'More than %g I/O errors came within %g s, the last of '
                'instance %s. The agent samples them every %g s until there '
                'are fewer',
                self._rate * WINDOW,
                WINDOW,
                instance,
                self._seconds,
            )
        self._calm_after = now + self._seconds + SAME_STORM


class _Listener:
    """The callback of one connection.

    :param end: of it
    """

    def __init__(
        self,
        append: Callable[[Event], None],
        rate: float,
        end: Callable[[str], None],
    ) -> None:
        self._append = append
        self._meter = Meter(rate)
        self._end = end
        self._is_over = False
        self.last = ''
        """Instance of the last event."""

    def take(
        self,
        _: object,
        domain: Any,
        path: str,
        device: str,
        action: int,
        reason: str,
        __: object,
    ) -> None:
        if self._is_over:
            return
        event = callbacks.io_error(domain, path, device, action, reason)
        self._append(event)
        self.last = event.instance
        if self._meter.is_storm(time.monotonic()):
            self._is_over = True
            self._end(STORM)
