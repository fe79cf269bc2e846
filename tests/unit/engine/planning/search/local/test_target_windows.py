# SPDX-License-Identifier: Apache-2.0
"""Does the search for placements in windows find what greed does not?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.goal import Goal
from kronos.engine.planning.search.local.lots import Lots
from kronos.engine.planning.search.local.target_windows import (
    Effort,
    TargetWindows,
)
from kronos.engine.settings import Settings
from tests.builders import scopes, spreading
from tests.builders.scopes import policy, vm

CASES = 12


def search(model, goal, reach=None):
    effort = Effort(8, 30, 3)
    found = TargetWindows(model, goal, effort, Lots(), reach)
    return found.run([model.home])


class TestTargetWindows(base.BaseTestCase):
    def test_opposite_hot_policies(self):
        """Only two moves together lower anything."""
        policies = [policy('cpu', 0.5), policy('ram', 0.5)]
        vms = [
            vm(f'{host}{n}', host, usage)
            for host, usage in (('a', [0.2, 0.05]), ('b', [0.05, 0.2]))
            for n in range(4)
        ]
        hosts = {'a': [0.8, 0.2], 'b': [0.2, 0.8]}
        found = spreading.simulation(
            scopes.scope(policies, hosts, vms), policies, Settings()
        )
        model = spreading.model(found)
        best, *_ = search(model, Goal(model, 4, True, 0.0))
        self.assertAlmostEqual(0.0, best.value)

    def test_values_and_budget(self):
        """The first is the best; all are within the budget."""
        for seed, simulation, _ in spreading.by_lot(CASES):
            model = spreading.model(simulation)
            found = search(model, Goal(model, 3, True, 0.0))
            values = [one.value for one in found]
            self.assertEqual(sorted(values), values, seed)
            for one in found:
                moved = np.not_equal(one.at, model.home)
                self.assertLessEqual(int(moved.sum()), 3)
                rows = np.flatnonzero(moved)
                self.assertTrue(model.allowed[rows, one.at[rows]].all())

    def test_the_same_again(self):
        for _, simulation, _ in spreading.by_lot(CASES):
            model = spreading.model(simulation)
            one, other = (
                [
                    (found.value, found.at.tolist())
                    for found in search(model, Goal(model, 3, False, 0.0))
                ]
                for _ in range(2)
            )
            self.assertEqual(one, other)

    def test_what_cannot_be_reached(self):
        """It counts as what can be."""
        for _, simulation, _ in spreading.by_lot(CASES):
            model = spreading.model(simulation)
            goal = Goal(model, 3, True, 0.0)
            best, *_ = search(model, goal, lambda at: 9.0)
            high = simulation.utilization.combined()
            self.assertGreater(best.value, high - 1e-9)
