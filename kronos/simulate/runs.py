# SPDX-License-Identifier: Apache-2.0
"""The runs of columns: side by side, a process each.

Processes are forked, so that they share the maps of the load.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from kronos.simulate import loop
from kronos.simulate.accounting import Watts
from kronos.simulate.columns import Column, Result
from kronos.simulate.load import Load

POLL_SECONDS = 0.5
TELL_TICKS = 16
"""Ticks after which a process tells how far it is."""
Tell = Callable[[int, int], None]
"""Called with the ticks that were simulated, and with all of them."""


class Runs:
    """What runs columns; enter it before any thread begins.

    :param jobs: processes at most; 1: this one alone
    """

    def __init__(
        self,
        load: Load,
        columns: Sequence[Column],
        jobs: int,
        watts: Watts | None = None,
    ) -> None:
        self._load = load
        self._columns = columns
        self._jobs = min(jobs, len(columns))
        self._watts = watts
        self._pool: Any = None
        self._ticks: Any = None

    def __enter__(self) -> 'Runs':
        if self._jobs > 1:
            context = multiprocessing.get_context('fork')
            self._ticks = context.Value('q', 0)
            self._pool = context.Pool(
                self._jobs,
                _begin,
                (self._load, self._columns, self._watts, self._ticks),
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.terminate()
            self._pool.join()

    def results(self, tell: Tell = lambda _done, _total: None) -> list[Result]:
        """Run all columns; the results in their order."""
        total = len(self._columns) * (self._load.ticks - 1)
        if not self._pool:
            return self._alone(tell, total)
        answer = self._pool.map_async(
            _run, range(len(self._columns)), chunksize=1
        )
        while not answer.ready():
            answer.wait(POLL_SECONDS)
            tell(self._ticks.value, total)
        results: list[Result] = answer.get()
        return results

    def _alone(self, tell: Tell, total: int) -> list[Result]:
        results: list[Result] = []
        ticks = self._load.ticks - 1
        for column in self._columns:
            before = len(results) * ticks

            def tell_tick(tick: int, before: int = before) -> None:
                tell(before + tick, total)

            results.append(
                loop.run(self._load, column, self._watts, tell_tick)
            )
        return results


def processors() -> int:
    """So many processes can run at a time."""
    return len(os.sched_getaffinity(0))


_shared: list[Any] = []
"""Of a process: the load, the columns, the watts, the ticks of all."""


def _begin(
    load: Load,
    columns: Sequence[Column],
    watts: Watts | None,
    ticks: 'Synchronized[int]',
) -> None:
    # Who interrupts the command ends its processes by it, with SIGTERM: a
    # handler of the parent must not take that.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _shared[:] = load, columns, watts, ticks


def _run(number: int) -> Result:
    load, columns, watts, ticks = _shared

    def tell(tick: int) -> None:
        if tick % TELL_TICKS == 0 and tick:
            with ticks.get_lock():
                ticks.value += TELL_TICKS

    return loop.run(load, columns[number], watts, tell)
