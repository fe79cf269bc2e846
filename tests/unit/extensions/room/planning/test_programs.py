# SPDX-License-Identifier: Apache-2.0
"""Do the programs choose whole columns, and price what they mix?"""

import sys
from unittest import mock

from oslotest import base

from kronos.extensions.room.planning import programs
from kronos.extensions.room.planning.cluster import HostClasses
from kronos.extensions.room.planning.columns import Column
from kronos.extensions.room.planning.programs import Pool
from tests.unit.extensions.room.planning import small_clusters

SERVERS = {(0, 0): ['a', 'b'], (1, 0): ['c'], (2, 0): ['d']}
FREE = [[8], [12], [4]]
FULL, NEAR, EMPTY = 0, 2, 1
"""Classes: sorted by what is free."""


class TestPool(base.BaseTestCase):
    def pool(self, moves: int) -> Pool:
        small = small_clusters.cluster(FREE, SERVERS, [4])
        pool = Pool(small, HostClasses.of(small), moves)
        for column in (
            Column(FULL, (0,), (1,)),
            Column(EMPTY, (2,), (0,)),
            Column(NEAR, (1,), (0,)),
        ):
            self.assertTrue(pool.add(column))
        return pool

    def test_figures(self) -> None:
        pool = self.pool(5)
        self.assertEqual([0, 1, 1], pool.gains)
        self.assertEqual([0, 2, 1], pool.outs)
        self.assertEqual([0, 8192, 4096], pool.memory_mb)
        self.assertFalse(pool.add(Column(NEAR, (1,), (0,))))

    def test_choose(self) -> None:
        """Only one server has a place to go to."""
        self.assertEqual([0, 2], self.pool(5).choose(2))

    def test_no_migrations_left(self) -> None:
        self.assertEqual([], self.pool(0).choose(2))

    def test_cut(self) -> None:
        pool = self.pool(5)
        self.assertEqual([], pool.choose(2, [[2]]))
        pool.add(Column(FULL, (1,), (2,)))
        self.assertEqual([0, 2], pool.choose(2, [[1]]))

    def test_relax(self) -> None:
        """Half of what needs two is as good as all of what needs one."""
        relaxed = self.pool(5).relax()
        self.assertAlmostEqual(1.0, relaxed.slots)
        self.assertAlmostEqual(0.0, relaxed.prices.move)
        self.assertGreater(relaxed.prices.kinds[0], 0.0)


class TestSolver(base.BaseTestCase):
    def test_not_installed(self) -> None:
        with mock.patch.dict(sys.modules, {'scipy': None}):
            self.assertIsNone(programs.solver())
        self.assertIsNotNone(programs.solver())

    def test_whole(self) -> None:
        self.assertEqual(3, programs.whole(2.9999999))
        self.assertEqual(2, programs.whole(2.99))
