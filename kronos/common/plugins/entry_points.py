# SPDX-License-Identifier: Apache-2.0
"""The entry points of all packages that are installed."""

import functools
import sys
from importlib import metadata
from typing import Any


def of_group(group: str) -> metadata.EntryPoints:
    """Those of a group."""
    points: metadata.EntryPoints = _every(tuple(sys.path)).select(group=group)
    return points


@functools.cache
def _every(_: tuple[str, ...]) -> Any:
    """Read once, as long as packages are at the same places."""
    return metadata.entry_points()
