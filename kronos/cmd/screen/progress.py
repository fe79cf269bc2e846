# SPDX-License-Identifier: Apache-2.0
"""The progress line of a command, on a terminal alone.

It is on standard error, on one line that is erased before anything else is
printed. A pipe, a file and a log get none of it.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO

from kronos.common import durations, plain_text

DELAY_SECONDS = 1.0
"""A command that takes no longer shows none. It was loaded before, for about
another second."""
PERIOD_SECONDS = 1.0
ERASED = '\r\x1b[K'
COLUMNS = 80
"""Of a terminal that does not tell its width."""


class ProgressLine:
    """The line of one command.

    :param program: its name
    :param out: the terminal
    """

    def __init__(self, program: str, out: IO[str]) -> None:
        self._program, self._out = program, out
        self._began = time.monotonic()
        self._step, self._count = 'working', ''
        self._is_drawn = False
        self._ended = threading.Event()
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        self.erase()

    def set_step(self, text: str) -> None:
        """What is done from now on."""
        with self._lock:
            self._step = plain_text.line(text)

    def set_count(self, number: int, total: int) -> None:
        """Of several things alike, which one it is about from now on."""
        with self._lock:
            self._count = f' ({number} of {total})' if total > 1 else ''

    def erase(self) -> None:
        """Make room for a line of something else."""
        with self._lock:
            if self._is_drawn:
                self._write(ERASED)
                self._is_drawn = False

    def draw(self) -> None:
        with self._lock:
            seconds = time.monotonic() - self._began
            text = (
                f'{self._program}: {self._step}{self._count}, '
                f'{durations.rounded(int(seconds))}'
            )
            self._write(f'{ERASED}{text[: self._columns() - 1]}')
            self._is_drawn = True

    def _run(self) -> None:
        wait = DELAY_SECONDS
        while not self._ended.wait(wait):
            self.draw()
            wait = PERIOD_SECONDS

    def _columns(self) -> int:
        try:
            columns = os.get_terminal_size(self._out.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return columns or COLUMNS

    def _write(self, text: str) -> None:
        # A terminal that is gone, or lacks a character, is no matter.
        with contextlib.suppress(OSError, ValueError):
            self._out.write(text)
            self._out.flush()


_shown: list[ProgressLine] = []
"""The line of this process, if it has one."""


@contextlib.contextmanager
def shown(program: str, is_quiet: bool = False) -> Iterator[None]:
    """Show what is done meanwhile, if that takes longer.

    :param program: the command's name
    :param is_quiet: whether to show nothing, as beside a log
    """
    out = sys.stderr
    if is_quiet or _shown or not _is_terminal(out):
        yield
        return
    line = ProgressLine(program, out)
    _shown.append(line)
    line.start()
    try:
        yield
    finally:
        line.stop()
        _shown.clear()


def step(text: str) -> None:
    """Say what is done from now on; nothing where no line is shown."""
    for line in _shown:
        line.set_step(text)


def count(number: int, total: int) -> None:
    """Say which of several things it is about from now on."""
    for line in _shown:
        line.set_count(number, total)


def erase() -> None:
    """Erase the line, before something else is printed."""
    for line in _shown:
        line.erase()


def _is_terminal(out: IO[str] | None) -> bool:
    return (
        out is not None
        and out.isatty()
        and os.environ.get('TERM', '') != 'dumb'
    )
