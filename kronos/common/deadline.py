# SPDX-License-Identifier: Apache-2.0
"""A limit in time and number for work that may hang, say on a database."""

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kronos.common import durations

T = TypeVar('T')

MOST = 2
"""Threads of a queue, those that hang included."""


class DeadlinePassed(Exception):
    """The work is not over in time, and will have no effect.

    Unless it had called its check for the last time and hangs after that.
    """


class Check:
    """Whether the caller of some work still waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_called = self._is_over = self._is_abandoned = False

    def __call__(self) -> None:
        """Precedes what lasts; the caller waits for that once more.

        :raises DeadlinePassed: the caller does not wait any more
        """
        self._set_called(True)

    def again(self) -> None:
        """Precedes a further try, after one that has had no effect.

        :raises DeadlinePassed: the caller does not wait any more
        """
        self._set_called(False)

    def _set_called(self, is_called: bool) -> None:
        with self._lock:
            if self._is_abandoned:
                raise DeadlinePassed('the caller does not wait any more')
            self._is_called = is_called

    def end(self) -> None:
        """The work is over."""
        with self._lock:
            self._is_over = True

    def is_beyond_recall(self) -> bool:
        """Whether it may have an effect; if not, it never will."""
        with self._lock:
            self._is_abandoned = not (self._is_called or self._is_over)
            return not self._is_abandoned

    def abandon(self) -> None:
        """The caller goes; whatever has not begun to last never will."""
        with self._lock:
            self._is_abandoned = True


class Queue:
    """Work that may hang, one piece after another, in a thread each.

    A piece that hangs keeps its thread, and its connection, after its caller
    has gone. One more may run meanwhile, since perhaps only that connection
    is dead. If both hang, all others wait for one of them to end: there are
    never more threads than ``MOST``, however long it lasts.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: _Errand[Any] | None = None
        self._hanging = set[_Errand[Any]]()

    def within(self, seconds: float, work: Callable[[Check], T]) -> T:
        """Do some work, and wait for so long, the queue included.

        :param work: is given a check, which it calls right before it does
            what lasts; from then on it is waited for once more
        :returns: what the work returned; what it raises is raised
        :raises DeadlinePassed: it is not over, or was not begun
        """
        end = time.monotonic() + seconds
        errand = _Errand(work)
        with self._changed:
            if not self._changed.wait_for(self._is_free, seconds):
                raise DeadlinePassed(
                    f'not started within {durations.exact(seconds)}'
                )
            self._running = errand
        try:
            thread = self._start(errand)
            thread.join(max(0.0, end - time.monotonic()))
            if errand.check.is_beyond_recall():
                thread.join(seconds)
        finally:
            self._leave(errand)
        if not errand.is_over:
            raise DeadlinePassed(
                f'not finished within {durations.exact(seconds)}'
            )
        return errand.result()

    def _is_free(self) -> bool:
        return self._running is None and len(self._hanging) < MOST

    def _start(self, errand: '_Errand[Any]') -> threading.Thread:
        thread = threading.Thread(
            target=self._run, args=(errand,), daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            errand.is_over = True
            raise
        return thread

    def _run(self, errand: '_Errand[Any]') -> None:
        errand.run()
        with self._changed:
            errand.is_over = True
            self._remove(errand)

    def _leave(self, errand: '_Errand[Any]') -> None:
        errand.check.abandon()
        with self._changed:
            self._remove(errand)
            if not errand.is_over:
                self._hanging.add(errand)

    def _remove(self, errand: '_Errand[Any]') -> None:
        if self._running is errand:
            self._running = None
        self._hanging.discard(errand)
        self._changed.notify_all()


def within(seconds: float, work: Callable[[Check], T]) -> T:
    """Do some work that no other one has to wait for, see :class:`Queue`."""
    return Queue().within(seconds, work)


class _Errand(Generic[T]):
    def __init__(self, work: Callable[[Check], T]) -> None:
        self.check = Check()
        self.is_over = False
        self._work = work
        self._results: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._results.append(self._work(self.check))
        except BaseException as error:
            self._error = error
        self.check.end()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._results[0]
