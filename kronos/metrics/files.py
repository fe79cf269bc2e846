# SPDX-License-Identifier: Apache-2.0
"""The file of a process: written whole, over and over, and removed at the end.

Whatever is wrong with the directory costs one warning until it works again.
"""

import contextlib
import importlib.metadata
import os
import pathlib
import time
from collections.abc import Callable

from oslo_log import log as logging

from kronos.common import atomic_files
from kronos.metrics import exposition
from kronos.metrics.slots import Slot, is_free
from kronos.metrics.store import Gauge, Store

LOG = logging.getLogger(__name__)

MODE = 0o644
"""The collector has another user; the umask does not matter."""


class MetricsFile:
    """What a process writes of a store, and where.

    :param wall: Unix seconds
    """

    def __init__(
        self,
        directory: str,
        service: str,
        store: Store,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._directory = pathlib.Path(directory)
        self._service = service
        self._store = store
        self._wall = wall
        self._slot: Slot | None = None
        self._identity: tuple[int, int] | None = None
        """Of the directory in which the slot is."""
        self._is_away = False

    @property
    def path(self) -> pathlib.Path | None:
        """Where the file is; None: it has no slot yet."""
        return None if self._slot is None else self._path(self._slot.number)

    def write(self) -> None:
        """Write the file; whatever goes wrong, the process goes on."""
        try:
            self._write()
        except Exception as error:
            self._store.count('kronos_metrics_write_errors_total')
            if not self._is_away:
                LOG.warning(
                    'The metrics cannot be written to %s: %s. Further '
                    'failures are not logged until it works again',
                    self._directory,
                    _reason(error),
                )
            self._is_away = True
            return
        if self._is_away:
            LOG.info('The metrics are written to %s again', self._directory)
        self._is_away = False

    def close(self) -> None:
        """Remove the file: its process ends, and what it shows with it."""
        slot, self._slot = self._slot, None
        if slot is None:
            return
        if slot.is_own:
            with contextlib.suppress(OSError):
                atomic_files.delete(self._path(slot.number))
        slot.close()

    def leave(self) -> None:
        """Let go of what a child has inherited of its parent."""
        if self._slot is not None:
            self._slot.close()
        self._slot = None

    def _write(self) -> None:
        """:raises OSError: it could not be written"""
        slot = self._claimed()
        self._store.show(
            'process',
            [
                Gauge('kronos_build_info', 1, {'version': _version()}),
                Gauge(
                    'kronos_metrics_written_timestamp_seconds', self._wall()
                ),
            ],
        )
        text = exposition.text_of(
            self._store, (self._service, str(slot.number))
        )
        path = self._path(slot.number)
        atomic_files.replace(path, text, MODE, f'.{path.stem}-')

    def _claimed(self) -> Slot:
        """The slot; another one where the directory is another one now.

        :raises OSError: there is none to be had
        """
        status = os.stat(self._directory)
        identity = status.st_dev, status.st_ino
        if self._slot is not None and self._identity == identity:
            return self._slot
        if self._slot is not None:
            self._slot.close()
        self._slot = None
        slot = Slot(self._directory, self._service)
        self._slot = slot
        path = self._path(slot.number)
        # What a process left that was killed while it wrote.
        for unfinished in self._directory.glob(f'.{path.stem}-*.tmp'):
            atomic_files.delete(unfinished)
        if self._identity is None:
            self._take_over(path)
        self._identity = identity
        return slot

    def _take_over(self, path: pathlib.Path) -> None:
        """Go on with what a process counted that was killed.

        What cannot be read is written over.
        """
        try:
            text = exposition.file_text(path)
            exposition.take_over(self._store, text)
        except FileNotFoundError:
            return
        except Exception as error:
            LOG.info('%s is not continued: %s', path, _reason(error))

    def _path(self, number: int) -> pathlib.Path:
        return self._directory / f'kronos-{self._service}-{number}.prom'


def clear(directory: str, service: str) -> None:
    """Remove the files whose processes have ended.

    For a parent that ends after its workers, which end without a last word.
    """
    top = pathlib.Path(directory)
    ours = f'kronos-{service}-'
    with contextlib.suppress(OSError):
        for path in top.glob(f'{ours}*.prom'):
            number = path.stem.removeprefix(ours)
            if number.isdecimal() and is_free(top, service, int(number)):
                atomic_files.delete(path)


def _reason(error: Exception) -> str:
    """Without a text that may hold anything."""
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or type(error).__name__


def _version() -> str:
    return importlib.metadata.version('kronos-watcher')
