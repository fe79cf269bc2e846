# SPDX-License-Identifier: Apache-2.0
"""Are hosts alike in one class, and rules no amounts?"""

import numpy as np
from oslotest import base

from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.counts import SlotTarget
from kronos.extensions.room.planning.market import goods
from kronos.extensions.room.planning.market.goods import Prices, Trade


def cluster() -> Cluster:
    """CPUs, a rule that is open on two hosts, and another for slots."""
    return Cluster(
        ('a', 'b', 'c'),
        np.array(
            [
                [4, 10**6, 10**6],
                [4, 10**6, 10**6],
                [-2, -(10**6), 0],
            ],
            dtype=np.intp,
        ),
        (Way(0, (2, 1, 0), 512),),
        ((4, 0, 1),),
        {(0, 0): ('x',), (1, 0): ('y',)},
    )


class TestMarket(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.market = goods.of(cluster(), [SlotTarget((4, 0, 1), 2)])

    def test_classes(self) -> None:
        market = self.market
        self.assertEqual([1, 2], sorted(market.sizes.tolist()))
        self.assertEqual(market.class_of[0], market.class_of[1])
        self.assertEqual([[2]], market.demands.tolist())
        closed = market.class_of[2]
        self.assertEqual([False], market.enters[closed].tolist())
        self.assertEqual([False], market.takes[closed].tolist())

    def test_legal(self) -> None:
        opened, closed = self.market.class_of[[0, 2]].tolist()
        for legal, trade in (
            (True, Trade(opened, (0,), (2,), (0,))),
            (True, Trade(opened, (0,), (0,), (1,))),
            (False, Trade(opened, (0,), (1,), (1,))),
            (False, Trade(opened, (2,), (0,), (0,))),
            (False, Trade(closed, (0,), (1,), (0,))),
            (False, Trade(closed, (0,), (0,), (1,))),
            (True, Trade(closed, (0,), (0,), (0,))),
        ):
            self.assertIs(legal, self.market.is_legal(trade), trade)

    def test_prices_between(self) -> None:
        low = Prices(np.zeros(1), 0.0, np.zeros(1))
        high = Prices(np.ones(1), 2.0, np.ones(1))
        between = high.between(low, 0.25)
        self.assertEqual(0.5, between.move)
        self.assertEqual([0.25], between.kinds.tolist())
