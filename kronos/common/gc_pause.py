# SPDX-License-Identifier: Apache-2.0
"""The garbage collector of Python, held while much is made that stays."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Let it not run inside, nor after it where it did not run before.

    It looks at every object again and again while their number grows, and
    would find nothing to free.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
