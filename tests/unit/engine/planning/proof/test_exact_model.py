# SPDX-License-Identifier: Apache-2.0
"""Is no plan below what the solver proves, and does it find what is there?"""

import os
import random

from oslotest import base

from kronos.engine.planning.proof import exact_model, lower_bound
from kronos.engine.planning.proof.exact_model import TOLERANCE, ExactModel
from kronos.engine.planning.proof.lp_relaxation import LpRelaxation
from tests.builders import scopes
from tests.unit.engine.oracles import reachable

CLUSTERS = int(os.environ.get('KRONOS_FUZZ', '40'))


class TestEveryScope(base.BaseTestCase):
    def test_bound(self) -> None:
        """It is met where room and groups are in nobody's way."""
        met = 0
        for seed in range(CLUSTERS):
            rng = random.Random(seed)
            snapshot, policies, settings = scopes.draw(rng)
            settings.max_migrations = rng.randint(1, 2)
            simulation = reachable.begun(snapshot, policies, settings)
            if simulation is None:
                continue
            scope = LpRelaxation.of(simulation, 10**6)
            model = ExactModel(scope, lower_bound.levels(scope))
            least = reachable.lowest(simulation, settings.max_migrations)
            with self.subTest(seed=seed):
                found = model.solve(60.0)
                self.assertLessEqual(found.bound, least + reachable.SAME)
                self.assertTrue(found.is_proven or not found.bound)
                met += found.bound > least - 2 * TOLERANCE
        self.assertGreater(met, CLUSTERS / 2)


class TestExclusions(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        cpu = scopes.policy('cpu')
        vms = [
            scopes.vm('one', 'a', [0.4]),
            scopes.vm('two', 'a', [0.3]),
        ]
        hosts = {'a': [0.9], 'b': [0.1], 'c': [0.5]}
        settings = scopes.Settings(max_migrations=1)
        simulation = reachable.begun(
            scopes.scope([cpu], hosts, vms), [cpu], settings
        )
        assert simulation is not None
        scope = LpRelaxation.of(simulation, 100)
        self.model = ExactModel(scope, lower_bound.levels(scope))

    def test_best(self) -> None:
        """0 and 1 are instances and 1 is host b."""
        found = self.model.solve(60.0)
        self.assertEqual([(0, 1)], found.moves)
        self.assertAlmostEqual(0.0, found.value)

    def test_another(self) -> None:
        self.model.exclude([(0, 1)])
        found = self.model.solve(60.0)
        self.assertEqual([(1, 1)], found.moves)
        self.assertAlmostEqual(0.2, found.value)

    def test_blocked(self) -> None:
        self.model.block([(0, 1)])
        self.assertEqual([(1, 1)], self.model.solve(60.0).moves)


class TestSolver(base.BaseTestCase):
    def test_it_is_there(self) -> None:
        self.assertIsNotNone(exact_model.solver())
