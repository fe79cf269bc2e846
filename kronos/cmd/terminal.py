# SPDX-License-Identifier: Apache-2.0
"""How does text get to a terminal unharmed, and without harming it?"""

import os
import re
import sys

_CONTROL = re.compile(r'[\x00-\x09\x0b-\x1f\x7f-\x9f]')
"""What a name might do to a terminal."""


def plain(text: str) -> str:
    """The text without what steers a terminal."""
    return _CONTROL.sub('?', text)


def show(text: str) -> None:
    """Print it; that nobody reads to the end is no error."""
    out = sys.stdout
    # A name may hold what the encoding of the terminal does not have.
    safe = plain(text).encode(out.encoding or 'utf-8', 'backslashreplace')
    try:
        print(safe.decode(out.encoding or 'utf-8'), flush=True)
    except BrokenPipeError:
        # The reader has seen enough; nothing may be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
