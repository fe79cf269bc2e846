# SPDX-License-Identifier: Apache-2.0
"""The time that the parts of a cycle take, and may take."""

import contextlib
import time
from collections.abc import Iterator


@contextlib.contextmanager
def timed(timings: dict[str, float], part: str) -> Iterator[None]:
    """Note how long what follows takes.

    :param timings: part to seconds; one is added, unless something is raised
    """
    began = time.monotonic()
    yield
    timings[part] = round(time.monotonic() - began, 6)


class Countdown:
    """The seconds that are left of a limit.

    :param seconds: the limit, from now on
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """In seconds; negative once the limit is over."""
        return self._end - time.monotonic()
