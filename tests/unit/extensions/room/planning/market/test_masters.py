# SPDX-License-Identifier: Apache-2.0
"""Are the best trades chosen, and is a mixture no worse?"""

from unittest import mock

from oslotest import base

from kronos.extensions.room.planning import highs
from kronos.extensions.room.planning.market import masters
from kronos.extensions.room.planning.market.goods import Trade
from kronos.extensions.room.planning.market.masters import Aim, Master
from tests.unit.extensions.room.planning.market import test_grids

NONE = (0, 0)


class TestMaster(base.BaseTestCase):
    def master(self, aim: Aim, moves: float = 9) -> Master:
        market = test_grids.market((1, 3), (4, 4))
        master = Master(market, aim, moves)
        first, second = market.class_of.tolist()
        for trade in (
            Trade(second, (1, 0), NONE, (1,)),
            Trade(second, (0, 2), NONE, (1,)),
            Trade(first, NONE, (1, 0), (0,)),
        ):
            self.assertTrue(master.add(trade))
            self.assertFalse(master.add(trade))
        return master

    def test_most(self) -> None:
        master = self.master(Aim.MOST)
        self.assertEqual([0, 2], master.chosen(1))
        self.assertAlmostEqual(1.0, master.mixed().value)
        self.assertAlmostEqual(0.5, self.master(Aim.MOST, 0.5).mixed().value)

    def test_cuts(self) -> None:
        master = self.master(Aim.MOST)
        self.assertEqual([], master.chosen(1, [[0, 2]]))

    def test_fewest(self) -> None:
        """None is wanted, so none moves; with one wanted, it is missing."""
        master = self.master(Aim.FEWEST)
        self.assertEqual([], master.chosen(0))
        self.assertAlmostEqual(0.0, master.mixed().value)
        master.market.numbers[:] = 1
        self.assertEqual([0, 2], master.chosen(0))
        self.assertAlmostEqual(1.0, master.mixed().value)
        master.market.numbers[:] = 3
        self.assertIsNone(master.chosen(0))
        self.assertGreater(master.mixed().value, masters.MISSING)

    def test_possible(self) -> None:
        master = self.master(Aim.POSSIBLE)
        master.market.numbers[:] = 3
        mixture = master.mixed()
        self.assertAlmostEqual(2.0, mixture.value)
        self.assertEqual(0.0, mixture.prices.move)

    def test_without_scipy(self) -> None:
        master = self.master(Aim.MOST)
        with mock.patch.object(highs, 'solver', return_value=None):
            self.assertRaises(RuntimeError, master.mixed)
