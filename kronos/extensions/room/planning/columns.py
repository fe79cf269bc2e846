# SPDX-License-Identifier: Apache-2.0
"""Columns: what leaves and enters one host, and the prices they are judged by.

The plan of a whole cluster is one column a host. Prices value a column without
looking at the other hosts: each kind has a price at which servers change
hands, and a migration costs something, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import FloatArray, IntArray
from kronos.extensions.room.planning.cluster import Cluster, HostClasses

Amounts = tuple[int, ...]


@dataclass(frozen=True)
class Prices:
    """In slots."""

    kinds: tuple[float, ...]
    """Of a server, by kind; at least 0."""
    move: float
    """Of a migration; at least 0."""

    @classmethod
    def first(cls, cluster: Cluster) -> 'Prices':
        """By size: nothing better is known before the first round."""
        slot = np.array(cluster.slots[0], dtype=float)
        required = slot.reshape(cluster.nodes, -1).sum(axis=0)
        kinds = [0.0] * cluster.kinds
        for way in cluster.ways:
            demand = np.array(way.demand, dtype=float)
            amounts = demand.reshape(cluster.nodes, -1).sum(axis=0)
            ratio = (amounts[required > 0] / required[required > 0]).max()
            kinds[way.kind] = max(kinds[way.kind], 0.6 * float(ratio))
        return cls(tuple(kinds), 0.2)

    def between(self, other: 'Prices', share: float) -> 'Prices':
        """A share of these, and the rest of the others."""
        rest = 1.0 - share
        return Prices(
            tuple(
                share * mine + rest * theirs
                for mine, theirs in zip(self.kinds, other.kinds, strict=True)
            ),
            share * self.move + rest * other.move,
        )

    def of_ways(self, cluster: Cluster) -> FloatArray:
        """The price of a server by way, [ways]."""
        return np.array([self.kinds[way.kind] for way in cluster.ways])


@dataclass(frozen=True)
class Column:
    """What leaves and enters a host of a class."""

    host_class: int
    outs: Amounts
    """By way."""
    ins: Amounts
    """By way."""


def gain(cluster: Cluster, free: IntArray, column: Column) -> int:
    """How many slots a column adds to a host; may be negative.

    :param free: [resources], of the host
    """
    net = np.array(column.outs) - np.array(column.ins)
    after = free + net @ cluster.demands
    return int(cluster.slot_counts(after) - cluster.slot_counts(free))


def by_kind(cluster: Cluster, amounts: Sequence[int]) -> IntArray:
    """Amounts by way, summed by kind: [kinds]."""
    sums = np.zeros(cluster.kinds, dtype=np.intp)
    for way, amount in zip(cluster.ways, amounts, strict=True):
        sums[way.kind] += amount
    return sums


def bound(classes: HostClasses, values: FloatArray, spent: float) -> float:
    """What no plan exceeds, whatever the prices: Lagrange's bound.

    :param values: the best column of each class at these prices, [classes]
    :param spent: what all migrations together cost at these prices
    """
    return spent + float(classes.sizes @ np.maximum(values, 0.0))
