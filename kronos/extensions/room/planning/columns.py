# SPDX-License-Identifier: Apache-2.0
"""Columns: what leaves and enters one host.

The plan of a whole cluster is one column a host.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import IntArray

Amounts = tuple[int, ...]


@dataclass(frozen=True)
class Column:
    """Servers that leave a host, and that enter it."""

    outs: Amounts
    """By way."""
    ins: Amounts
    """By way."""


def choices(ways: int, most: int) -> IntArray:
    """All choices of up to so many servers by way, [choices, ways]."""
    rows = [
        [choice.count(way) for way in range(ways)]
        for number in range(most + 1)
        for choice in itertools.combinations_with_replacement(
            range(ways), number
        )
    ]
    return np.array(rows, dtype=np.intp).reshape(len(rows), ways)
