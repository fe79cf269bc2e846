# SPDX-License-Identifier: Apache-2.0
"""Is the best trade of a host the best of all trades that it can make?"""

import itertools
from unittest import mock

import numpy as np
from oslotest import base

from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.counts import SlotTarget
from kronos.extensions.room.planning.market import goods, grids
from kronos.extensions.room.planning.market.goods import Market, Prices, Trade
from kronos.extensions.room.planning.market.grids import Grids


def market(*free: tuple[int, int], weight: float = 1.0) -> Market:
    """Servers of 2 CPUs and 4 GiB, and of 3 CPUs and 2 GiB.

    :param weight: of a move of the latter
    """
    servers = {
        (host, way): tuple(f'vm{host}{way}{n}' for n in range(1 + host))
        for host in range(len(free))
        for way in range(2)
    }
    cluster = Cluster(
        tuple(f'cmp{host}' for host in range(len(free))),
        np.array(free, dtype=np.intp),
        (Way(0, (2, 4)), Way(1, (3, 2))),
        ((5, 6),),
        servers,
    )
    return goods.of(cluster, [SlotTarget((5, 6))], np.array([1.0, weight]))


def worth(goods_: Market, trade: Trade, prices: Prices) -> float:
    outs, ins = np.array(trade.outs), np.array(trade.ins)
    return float(
        np.array(trade.slots) @ prices.slots
        - outs @ (prices.kinds + prices.move * goods_.weights)
        + ins @ prices.kinds
    )


def best(goods_: Market, place: int, prices: Prices) -> float:
    """By looking at all trades."""
    counts = [range(n + 1) for n in goods_.counts[place].tolist()]
    return max(
        worth(goods_, trade, prices)
        for outs in itertools.product(*counts)
        for ins in itertools.product(range(6), repeat=2)
        for slots in range(4)
        if goods_.is_legal(trade := Trade(place, outs, ins, (slots,)))
    )


class TestGrids(base.BaseTestCase):
    def prices(self) -> list[Prices]:
        return [
            Prices(np.array(kinds), move, np.array([1.0]))
            for kinds in ((0.3, 0.4), (0.45, 0.1), (0.0, 0.0))
            for move in (0.0, 0.25)
        ]

    def test_best_of_all(self) -> None:
        positive = sum(self.check_best(weight) for weight in (1.0, 2.0))
        self.assertGreater(positive, 12)

    def check_best(self, weight: float) -> int:
        """:returns: how many trades are worth something"""
        positive = 0
        scope = market((1, 3), (4, 4), (-1, 5), weight=weight)
        table = Grids(scope)
        for prices in self.prices():
            values = table.values(prices)
            for place in range(len(scope.sizes)):
                expected = best(scope, place, prices)
                self.assertAlmostEqual(expected, values[place])
                trade = table.trade(place)
                if trade is None:
                    self.assertAlmostEqual(0.0, expected)
                    continue
                positive += 1
                self.assertTrue(scope.is_legal(trade))
                self.assertAlmostEqual(expected, worth(scope, trade, prices))
        return positive

    def test_coarse_values_are_not_too_low(self) -> None:
        scope = market((1, 3), (4, 4))
        with mock.patch.object(grids, 'POINTS', 20):
            coarse = Grids(scope)
        for prices in self.prices():
            values = coarse.values(prices)
            for place in range(len(scope.sizes)):
                least = best(scope, place, prices)
                self.assertLessEqual(least, values[place] + 1e-9)
                trade = coarse.trade(place)
                self.assertTrue(trade is None or scope.is_legal(trade))
