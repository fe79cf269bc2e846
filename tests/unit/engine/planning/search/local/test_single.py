# SPDX-License-Identifier: Apache-2.0
"""Does a single placement compute what a batch of one does?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.local.batch import Batch
from kronos.engine.planning.search.local.random_numbers import RandomNumbers
from kronos.engine.planning.search.local.single import SinglePlacement
from tests.builders import spreading

CASES = 40
MOVES = 6


def refreshed(batch, seed):
    """With windows within which not all hosts are."""
    rng = RandomNumbers(seed)
    high, low = batch.extremes()
    batch.high = high - 0.2 * rng.draw(*high.shape) * (high - low)
    batch.low = low + 0.2 * rng.draw(*low.shape) * (high - low)
    batch.price[:] = 0.05
    batch.refresh()
    return batch


class TestSinglePlacement(base.BaseTestCase):
    def assert_same(self, batch, single, seed):
        for name in ('_entering', '_leaving', '_cost_of_hosts'):
            self.assertEqual(
                getattr(batch, name).tobytes(),
                getattr(single, name).tobytes(),
                f'{name} {seed}',
            )
        for other, own in zip(batch.state, single.state, strict=True):
            self.assertEqual(other.tobytes(), own.tobytes(), seed)

    def test_tables_to_the_last_bit(self):
        """After each of some moves, legal or not, and of moves back."""
        which = np.zeros(1, dtype=np.intp)
        for seed, simulation, _ in spreading.by_lot(CASES):
            model = spreading.model(simulation)
            batch = refreshed(Batch(model, 1), seed)
            single = refreshed(SinglePlacement(model), seed)
            self.assert_same(batch, single, seed)
            lots = np.random.default_rng(seed)
            for _ in range(MOVES):
                instance = int(lots.integers(len(model.home)))
                places = [*range(len(model.hosts)), model.home[instance]]
                host = int(lots.choice(places))
                if host == batch.host_of[0, instance]:
                    continue
                batch.move_on(which, np.array([instance]), np.array([host]))
                single.put_on(instance, host)
                self.assert_same(batch, single, seed)

    def test_the_same_move_where_hosts_are_many(self):
        """A search that looks at the furthest ones finds no worse move."""
        for seed, simulation, _ in spreading.by_lot(CASES):
            single = refreshed(
                SinglePlacement(spreading.model(simulation)), seed
            )
            noise = np.ones(single.host_of.shape)
            _, _, costs = single.best_moves(np.array([9]), noise)
            *_, cost = single.best_move(9, noise[0])
            if costs[0] < -1e-9:
                self.assertAlmostEqual(costs[0], cost, 12, str(seed))
