# SPDX-License-Identifier: Apache-2.0
"""Do prices and columns end where the bound and the mixture agree?"""

from oslotest import base

from kronos.extensions.room.planning import generation
from kronos.extensions.room.planning.cluster import Cluster, HostClasses
from kronos.extensions.room.planning.dynamic import DynamicPricing
from kronos.extensions.room.planning.generation import Generated
from tests.unit.extensions.room.planning import small_clusters


def generate(cluster: Cluster, moves: int) -> Generated:
    classes = HostClasses.of(cluster)
    pricing = DynamicPricing(cluster, classes)
    return generation.generate(cluster, classes, pricing, moves)


class TestGenerate(base.BaseTestCase):
    def test_bound_and_mixture(self) -> None:
        for seed in range(4):
            small = small_clusters.generated(seed, 1 + seed % 2)
            generated = generate(small, 6)
            relaxed = generated.pool.relax()
            self.assertLessEqual(relaxed.slots, generated.bound + 1e-6)
            self.assertAlmostEqual(relaxed.slots, generated.bound, delta=0.02)
            self.assertLess(generated.rounds, generation.ROUNDS)

    def test_more_migrations_never_fewer_slots(self) -> None:
        small = small_clusters.generated(3)
        bounds = [generate(small, moves).bound for moves in (1, 2, 4, 8)]
        self.assertEqual(sorted(bounds), bounds)
        self.assertLess(bounds[0], bounds[-1])

    def test_no_column_is_worth_it(self) -> None:
        """All is full, so no price makes a slot."""
        small = small_clusters.cluster(
            [[0], [0]], {(0, 0): ['a'], (1, 0): ['b']}, [8]
        )
        generated = generate(small, 5)
        self.assertAlmostEqual(0.0, generated.bound)
        self.assertEqual([], generated.pool.columns)
