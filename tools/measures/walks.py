# SPDX-License-Identifier: Apache-2.0
"""Walks through the code: the files that one piece of work goes through.

A walk runs a test of the repository under a profiler. A file counts when one
of its functions is entered between the walk's first and last function, in
any thread; what only runs on import does not count.
"""

import contextlib
import os
import sys
import threading
import types
import unittest
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from measures.sources import Sources

FUNCTION = 1
"""CO_OPTIMIZED: code of a function, not of a module or a class."""


class WalkError(Exception):
    """The test failed, or never came to the walk's first function."""


@dataclass
class Walk:
    """A test, and the part of it that counts."""

    name: str
    test: str
    first: str = ''
    """``path:function`` with which it begins; the first one, if empty."""
    last: str = ''
    """With whose entry it ends; with the end of ``first``, if empty."""


AUDIT = 'tests.functional.watcher.test_audits.OneshotTestCase.test_a_plan'
WALKS = (
    Walk(
        'first move of a greedy plan',
        AUDIT,
        'kronos/engine/planning/propose.py:plan',
        'kronos/engine/simulation/simulation.py:move',
    ),
    Walk(
        'a whole audit',
        AUDIT,
        'kronos/strategies/base.py:do_execute',
    ),
    Walk(
        'one live migration',
        'tests.unit.actions.live.test_whole_move.WholeTestCase.test_moves',
    ),
)


def files(walks: Iterable[Walk], sources: Sources) -> dict[str, list[str]]:
    """By the name of each walk its paths, in the order it comes to them.

    :raises WalkError: a test fails, or does not go this way
    """
    recorders = [_Recorder(walk, f'{sources.top}{os.sep}') for walk in walks]
    for test in dict.fromkeys(each.walk.test for each in recorders):
        _run(test, [])  # imports what it needs
        _run(test, [each for each in recorders if each.walk.test == test])
    for each in recorders:
        if not each.files:
            raise WalkError(f'{each.walk.test} never enters {each.walk.first}')
    return {each.walk.name: list(each.files) for each in recorders}


def _run(test: str, recorders: list['_Recorder']) -> None:
    result = unittest.TestResult()
    suite = unittest.defaultTestLoader.loadTestsFromName(test)
    with _profiled(recorders):
        suite.run(result)
    problems = [text for _, text in result.errors + result.failures]
    if problems:
        raise WalkError(f'{test}: {problems[0]}')


@dataclass
class _Recorder:
    """Notes what is entered while the walk is on."""

    walk: Walk
    top: str
    files: dict[str, None] = field(default_factory=dict)
    begin: types.FrameType | None = None
    is_over: bool = False

    def note(self, frame: types.FrameType, event: str) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(f'{self.top}kronos{os.sep}'):
            return
        if event == 'call' and code.co_flags & FUNCTION and not self.is_over:
            self._enter(frame, code.co_filename.removeprefix(self.top))
        elif event == 'return' and frame is self.begin and self.walk.first:
            self.is_over = True

    def _enter(self, frame: types.FrameType, path: str) -> None:
        place = f'{path}:{frame.f_code.co_name}'
        if self.begin is None and self.walk.first in ('', place):
            self.begin = frame
        if self.begin is not None:
            self.files[path] = None
            self.is_over = place == self.walk.last


@contextlib.contextmanager
def _profiled(recorders: list[_Recorder]) -> Iterator[None]:
    def profile(frame: types.FrameType, event: str, _: Any) -> None:
        for recorder in recorders:
            recorder.note(frame, event)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
