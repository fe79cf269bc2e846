# SPDX-License-Identifier: Apache-2.0
"""Do the tables follow the moves?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.batch import Batch
from kronos.engine.planning.search.local.random_numbers import RandomNumbers
from tests.builders import spreading

CASES = 40
NUMBER = 3


def batch_of(simulation, rng):
    found = Batch(spreading.model(simulation), NUMBER)
    high, low = found.extremes()
    found.high = high - 0.2 * rng.draw(*high.shape) * (high - low)
    found.low = low + 0.2 * rng.draw(*low.shape) * (high - low)
    found.price[:] = 0.05
    found.refresh()
    return found


class TestBatch(base.BaseTestCase):
    def test_tables_after_moves(self):
        """As if they had been computed anew."""
        moved = 0
        for seed, simulation, _ in spreading.by_lot(CASES):
            rng = RandomNumbers(seed)
            batch = batch_of(simulation, rng)
            most = np.full(NUMBER, 4)
            for _ in range(4):
                noise = 0.5 + rng.draw(*batch.host_of.shape)
                ones, hosts, costs = batch.best_moves(most, noise)
                which = np.flatnonzero(costs < 0.0)
                moved += len(which)
                batch.move_on(which, ones[which], hosts[which])
            tables = [batch._entering.copy(), batch._leaving.copy()]
            batch.refresh()
            for old, new in zip(
                tables, [batch._entering, batch._leaving], strict=True
            ):
                self.assertTrue(np.allclose(old, new), seed)
        self.assertGreater(moved, CASES)

    def test_what_a_move_costs(self):
        """As far as it takes all hosts out of their windows, or into them."""
        for seed, simulation, _ in spreading.by_lot(CASES):
            batch = batch_of(simulation, RandomNumbers(seed))
            batch.price[:] = 0.0
            batch.refresh()
            ones, hosts, costs = batch.best_moves(
                np.full(NUMBER, 9), np.ones(batch.host_of.shape)
            )
            which = np.flatnonzero(np.isfinite(costs))
            before = batch.outside()
            batch.move(which, ones[which], hosts[which])
            fell = (batch.outside() - before)[which]
            self.assertTrue(np.allclose(costs[which], fell), seed)

    def test_moves_and_back(self):
        for seed, simulation, _ in spreading.by_lot(CASES):
            batch = batch_of(simulation, RandomNumbers(seed))
            before = [part.copy() for part in batch.state]
            one, which = np.zeros(NUMBER, dtype=int), np.arange(NUMBER)
            last = np.full(NUMBER, len(batch.model.hosts) - 1)
            home = batch.model.home[one]
            batch.move(which, one, last)
            self.assertEqual(int(last[0] != home[0]), batch.moved[0])
            batch.move(which, one, home)
            for was, now in zip(before, batch.state, strict=True):
                self.assertTrue(np.allclose(was, now), seed)
