# SPDX-License-Identifier: Apache-2.0
"""Are the columns returned that lose little, and no others?"""

from oslotest import base

from kronos.extensions.room.planning import nearby
from kronos.extensions.room.planning.cluster import HostClasses
from kronos.extensions.room.planning.columns import Column, Prices
from tests.unit.extensions.room.planning import small_clusters

PRICES = Prices((0.3,), 0.1)


class TestColumns(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.small = small_clusters.cluster(
            [[10], [4]], {(0, 0): ['a', 'b'], (1, 0): ['c']}, [6]
        )
        self.classes = HostClasses.of(self.small)

    def columns(self, loss: float) -> list[Column]:
        return nearby.columns(self.small, self.classes, PRICES, loss)

    def test_best(self) -> None:
        """One leaves for a slot; on the fuller host nothing is worth it."""
        self.assertEqual([Column(1, (1,), (0,))], self.columns(0.0))

    def test_more(self) -> None:
        self.assertEqual(
            [
                Column(1, (1,), (0,)),
                Column(1, (0,), (1,)),
                Column(0, (1,), (0,)),
                Column(1, (2,), (0,)),
            ],
            self.columns(0.45),
        )

    def test_choices(self) -> None:
        self.assertEqual(
            [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]],
            nearby.choices(2, 2).tolist(),
        )
