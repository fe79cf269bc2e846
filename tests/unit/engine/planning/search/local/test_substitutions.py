# SPDX-License-Identifier: Apache-2.0
"""Is a move replaced by a better one where there is one?"""

import itertools
import math

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.batch import Batch
from kronos.engine.planning.search.local.goal import Goal
from kronos.engine.planning.search.local.lots import Lots
from kronos.engine.planning.search.local.substitutions import substituted
from kronos.engine.planning.search.local.target_windows import Effort
from kronos.engine.planning.search.local.wide_windows import WideWindows
from kronos.engine.settings import Settings
from tests.builders import scopes, spreading
from tests.builders.scopes import policy, vm

CASES = 24
BUDGET = 4
PASSES = 50
NEAR = 1e-7


def value(model, goal, at):
    """What a placement is worth; inf if a rule forbids it."""
    batch = Batch(model, 1, tables=False)
    which = np.zeros(1, dtype=np.intp)
    for one in np.flatnonzero(at != model.home).tolist():
        if not model.allowed[one, at[one]]:
            return math.inf
        batch.move(which, np.array([one]), at[[one]])
    # Of a group that shares a host already no more may come.
    here = batch.there[0] > np.maximum(model.most[:, None], model.there)
    if here.any() or batch.overfull()[0] > NEAR:
        return math.inf
    high, low = batch.extremes()
    return float(
        goal.values(high - low, batch.moved, batch.costs(), batch.overfull())[
            0
        ]
    )


def others(model, at):
    """Placements in which one move is another one."""
    for one in np.flatnonzero(at != model.home).tolist():
        back = at.copy()
        back[one] = model.home[one]
        yield back
        for other, host in itertools.product(
            np.flatnonzero(back == model.home).tolist(),
            range(len(model.hosts)),
        ):
            if model.home[other] == model.home[one] or host == at[one]:
                found = back.copy()
                found[other] = host
                yield found


class TestSubstituted(base.BaseTestCase):
    def test_nothing_is_left_to_replace(self):
        """As trying everything says."""
        lower = 0
        for seed, simulation, _ in spreading.by_lot(CASES):
            model = spreading.model(simulation)
            for exhaust in False, True:
                goal = Goal(model, BUDGET, exhaust, 0.001)
                wide = WideWindows(model, goal, Effort(1, 8, 2), Lots())
                at = wide.run(model.home)[0].at
                before = value(model, goal, at)
                found = substituted(model, goal, at, PASSES)
                after = value(model, goal, found)
                self.assertLess(after, before + NEAR, seed)
                lower += after < before - NEAR
                moved = [int((one != model.home).sum()) for one in (at, found)]
                self.assertLessEqual(moved[1], moved[0])
                for other in others(model, found):
                    lowest = value(model, goal, other)
                    self.assertLess(after, lowest + NEAR, seed)
        self.assertGreater(lower, 3)


class TestAmongThree(base.BaseTestCase):
    """One of two instances may leave a host, for one of two others."""

    def setUp(self):
        super().setUp()
        policies = [policy('cpu', threshold=0.0)]
        hosts = {'a': [0.9], 'b': [0.3], 'c': [0.1]}
        vms = [
            vm('dear', 'a', [0.4], memory_mb=64 * 1024),
            vm('cheap', 'a', [0.4], memory_mb=1024),
        ]
        found = spreading.simulation(
            scopes.scope(policies, hosts, vms), policies, Settings()
        )
        names = found.utilization.index.instances
        self.dear, self.cheap = map(names.index, ('dear', 'cheap'))
        self.found = found

    def places(self, cost_weight, **moves):
        """Where the two are in the end."""
        model = spreading.model(self.found, cost_weight)
        at = model.home.copy()
        for name, host in moves.items():
            at[getattr(self, name)] = host
        found = substituted(model, Goal(model, 1, True, 0.0), at)
        return found[self.dear], found[self.cheap]

    def test_one_with_less_memory(self):
        self.assertEqual((0, 2), self.places(0.001, dear=2))
        self.assertEqual((2, 0), self.places(0.0, dear=2))

    def test_a_host_with_less_load(self):
        self.assertEqual((0, 2), self.places(0.0, dear=1))

    def test_none_at_all(self):
        """Where even the cheap one costs too much."""
        self.assertEqual((0, 0), self.places(100.0, dear=2))
