# SPDX-License-Identifier: Apache-2.0
"""Columns that a better plan may need although none of their hosts has better.

The rounds add the best column of each host. If no choice of them reaches the
bound, a plan that does is made of columns that are hardly worse: those that
cost less, against the best of their host, than the bound is above the plan.
"""

import itertools

import numpy as np

from kronos.engine.arrays import EPSILON, IntArray
from kronos.extensions.room.planning.cluster import Cluster, HostClasses
from kronos.extensions.room.planning.columns import Column, Prices

SERVERS = 3
"""At most so many leave a host, and as many enter it."""
COLUMNS = 3_000
"""So many are returned, the best ones."""
DIGITS = 9
"""Losses that differ by less are equal."""


def columns(
    cluster: Cluster, classes: HostClasses, prices: Prices, loss: float
) -> list[Column]:
    """The columns of all classes that lose no more.

    :param loss: slots, against the best column of the same class
    """
    rows = choices(len(cluster.ways), SERVERS)
    ranked: list[tuple[float, Column]] = []
    for host_class in range(len(classes.sizes)):
        priced = _of_class(cluster, classes, prices, rows, host_class)
        best = max([0.0, *(value for value, _ in priced)])
        ranked += [
            (round(best - value, DIGITS), column)
            for value, column in priced
            if best - value <= loss + EPSILON
        ]
    ranked.sort(key=lambda pair: (pair[0], pair[1].host_class, pair[1].outs))
    return [column for _, column in ranked[:COLUMNS]]


def choices(ways: int, most: int) -> IntArray:
    """All choices of up to so many servers by way, [rows, ways]."""
    rows = [
        [choice.count(way) for way in range(ways)]
        for number in range(most + 1)
        for choice in itertools.combinations_with_replacement(
            range(ways), number
        )
    ]
    return np.array(rows, dtype=np.intp).reshape(len(rows), ways)


def _of_class(
    cluster: Cluster,
    classes: HostClasses,
    prices: Prices,
    rows: IntArray,
    host_class: int,
) -> list[tuple[float, Column]]:
    free = classes.free[host_class]
    counts = classes.counts[host_class]
    worth = prices.of_ways(cluster)
    demands = rows @ cluster.demands
    base = int(cluster.slot_counts(free))
    incomes = rows @ worth
    priced = []
    for outs in rows[(rows <= counts).all(axis=1)]:
        after = free + outs @ cluster.demands - demands
        # What leaves and enters in the same way stays.
        legal = ((after >= 0) | (demands == 0)).all(axis=1)
        legal &= ~((rows > 0) & (outs > 0)).any(axis=1)
        legal &= (rows.any(axis=1)) | bool(outs.any())
        gains = cluster.slot_counts(after) - base
        cost = float(outs @ (worth + prices.move))
        leaving = tuple(outs.tolist())
        priced += [
            (
                float(gains[row] + incomes[row]) - cost,
                Column(host_class, leaving, tuple(rows[row].tolist())),
            )
            for row in np.flatnonzero(legal).tolist()
        ]
    return priced
