# SPDX-License-Identifier: Apache-2.0
"""Column generation: prices and columns improve each other until both agree.

Each round prices all hosts, adds their best columns, and takes new prices from
the best mixture of columns. Every round also gives a bound that no plan
exceeds, and the lowest is kept with the prices that prove it.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray
from kronos.extensions.room.planning import columns
from kronos.extensions.room.planning.cluster import Cluster, HostClasses
from kronos.extensions.room.planning.columns import Column, Prices
from kronos.extensions.room.planning.programs import Pool, whole

ROUNDS = 200
SMOOTHING = 0.5
"""The share of the best prices so far in those of the next round: prices
that follow the last round alone swing."""
NEAR = 0.02
"""The bound and the mixture have the same whole slots, and differ by less."""


class Pricing(Protocol):
    """What finds the best column of each class."""

    def values(self, prices: Prices) -> FloatArray: ...

    def column(self, host_class: int) -> Column: ...


@dataclass(frozen=True)
class Generated:
    """The columns worth choosing from, and the bound."""

    pool: Pool
    bound: float
    """Slots that no plan adds more than."""
    prices: Prices
    """Which prove it."""
    rounds: int


def generate(
    cluster: Cluster, classes: HostClasses, pricing: Pricing, moves: int
) -> Generated:
    """Price until the bound and the best mixture agree.

    :param moves: migrations allowed, at least 1
    """
    pool = Pool(cluster, classes, moves)
    duals = best = Prices.first(cluster)
    bound, slots, smoothing = math.inf, -math.inf, 0.0
    count = 0
    while count < ROUNDS:
        count += 1
        prices = best.between(duals, smoothing)
        values = pricing.values(prices)
        limit = columns.bound(classes, values, moves * prices.move)
        if limit < bound - EPSILON:
            bound, best = limit, prices
        is_new = [
            pool.add(pricing.column(number))
            for number in np.flatnonzero(values > EPSILON).tolist()
        ]
        if _is_done(bound, slots):
            break
        if not pool.columns:
            # At no price at all something must be worth it, or nothing is.
            if slots == 0.0:
                break
            slots, duals = 0.0, Prices((0.0,) * cluster.kinds, 0.0)
            continue
        if any(is_new):
            smoothing = SMOOTHING
        elif smoothing:
            # These prices hide what the last mixture lacks.
            smoothing = smoothing / 2 if smoothing > 0.1 else 0.0
            continue
        else:
            break
        relaxed = pool.relax()
        slots, duals = relaxed.slots, relaxed.prices
    return Generated(pool, bound, best, count)


def _is_done(bound: float, slots: float) -> bool:
    if slots == -math.inf:
        return False
    return bound - slots < EPSILON or (
        whole(bound) == whole(slots) and bound - slots < NEAR
    )
