# SPDX-License-Identifier: Apache-2.0
"""The proof that no plan has more slots: prices, and the bound they give.

Whoever has the prices can compute the bound again without any solver: it is
the price of all migrations, and of each host the best column. It holds for
any order of the moves, and whatever else forbids some of them.
"""

from dataclasses import dataclass

from kronos.extensions.room.planning import columns, ordering
from kronos.extensions.room.planning.cluster import Cluster, HostClasses
from kronos.extensions.room.planning.columns import Prices
from kronos.extensions.room.planning.dynamic import DynamicPricing
from kronos.extensions.room.planning.programs import whole


@dataclass(frozen=True)
class Proof:
    """No plan of so many migrations has more slots at its end."""

    moves: int
    most: int
    """Slots, those of now included."""
    prices: Prices | None = None
    """None: the sum of free capacity is the bound, or no server can move."""

    def holds(self, cluster: Cluster) -> bool:
        """Whether it is proven, computed again without a solver."""
        if self.prices is not None:
            return slots(cluster, self.moves, self.prices) <= self.most
        if self.moves and ordering.any_move(cluster):
            return cluster.by_sum() <= self.most
        return int(cluster.slot_counts(cluster.free).sum()) <= self.most


def slots(cluster: Cluster, moves: int, prices: Prices) -> int:
    """The slots that no plan exceeds, those of now included."""
    classes = HostClasses.of(cluster)
    values = DynamicPricing(cluster, classes).values(prices)
    limit = columns.bound(classes, values, moves * prices.move)
    return int(cluster.slot_counts(cluster.free).sum()) + whole(limit)
