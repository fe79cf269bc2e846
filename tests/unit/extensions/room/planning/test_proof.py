# SPDX-License-Identifier: Apache-2.0
"""Can a proof be checked without a solver, and is a wrong one refused?"""

import dataclasses
from unittest import mock

from oslotest import base

from kronos.extensions.room.planning import method, programs, proof
from kronos.extensions.room.planning.columns import Prices
from kronos.extensions.room.planning.proof import Proof
from tests.unit.extensions.room.planning import small_clusters


class TestProof(base.BaseTestCase):
    def test_holds(self) -> None:
        small = small_clusters.generated(1)
        plan = method.most_slots(small, 5)
        assert plan.proof is not None and plan.proof.prices is not None
        with mock.patch.object(programs, 'solver', return_value=None):
            self.assertTrue(plan.proof.holds(small))
            lower = dataclasses.replace(plan.proof, most=plan.proof.most - 1)
            self.assertFalse(lower.holds(small))
        cheaper = Prices(
            tuple(price / 9 for price in plan.proof.prices.kinds),
            plan.proof.prices.move,
        )
        wrong = dataclasses.replace(plan.proof, prices=cheaper)
        self.assertFalse(wrong.holds(small))

    def test_any_prices_are_a_bound(self) -> None:
        for seed in range(4):
            small = small_clusters.generated(seed)
            best = small_clusters.most_by_counts(small, 4)
            for move in (0.0, 0.2, 1.0):
                prices = Prices((0.1,) * small.kinds, move)
                self.assertLessEqual(best, proof.slots(small, 4, prices))

    def test_without_prices(self) -> None:
        """The sum of free capacity is a bound by itself."""
        small = small_clusters.generated(1)
        self.assertTrue(Proof(4, small.by_sum()).holds(small))
        self.assertFalse(Proof(4, small.by_sum() - 1).holds(small))
