# SPDX-License-Identifier: Apache-2.0
"""The metrics of this process: its store, its thread and its file.

A service may fork at any time, as nova-scheduler does after it has loaded its
plugins. Store, thread and lock belong to the process that made them; its
child begins anew, with its own.
"""

import atexit
import os
import threading
from dataclasses import dataclass
from typing import Any

from oslo_log import log as logging

from kronos.metrics import files
from kronos.metrics.metric import Source
from kronos.metrics.store import Off, Store

LOG = logging.getLogger(__name__)

_OFF = Off()


@dataclass(frozen=True)
class Settings:
    """The group ``[kronos_metrics]``."""

    directory: str
    interval: float
    per_host: bool
    scope_ttl: float

    @classmethod
    def of(cls, group: Any) -> 'Settings':
        return cls(
            group.directory or '',
            group.interval,
            group.per_host,
            group.scope_ttl,
        )


class _Process:
    """What this process has; a child has another one of the same settings."""

    def __init__(self, service: Source, settings: Settings) -> None:
        self.service = service
        self.settings = settings
        self.store = Store(settings.per_host, settings.scope_ttl)
        self.file = files.MetricsFile(
            settings.directory, service.value, self.store
        )
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Have a thread write the file, if none does yet.

        :raises RuntimeError: no thread is to be had
        """
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(
                    target=self._run, name='kronos-metrics', daemon=True
                )
                thread.start()
                self._thread = thread

    def end(self) -> None:
        """Write no more, and remove the file."""
        self._ended.set()
        with self._lock:
            self.file.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            with self._lock:
                if not self._ended.is_set():
                    self.file.write()
            self._ended.wait(self.settings.interval)


_process: _Process | None = None
_is_hooked = False


def prepare(service: Source, group: Any) -> Store:
    """Have a store in this process and its children; nothing is written yet.

    :param group: the options ``[kronos_metrics]``; without a directory
        nothing happens. What changes in them later has no effect
    :returns: the store of this process
    """
    global _process
    if _process is None and group.directory:
        _process = _Process(service, Settings.of(group))
        _hook()
    return of_process()


def begin(service: Source, group: Any) -> Store:
    """Have a store, and a thread that writes its file; see :func:`prepare`."""
    prepare(service, group)
    start()
    return of_process()


def start() -> None:
    """Have a thread write the file of this process, if it is prepared."""
    if _process is not None:
        try:
            _process.start()
        except RuntimeError as error:
            LOG.warning('The metrics are not written: %s', error)


def of_process() -> Store:
    """The store of this process; one that holds nothing if there is none."""
    return _OFF if _process is None else _process.store


def end() -> None:
    """Remove the file of this process, and those its workers have left."""
    global _process
    process, _process = _process, None
    if process is not None:
        process.end()
        files.clear(process.settings.directory, process.service.value)


def _hook() -> None:
    global _is_hooked
    if not _is_hooked:
        # Neither can be taken back.
        os.register_at_fork(after_in_child=_after_fork)
        atexit.register(end)
    _is_hooked = True


def _after_fork() -> None:
    """Begin anew in a child; its threads are to be started by it."""
    global _process
    if _process is not None:
        _process.file.leave()
        _process = _Process(_process.service, _process.settings)
