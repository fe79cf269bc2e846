# SPDX-License-Identifier: Apache-2.0
"""Are slots counted by host and node, and hosts that are alike found?"""

import numpy as np
from oslotest import base

from kronos.extensions.room.planning.cluster import Cluster, Way
from tests.unit.extensions.room.planning import small_clusters


class TestCluster(base.BaseTestCase):
    def test_slots_of_two_resources(self) -> None:
        """The scarcer one decides."""
        two = Cluster(('a',), np.array([[40, 100]]), (), ((16, 64),), {})
        self.assertEqual([1], two.slot_counts(two.free).tolist())
        self.assertEqual(0, two.kinds)

    def test_slots_by_node(self) -> None:
        free = np.array([[33, 15], [-40, 16]])
        nodes = Cluster(('a', 'b'), free, (), ((16, 0), (0, 16)), {}, 2)
        self.assertEqual([2, 1], nodes.slot_counts(free).tolist())
        self.assertEqual(4, nodes.by_sum())

    def test_sum_of_the_scarcer_resource(self) -> None:
        free = np.array([[8, 100], [8, 20]])
        two = Cluster(('a', 'b'), free, (), ((4, 40),), {})
        self.assertEqual([2, 0], two.slot_counts(free).tolist())
        self.assertEqual(3, two.by_sum())

    def test_counts(self) -> None:
        small = small_clusters.cluster(
            [[4], [2]], {(0, 1): ['x', 'y'], (1, 0): ['z']}, [2, 4]
        )
        self.assertEqual([[0, 2], [1, 0]], small.counts().tolist())
        self.assertEqual([[2], [4]], small.demands.tolist())
        self.assertEqual(2, small.kinds)
        self.assertEqual(Way(1, (4,), 4096), small.ways[1])
