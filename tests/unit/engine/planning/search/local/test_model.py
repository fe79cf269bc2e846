# SPDX-License-Identifier: Apache-2.0
"""Is the model of a scope what the scope is?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.batch import Batch
from kronos.engine.planning.search.local.model import ScopeModel
from tests.builders import spreading

CASES = 60


class TestScopeModel(base.BaseTestCase):
    def test_imbalances(self):
        """Times their weights, also where it looks at some hosts only."""
        for seed, simulation, _ in spreading.by_lot(CASES):
            utilization = simulation.utilization
            whole = spreading.model(simulation)
            host = whole.hosts[whole.home[:1]]
            there = np.flatnonzero(
                simulation.movable & (simulation.placement.host_of == host[0])
            )
            for model in (whole, ScopeModel(simulation, there, host)):
                high, low = Batch(model, 1).extremes()
                wanted = utilization.weights * utilization.imbalances
                self.assertTrue(np.allclose(wanted, (high - low)[0]), seed)

    def test_where_each_may_go(self):
        """What the constraints allow now, and no more.

        Who is to be apart from the members of two groups stays.
        """
        for seed, simulation, _ in spreading.by_lot(CASES):
            model = spreading.model(simulation)
            batch = Batch(model, 1)
            batch.refresh()
            allowed = np.isfinite(batch._entering[0]).T
            room = np.maximum(model.free, 0.0)
            for need, free in zip(model.needs, room, strict=True):
                allowed &= need[:, None] <= free
            constraints = simulation.constraints
            rows = constraints.rows(model.instances)[:, model.hosts]
            groups = np.zeros(len(rows), dtype=int)
            limits = constraints.limits(model.instances, model.hosts)
            for members, _, _ in limits.apart:
                groups[members] += 1
            rows[groups > 1] = False
            self.assertTrue(np.array_equal(rows, allowed), seed)
