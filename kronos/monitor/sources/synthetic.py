# SPDX-License-Identifier: Apache-2.0
"""The synthetic source: a hypervisor that is made up, for tests and measuring.

It follows a file to which others append JSON, one object a line, in the order
in which things happen. ``instance`` names the domain. ``state``, ``reason``
and ``run`` are how it is from then on, or ``gone``; ``current`` is false if a
hypervisor has not looked at it yet; ``xml`` describes it. ``event`` and
``detail`` are what is told of it. ``away`` begins a time without events,
``back`` ends it. What is in the file when the source begins has happened: no
events are told of it, but the domains are listed as they are.
"""

import contextlib
import json
import threading
import time
from collections import deque
from typing import Any, BinaryIO

from oslo_log import log as logging

from kronos.common import plain_files
from kronos.monitor import nova_metadata
from kronos.monitor.domains import Away, Domain, Gone, Listing, State
from kronos.monitor.events import Event
from kronos.monitor.sources.base import News, Options, Source

LOG = logging.getLogger(__name__)

LOOK_SECONDS = 0.02
"""Between two looks at the file."""
PIECE = 2**20
"""Bytes that are read at once."""


class Synthetic(Source):
    HYPERVISOR = 'synthetic'

    def __init__(
        self, news: deque[News], options: Options | None = None
    ) -> None:
        super().__init__(news, options)
        self._path = self.options.events_file
        self._lock = threading.Lock()
        self._domains: dict[str, Domain] = {}
        self._is_away = False
        self._is_live = False
        self._rest = b''
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._follow, name='synthetic', daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def look(self, instance: str) -> Domain | None:
        with self._lock:
            if self._is_away:
                raise OSError('the hypervisor is away')
            return self._domains.get(instance)

    def want(self, instance: str) -> None:
        with self._lock:
            if not self._is_away:
                domain = self._domains.get(instance)
                self.news.append(domain or Gone(instance))

    def check(self) -> str:
        try:
            plain_files.require(self._path)
        except OSError as error:
            return f'events_file {self._path}: {error.strerror}'
        return ''

    def _follow(self) -> None:
        file = self._opened()
        if file is None:
            return
        with file:
            self._take(file)
            self._is_live = True
            if not self._is_away:
                self._list()
            while not self._ended.wait(LOOK_SECONDS):
                self._take(file)

    def _opened(self) -> BinaryIO | None:
        """The file, as soon as it is there."""
        is_warned = False
        while not self._ended.is_set():
            try:
                return plain_files.opened(self._path)
            except OSError as error:
                if not is_warned:
                    self.news.append(Away(time.time(), str(error.strerror)))
                is_warned = True
            self._ended.wait(LOOK_SECONDS)
        return None

    def _take(self, file: BinaryIO) -> None:
        while piece := file.read(PIECE):
            *lines, self._rest = (self._rest + piece).split(b'\n')
            with self._lock:
                for line in lines:
                    self._happen(line)

    def _happen(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            if 'away' in row:
                self._away(str(row['away']))
            elif 'back' in row:
                self._is_away = False
                if self._is_live:
                    self._list()
            else:
                self._change(row)
        except Exception as error:
            LOG.warning('%s: a line is not an event: %r', self._path, error)

    def _away(self, why: str) -> None:
        self._is_away = True
        if self._is_live:
            self.news.append(Away(time.time(), why))

    def _list(self) -> None:
        domains = [*self._domains.values()]
        self.news.append(Listing(time.time(), domains))

    def _change(self, row: dict[str, Any]) -> None:
        """As libvirt does it: the state first, then the event."""
        instance = str(row['instance'])
        if row.get('gone'):
            self._domains.pop(instance, None)
        elif 'state' in row or 'xml' in row:
            self._describe(instance, row)
        if self._is_live and not self._is_away and 'event' in row:
            domain = self._domains.get(instance)
            self.news.append(
                Event(
                    instance,
                    str(row.get('name', instance)),
                    str(row['event']),
                    str(row.get('detail', '')),
                    float(row.get('at', time.time())),
                    domain.run if domain else None,
                    str(row.get('about', '')),
                )
            )

    def _describe(self, instance: str, row: dict[str, Any]) -> None:
        before = self._domains.get(instance)
        metadata = before.metadata if before else None
        if 'xml' in row:
            with contextlib.suppress(nova_metadata.HostileXml):
                metadata = nova_metadata.parse(str(row['xml']))
        run = row.get('run')
        domain = Domain(
            instance,
            str(row.get('name', instance)),
            State(row.get('state', before.state if before else 'UNKNOWN')),
            str(row.get('reason', '')),
            None if run is None else int(run),
            metadata,
            bool(row.get('current', True)),
        )
        self._domains[instance] = domain
        if self._is_live and not self._is_away and 'xml' in row:
            self.news.append(domain)
