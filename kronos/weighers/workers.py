# SPDX-License-Identifier: Apache-2.0
"""The workers of nova-scheduler, in each of which a cache begins.

nova-scheduler makes its weighers before it forks, and weighs in its workers
only. With native threads even a single worker is forked.
"""

import os
import sys
import weakref
from collections.abc import Callable

from kronos.weighers.cache import Cache


def begin_in_each(cache: Cache, workers: Callable[[], int]) -> None:
    """Have a cache begin in each worker, as soon as that is safe.

    With eventlet no thread may start between a fork and the new hub of the
    child. So several workers begin with their first weighing there; a single
    one is this process.

    :param workers: how many there will be
    """
    if not _is_green():
        os.register_at_fork(after_in_child=_Start(cache))
    elif workers() == 1:
        _begin(cache)


class _Start:
    """What a child of this process does first."""

    def __init__(self, cache: Cache) -> None:
        # A hook cannot be taken back.
        self._cache = weakref.ref(cache)
        self._pid = os.getpid()

    def __call__(self) -> None:
        cache = self._cache()
        # What a worker forks is no worker.
        if cache is not None and os.getppid() == self._pid:
            _begin(cache)


def _begin(cache: Cache) -> None:
    try:
        cache.begin()
    # No thread is to be had; the first weighing tries again.
    except RuntimeError as error:
        cache.note_fault(error)


def _is_green() -> bool:
    """Whether threads are eventlet's, which must not be imported here."""
    patcher = sys.modules.get('eventlet.patcher')
    return patcher is not None and bool(patcher.is_monkey_patched('thread'))
