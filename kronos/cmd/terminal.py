# SPDX-License-Identifier: Apache-2.0
"""The terminal: text gets there unharmed, and does it no harm."""

import os
import shutil
import sys
from typing import Any

from kronos.cmd.screen import colours, progress
from kronos.common import plain_text


class OutputError(Exception):
    """Standard output does not take what is printed."""


def lines(value: Any) -> Any:
    """A document whose strings, keys included, are one line each."""
    if isinstance(value, str):
        return plain_text.line(value)
    if isinstance(value, dict):
        return {lines(key): lines(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [lines(item) for item in value]
    return value


def width() -> int | None:
    """Columns of the terminal that is printed to; None: it is none."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def show(text: str) -> None:
    """Print it; that nobody reads to the end is no error.

    :raises OutputError: it cannot be written
    """
    out = sys.stdout
    if out is None:
        raise OutputError('it is closed')
    encoding = out.encoding or 'utf-8'
    # A name may hold what the encoding of the terminal does not have.
    safe = plain_text.plain(text).encode(encoding, 'backslashreplace')
    shown = safe.decode(encoding)
    if colours.are_wanted(out):
        shown = colours.painted(shown)
    progress.erase()
    try:
        print(shown, flush=True)
    except BrokenPipeError:
        discard()
    except OSError as error:
        discard()
        raise OutputError(error.strerror or str(error)) from None


def discard() -> None:
    """Nothing may be written at exit: it would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(program: str, text: str) -> None:
    """Print an error or a warning, on one line, for as long as that goes."""
    shown = f'{program}: {plain_text.line(text)}'
    progress.erase()
    try:
        if colours.are_wanted(sys.stderr):
            shown = colours.painted(shown)
        print(shown, file=sys.stderr, flush=True)
    except (OSError, AttributeError, UnicodeEncodeError):
        # Nobody listens; the exit status says it, too.
        return
