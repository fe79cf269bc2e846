# SPDX-License-Identifier: Apache-2.0
"""Which of two placements is better?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.objective import Objective
from kronos.engine.settings import Settings
from tests.builders import scopes, spreading
from tests.builders.scopes import policy, vm


def objective(exhaust=False, min_gain=0.0):
    policies = [policy('cpu', 0.5, threshold=0.2), policy('ram', 0.5)]
    snapshot = scopes.scope(
        policies, {'a': [0.8, 0.4], 'b': [0.2, 0.2]}, [vm('v', 'a', [0.1, 0])]
    )
    found = spreading.simulation(snapshot, policies, Settings())
    return Objective(spreading.model(found), 5, exhaust, min_gain)


def value(how, widths, moved=1, overfull=0.0, costs=0.0):
    [found] = how.values(
        0.5 * np.array([widths]),
        np.array([moved]),
        np.array([costs]),
        np.array([overfull]),
    )
    return found


class TestGoal(base.BaseTestCase):
    def test_within_all_thresholds(self):
        """Fewer moves first, then the lower imbalance."""
        how = objective()
        few = value(how, [0.2, 0.1], 1)
        self.assertLess(few, 0.0)
        self.assertLess(few, value(how, [0.1, 0.1], 2))
        self.assertLess(value(how, [0.1, 0.1], 1), few)
        self.assertLess(value(how, [0.2, 0.1], 5), value(how, [0.21, 0.1], 1))

    def test_nearer_to_the_thresholds(self):
        """What is within already counts little."""
        how = objective()
        self.assertLess(value(how, [0.3, 0.1]), value(how, [0.35, 0.0]))

    def test_exhaust(self):
        how = objective(exhaust=True)
        self.assertAlmostEqual(0.15, value(how, [0.2, 0.1]))
        self.assertLess(value(how, [0.1, 0.1], 5), value(how, [0.2, 0.1], 1))

    def test_an_objection_costs_more_than_all_gains(self):
        """The second policy began at 0.2, which is above its threshold."""
        how = objective(exhaust=True)
        self.assertGreater(value(how, [0.0, 0.3]), value(how, [0.6, 0.2]))

    def test_too_full(self):
        how = objective()
        self.assertGreater(value(how, [0.1, 0.1], overfull=0.5), 0.5)

    def test_what_memory_must_buy(self):
        """Where thresholds are reached it only tells equal plans apart."""
        how = objective(exhaust=True)
        cheap = value(how, [0.2, 0.1], costs=0.01)
        self.assertLess(cheap, value(how, [0.19, 0.1], costs=0.02))
        self.assertLess(value(how, [0.1, 0.1], costs=0.02), cheap)
        how = objective()
        cheap = value(how, [0.2, 0.1], costs=0.01)
        self.assertLess(cheap, value(how, [0.2, 0.1], costs=0.02))
        self.assertLess(cheap, value(how, [0.1, 0.1], moved=2))
        self.assertLess(value(how, [0.2, 0.1], costs=9.0), 0.0)

    def test_what_a_move_must_buy(self):
        how = objective(exhaust=True, min_gain=0.01)
        self.assertLess(value(how, [0.2, 0.1], 1), value(how, [0.19, 0.1], 2))
        self.assertLess(value(how, [0.1, 0.1], 2), value(how, [0.2, 0.1], 1))
