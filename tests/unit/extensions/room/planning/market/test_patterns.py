# SPDX-License-Identifier: Apache-2.0
"""Are trades of few servers legal, and the best of their kind?"""

from unittest import mock

import numpy as np
from oslotest import base

from kronos.extensions.room.planning.market import patterns
from kronos.extensions.room.planning.market.goods import Prices
from kronos.extensions.room.planning.market.grids import Grids
from kronos.extensions.room.planning.market.patterns import INS, OUTS, Patterns
from tests.unit.extensions.room.planning.market import test_grids

PRICES = Prices(np.array([0.4, 0.35]), 0.1, np.array([1.0]))


class TestPatterns(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.market = test_grids.market((1, 3), (4, 4), (-1, 5), (2, 2))
        self.patterns = Patterns(self.market)

    def test_best(self) -> None:
        values, trades = self.patterns.best(PRICES)
        limits = Grids(self.market).values(PRICES)
        self.assertTrue((values <= limits + 1e-9).all())
        self.assertTrue(trades)
        for trade in trades:
            self.assertTrue(self.market.is_legal(trade))
            self.assertLessEqual(sum(trade.outs), OUTS)
            self.assertLessEqual(sum(trade.ins), INS)
            self.assertAlmostEqual(
                values[trade.host_class],
                test_grids.worth(self.market, trade, PRICES),
            )

    def test_near(self) -> None:
        values, trades = self.patterns.best(PRICES)
        near = self.patterns.near(PRICES, 0.3, 50, values)
        self.assertGreater(len(near), len(trades))
        self.assertLessEqual(len(near), 50)
        lost = []
        for trade in near:
            self.assertTrue(self.market.is_legal(trade))
            worth = test_grids.worth(self.market, trade, PRICES)
            lost.append(values[trade.host_class] - worth)
        self.assertLessEqual(max(lost), 0.3 + 1e-6)
        self.assertEqual(1, len(self.patterns.near(PRICES, 0.3, 1, values)))

    def test_near_in_parts(self) -> None:
        """Many rows take little memory, and give the same trades."""
        values, _ = self.patterns.best(PRICES)
        for most in (1, 5, 50):
            near = self.patterns.near(PRICES, 0.5, most, values)
            for cells in (1, 7, 40):
                with mock.patch.object(patterns, 'CELLS', cells):
                    parts = self.patterns.near(PRICES, 0.5, most, values)
                self.assertEqual(near, parts)
