# SPDX-License-Identifier: Apache-2.0
"""The source of a host with libvirt: its events, and its domains.

It reads only, by the socket that is meant for that.
"""

import queue
import threading
import time
from collections import deque

from oslo_log import log as logging

from kronos.monitor.domains import Away, Domain, Listing
from kronos.monitor.sources.base import News, Options, Source
from kronos.monitor.sources.libvirt import loop
from kronos.monitor.sources.libvirt.callbacks import Callbacks
from kronos.monitor.sources.libvirt.connection import Connection
from kronos.monitor.sources.libvirt.domain_queries import DomainQueries
from kronos.monitor.sources.libvirt.gate import Gate
from kronos.monitor.sources.libvirt.io_errors import IoErrors

LOG = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
"""Between two tries to connect."""
IO_SECONDS = 2.0
"""For which the list of domains waits for those who listen to I/O errors."""
END_SECONDS = 2.0
CHECK_SECONDS = 15.0
REMEDY = (
    'libvirtd or virtqemud must run, and this user needs access to its '
    'read-only socket'
)


class Libvirt(Source):
    """The libvirt of a URI."""

    HYPERVISOR = 'libvirt'

    def __init__(
        self, news: deque[News], options: Options | None = None
    ) -> None:
        super().__init__(news, options)
        self._uri = self.options.libvirt_uri
        self._gate = Gate(news)
        self._queries = DomainQueries(news)
        self._callbacks = Callbacks(self._gate.append, self._queries.want)
        self._io_errors = IoErrors(
            self._uri,
            self._gate.append,
            self.options.storm_rate,
            self.options.storm_seconds,
        )
        self._connection: Connection | None = None
        self._is_away = False
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name='libvirt watch', daemon=True
        )

    def start(self) -> None:
        loop.begin()
        self._queries.start()
        self._io_errors.start()
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if (connection := self._connection) is not None:
            connection.end('')
        self._io_errors.stop()
        self._queries.stop()
        # It may be waiting for a libvirt that hangs.
        self._thread.join(END_SECONDS)

    def look(self, instance: str) -> Domain | None:
        return self._queries.look(instance)

    def want(self, instance: str) -> None:
        self._queries.want(instance)

    def check(self) -> str:
        answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(
            target=lambda: answers.put(self._try()), daemon=True
        ).start()
        try:
            fault = answers.get(timeout=CHECK_SECONDS)
        except queue.Empty:
            fault = f'no answer within {CHECK_SECONDS:g} s'
        return fault and f'libvirt_uri {self._uri}: {fault}; {REMEDY}'

    def _try(self) -> str:
        """What keeps events from being told, of a connection of its own."""
        never = Callbacks(lambda _: None, lambda _: None)
        try:
            with Connection(self._uri) as connection:
                connection.subscribe(never.needed, never.more)
                connection.domains()
        except OSError as error:
            return str(error)
        return ''

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                with Connection(self._uri) as connection:
                    why = self._watch(connection)
            except OSError as error:
                why = str(error)
            except Exception as error:
                LOG.exception('The agent is connected to libvirt again')
                why = repr(error)
            if self._ended.is_set():
                return
            if not self._is_away:
                self.news.append(Away(time.time(), why))
            self._is_away = True
            self._ended.wait(RETRY_SECONDS)

    def _watch(self, connection: Connection) -> str:
        """Tell events until the connection closes.

        :returns: why it did
        """
        listing = None
        self._gate.shut()
        try:
            connection.subscribe(self._callbacks.needed, self._callbacks.more)
            # From the list on nothing is to be missed.
            self._io_errors.wait(IO_SECONDS)
            domains = connection.domains()
            listing = Listing(time.time(), domains)
        finally:
            loop.soon(lambda: self._gate.open(listing))
        self._is_away = False
        self._queries.use(connection)
        self._connection = connection
        try:
            # Whoever ends it does so before or after the line above.
            return '' if self._ended.is_set() else connection.wait()
        finally:
            self._connection = None
            self._queries.use(None)
