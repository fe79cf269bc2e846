# SPDX-License-Identifier: Apache-2.0
"""The time that the parts of a cycle take, for reports."""

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
