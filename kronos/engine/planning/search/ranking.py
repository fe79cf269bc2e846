# SPDX-License-Identifier: Apache-2.0
"""The ranking of moves: which of several legal ones is taken.

Every search ranks here, so that equals are ordered in one way: by how far
the combined imbalance falls, then by how far the variance falls, then by
memory, and last by the names. Values are equal within a billionth.
"""

from collections.abc import Callable

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.settings import TieBreak

MIB_PER_GIB = 1024
MIB_PER_UNIT = 100 * MIB_PER_GIB
"""The memory that ``cost_weight`` is the price of."""
DECIMALS = 9
"""As many as :data:`~kronos.engine.arrays.EPSILON` has."""


def best(
    gains: FloatArray,
    variance_drops: Callable[[IntArray], FloatArray],
    memory_mb: IntArray,
    instances: IntArray,
    hosts: IntArray,
    tie_break: TieBreak = TieBreak.VARIANCE,
) -> int:
    """Which of N moves is the best; N is at least 1.

    :param gains: [N], how far the combined imbalance falls, less penalties
    :param variance_drops: how far the variance falls by some of them, given
        their positions; it is asked about equals only
    :param memory_mb: [N], in MiB
    :param instances: [N], in the order of their uuids
    :param hosts: [N], destinations in the order of their names
    :returns: its position
    """
    ties = equals(gains)
    if tie_break is not TieBreak.FIRST:
        if len(ties) > 1:
            drops = variance_drops(ties)
            if tie_break is TieBreak.VARIANCE_PER_GIB:
                drops = per_gib(drops, memory_mb[ties])
            ties = ties[equals(drops)]
        memory = memory_mb[ties]
        ties = ties[memory == memory.min()]
    return int(ties[np.lexsort((hosts[ties], instances[ties]))[0]])


def equals(values: FloatArray) -> IntArray:
    """The positions of the largest value and of its equals, if any."""
    if not len(values):
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(values >= values.max() - EPSILON)


def per_gib(values: FloatArray, memory_mb: IntArray) -> FloatArray:
    """Values in terms of the memory that a move copies."""
    return values / (np.maximum(memory_mb, 1) / MIB_PER_GIB)


def costs(memory_mb: IntArray, cost_weight: float) -> FloatArray:
    """What moves cost for the memory that they copy, in combined imbalance."""
    return cost_weight * memory_mb / MIB_PER_UNIT


def rounded(values: FloatArray) -> FloatArray:
    """Values to sort by: those within a billionth become equal."""
    return np.round(values, DECIMALS)


def order(
    gains: FloatArray,
    variance_drops: FloatArray,
    memory_mb: IntArray,
    instances: IntArray,
    others: IntArray,
) -> IntArray:
    """The positions of all exchanges, the best first; all [N].

    :param memory_mb: of both instances
    :param others: the instances that come in exchange
    """
    return np.lexsort(
        (
            others,
            instances,
            memory_mb,
            -rounded(variance_drops),
            -rounded(gains),
        )
    )
