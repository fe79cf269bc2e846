# SPDX-License-Identifier: Apache-2.0
"""The progress of a long installation. Standard library only."""

import contextlib
import sys
import time
from collections.abc import Iterator


class BootstrapError(Exception):
    """Something is missing that cannot be installed; the text says what."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done and how long it took."""
    say(f'{what} ...')
    begin = time.monotonic()
    yield
    say(f'{what}: {time.monotonic() - begin:.1f} s')
