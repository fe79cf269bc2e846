# SPDX-License-Identifier: Apache-2.0
"""Can each order that is legal begin with one of them?"""

import itertools

import numpy as np
from oslotest import base

from kronos.engine.planning.search import first_moves
from kronos.engine.planning.search.sequencing import Sequencing
from kronos.engine.settings import Settings, SwapMoves
from tests.builders import scopes, spreading
from tests.builders.scopes import policy, vm

CASES = 40


class TestAlone(base.BaseTestCase):
    def test_what_a_sequence_may_begin_with(self):
        number = 0
        for seed, simulation, settings in spreading.by_lot(CASES):
            found = first_moves.alone(simulation)
            sequencing = Sequencing(simulation, settings, 1)
            hosts = range(found.shape[1])
            movable = np.flatnonzero(simulation.movable).tolist()
            for move in itertools.product(movable, hosts):
                [*units] = sequencing.options(dict([move]))
                self.assertEqual(bool(units), found[move], (seed, move))
            self.assertFalse(found[~simulation.movable].any())
            number += bool(found.any())
        self.assertGreater(number, CASES // 3)


class TestExchanged(base.BaseTestCase):
    def test_each_that_a_sequence_may_begin_with(self):
        number = 0
        for seed, simulation, settings in spreading.by_lot(CASES):
            settings.swap_moves = SwapMoves.ANY
            found = first_moves.exchanged(simulation, SwapMoves.ANY)
            sequencing = Sequencing(simulation, settings, 1)
            host_of = simulation.placement.host_of
            movable = np.flatnonzero(simulation.movable).tolist()
            for one, other in itertools.combinations(movable, 2):
                ends = int(host_of[one]), int(host_of[other])
                moves = {one: ends[1], other: ends[0]}
                for unit in sequencing.options(moves):
                    if len(unit) == 2:
                        number += 1
                        for half in unit:
                            self.assertTrue(found[half], (seed, half))
        self.assertGreater(number, 10)

    def test_none_where_none_is_allowed(self):
        cpu = policy('cpu', threshold=0.0)
        vms = [vm('large', 'a', [0.4]), vm('small', 'b', [0.1])]
        snapshot = scopes.scope([cpu], {'a': [0.9], 'b': [0.3]}, vms)
        simulation = spreading.simulation(snapshot, [cpu], Settings())
        for swaps in SwapMoves:
            found = first_moves.exchanged(simulation, swaps)
            self.assertEqual(swaps is not SwapMoves.NONE, found.any(), swaps)
