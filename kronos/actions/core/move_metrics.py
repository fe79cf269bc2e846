# SPDX-License-Identifier: Apache-2.0
"""The metrics of one move: where it is, and how it ends."""

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator

from kronos.actions.core import notifications
from kronos.actions.core.parameters import MoveSettings
from kronos.common import exceptions
from kronos.engine import faults
from kronos.metrics import process
from kronos.metrics.store import Gauge

_RUNNING = 'kronos_migrations_running'
_WAITING = 'kronos_moves_waiting'

_numbers: Counter[tuple[str, str]] = Counter()
"""Moves of this process by metric and scope; an applier never forks."""
_lock = threading.Lock()


class MoveMetrics:
    """What is counted of one move."""

    def __init__(self, settings: MoveSettings) -> None:
        self._scope = settings.task.aggregate
        self._phase = settings.task.phase
        self._forecast = settings.forecast_seconds

    def waiting(self) -> contextlib.AbstractContextManager[None]:
        """While it waits for its turn."""
        return self._counted(_WAITING)

    def running(self) -> contextlib.AbstractContextManager[None]:
        """While it is tried."""
        return self._counted(_RUNNING)

    def succeeded(self, record: notifications.Record) -> None:
        """It has arrived."""
        self._end('succeeded', 'none')
        store, scope = process.of_process(), self._scope
        if record.queued_seconds is not None:
            name = 'kronos_migration_queued_seconds'
            store.observe(name, record.queued_seconds, scope=scope)
        if record.running_seconds is not None:
            name = 'kronos_migration_running_seconds'
            store.observe(name, record.running_seconds, scope=scope)
            if self._forecast is not None:
                # Of the same moves, so that the sums can be compared.
                name = 'kronos_migration_forecast_seconds'
                store.observe(name, self._forecast, scope=scope)
        for kind, number in (
            ('memory', record.memory_bytes),
            ('disk', record.disk_bytes),
        ):
            if number:
                name = 'kronos_migration_bytes_total'
                store.count(name, number, scope=scope, kind=kind)

    def failed(self, error: exceptions.KronosException, final: bool) -> None:
        """A try has failed.

        :param final: False if it will be tried again
        """
        error_type = type(error).__name__
        if not final:
            process.of_process().count(
                'kronos_migration_retries_total',
                scope=self._scope,
                error_type=error_type,
            )
            return
        is_cancelled = isinstance(error, exceptions.MigrationCancelled)
        self._end('cancelled' if is_cancelled else 'failed', error_type)

    def ended_early(self, error: exceptions.KronosException) -> None:
        """It ended before its turn: it was pointless, or its plan ended."""
        process.of_process().count(
            'kronos_moves_skipped_total',
            scope=self._scope,
            reason=str(faults.of_error(error)),
        )

    def _end(self, outcome: str, error_type: str) -> None:
        process.of_process().count(
            'kronos_migrations_total',
            scope=self._scope,
            phase=self._phase,
            outcome=outcome,
            error_type=error_type,
        )

    @contextlib.contextmanager
    def _counted(self, name: str) -> Iterator[None]:
        self._change(name, 1)
        try:
            yield
        finally:
            self._change(name, -1)

    def _change(self, name: str, by: int) -> None:
        with _lock:
            _numbers[name, self._scope] += by
            process.of_process().show(
                'moves',
                [
                    Gauge(metric, number, {'scope': scope})
                    for (metric, scope), number in _numbers.items()
                ],
            )
