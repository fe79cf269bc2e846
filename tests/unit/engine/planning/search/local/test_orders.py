# SPDX-License-Identifier: Apache-2.0
"""Is what is said to be reached what legal moves reach?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.objective import Objective
from kronos.engine.planning.search.local.orders import Orders
from kronos.engine.planning.search.local.random_numbers import RandomNumbers
from kronos.engine.settings import SwapMoves
from tests.builders import spreading

CASES = 150
MOVES = 4


def reachable(simulation, moves):
    """The lowest combined imbalance that single legal moves lead to."""
    best = simulation.utilization.combined()
    for instance, host in moves:
        if simulation.constraints.why_not(instance, host):
            continue
        one, to = np.array([instance]), np.array([host])
        source = simulation.placement.host_of[one]
        after = simulation.utilization.scores_after(one, source, to)
        _, objected = simulation.utilization.judge(source, to, *after)
        if objected[0]:
            continue
        simulation.move(instance, host)
        others = [move for move in moves if move[0] != instance]
        best = min(best, reachable(simulation, others))
        simulation.take_back()
    return best


class TestOrders(base.BaseTestCase):
    def test_all_that_is_reachable(self):
        """Every order of some moves is tried on the simulation itself."""
        partly = 0
        for seed, simulation, _ in spreading.by_lot(CASES):
            model, rng = spreading.model(simulation), RandomNumbers(seed)
            at = model.home.copy()
            some = np.argsort(rng.draw(len(at)))[:MOVES]
            for one, lot in zip(some, rng.draw(len(some)), strict=True):
                may = np.flatnonzero(model.allowed[one])
                at[one] = may[int(lot * len(may))]
            moved = np.flatnonzero(at != model.home)
            objective = Objective(model, MOVES, True, 0.0)
            found = Orders(model, objective, at, SwapMoves.NONE)
            moves = [
                (int(model.instances[one]), int(model.hosts[at[one]]))
                for one in moved.tolist()
            ]
            lowest = reachable(simulation, moves)
            self.assertAlmostEqual(lowest, found.value, 9, str(seed))
            numbers = [one for unit in found.way() for one in unit]
            self.assertEqual(sorted({*numbers}), sorted(numbers))
            partly += 0 < len(numbers) < len(moves)
        self.assertGreater(partly, 10)

    def test_swaps(self):
        """More is reached by them, and most if all are allowed."""
        more = 0
        for _, simulation, _ in spreading.by_lot(CASES):
            model = spreading.model(simulation)
            if len(model.home) < 2 or len(model.hosts) < 2:
                continue
            other = np.flatnonzero(model.home != model.home[0])[:1]
            if not other.size:
                continue
            at = model.home.copy()
            at[0], at[other] = model.home[other[0]], model.home[0]
            objective = Objective(model, 2, True, 0.0)
            none, safe, every = (
                Orders(model, objective, at, one).value for one in SwapMoves
            )
            self.assertLessEqual(safe, none)
            self.assertLessEqual(every, safe)
            more += every < none - 1e-9
        self.assertGreater(more, 3)
