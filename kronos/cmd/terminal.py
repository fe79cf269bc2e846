# SPDX-License-Identifier: Apache-2.0
"""The terminal: text gets there unharmed, and does it no harm."""

import os
import re
import shutil
import sys
from typing import Any

_CONTROL = re.compile(
    '[\x00-\x09\x0b-\x1f\x7f-\x9f'
    # What turns the direction of what follows, or breaks a line unseen.
    '\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]'
)
"""What a name might do to a terminal."""


class OutputError(Exception):
    """Standard output does not take what is printed."""


def plain(text: str) -> str:
    """Lines without what steers a terminal."""
    return _CONTROL.sub('?', text)


def line(text: str) -> str:
    """The same of what is to be one line: a name, a reason, an error."""
    return plain(text.replace('\n', '?'))


def lines(found: Any) -> Any:
    """A document whose strings, keys included, are one line each."""
    if isinstance(found, str):
        return line(found)
    if isinstance(found, dict):
        return {lines(key): lines(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [lines(one) for one in found]
    return found


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
    # A name may hold what the encoding of the terminal does not have.
    safe = plain(text).encode(out.encoding or 'utf-8', 'backslashreplace')
    try:
        print(safe.decode(out.encoding or 'utf-8'), flush=True)
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
    try:
        print(f'{program}: {line(text)}', file=sys.stderr, flush=True)
    except (OSError, AttributeError, UnicodeEncodeError):
        # Nobody listens; the exit status says it, too.
        return
