# SPDX-License-Identifier: Apache-2.0
"""A limit in time for work that may hang, say on a silent database."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar('T')

Check = Callable[[], None]
"""Raises :class:`DeadlinePassed` once nobody waits any more."""


class DeadlinePassed(Exception):
    """The work is not over in time, and will have no effect.

    Unless it had called its check for the last time and hangs after that.
    """


def within(seconds: float, work: Callable[[Check], T]) -> T:
    """Do some work in a thread of its own, and wait for so long.

    :param work: is given a check, which it calls right before it does what
        lasts; from then on it is waited for once more
    :returns: what the work returned; what it raises is raised
    :raises DeadlinePassed: it is not over
    """
    errand = _Errand(work)
    thread = threading.Thread(target=errand.run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errand.is_beyond_recall():
        thread.join(seconds)
    if thread.is_alive():
        raise DeadlinePassed(f'not over within {seconds:g} s')
    return errand.result()


class _Errand(Generic[T]):
    def __init__(self, work: Callable[[Check], T]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._checked = self._over = self._left = False
        self._found: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._found.append(self._work(self._check))
        except BaseException as error:
            self._error = error
        with self._lock:
            self._over = True

    def _check(self) -> None:
        with self._lock:
            if self._left:
                raise DeadlinePassed('nobody waits any more')
            self._checked = True

    def is_beyond_recall(self) -> bool:
        """Whether it may have an effect; if not, it never will."""
        with self._lock:
            self._left = not (self._checked or self._over)
            return not self._left

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._found[0]
