# SPDX-License-Identifier: Apache-2.0
"""Are columns valued by what they add to a host?"""

import numpy as np
from oslotest import base

from kronos.extensions.room.planning import columns
from kronos.extensions.room.planning.cluster import HostClasses
from kronos.extensions.room.planning.columns import Column, Prices
from tests.unit.extensions.room.planning import small_clusters

SERVERS = {(0, 0): ['a'], (0, 1): ['b'], (1, 0): ['c']}


class TestColumns(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.small = small_clusters.cluster([[12], [20]], SERVERS, [4, 8])

    def test_gain(self) -> None:
        for column, gain in (
            (Column(0, (1, 0), (0, 0)), 1),
            (Column(0, (1, 1), (1, 0)), 1),
            (Column(0, (1, 0), (0, 1)), 0),
        ):
            free = np.array([12])
            self.assertEqual(gain, columns.gain(self.small, free, column))
        loses = Column(1, (0, 0), (0, 1))
        self.assertEqual(-1, columns.gain(self.small, np.array([20]), loses))

    def test_first_prices(self) -> None:
        """By size, against a slot's."""
        prices = Prices.first(self.small)
        self.assertEqual((0.6 * 4 / 16, 0.6 * 8 / 16), prices.kinds)
        self.assertEqual([*prices.kinds], [*prices.of_ways(self.small)])

    def test_between(self) -> None:
        between = Prices((1.0, 0.0), 0.5).between(Prices((0.0, 2.0), 0.1), 0.5)
        self.assertEqual((0.5, 1.0), between.kinds)
        self.assertAlmostEqual(0.3, between.move)

    def test_by_kind(self) -> None:
        nodes = small_clusters.generated(1, 2)
        amounts = range(len(nodes.ways))
        sums = columns.by_kind(nodes, amounts)
        self.assertEqual(sum(amounts), sums.sum())
        self.assertEqual(0 + 1, sums[0])

    def test_bound(self) -> None:
        """Classes whose best column is worth nothing stay as they are."""
        classes = HostClasses.of(self.small)
        values = np.array([-1.0, 0.75])
        self.assertEqual(2.75, columns.bound(classes, values, 2.0))
