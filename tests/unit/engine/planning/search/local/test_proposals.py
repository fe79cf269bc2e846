# SPDX-License-Identifier: Apache-2.0
"""Are the rows of moves what a search was asked for?"""

import itertools

import fixtures
import numpy as np
from oslotest import base

from kronos.engine.planning.search.local import neighbourhood
from kronos.engine.planning.search.local.proposals import LocalSearch
from tests.builders import spreading

CASES = 20


def end(simulation):
    utilization = simulation.utilization
    return neighbourhood.GreedyEnd(
        [],
        np.array([one.values[0] for one in utilization.highest]),
        np.array([one.values[0] for one in utilization.lowest]),
    )


class TestProposals(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        name = f'{neighbourhood.__name__}.ROUNDS'
        self.useFixture(fixtures.MonkeyPatch(name, 5))

    def rows(self, budget):
        for _, simulation, settings in spreading.by_lot(CASES):
            given = end(simulation)
            proposals = LocalSearch(simulation, settings, given, budget)
            for row in itertools.chain(*proposals.run()):
                yield simulation, row

    def test_within_the_budget(self):
        """Each instance once, to another host."""
        number = 0
        for simulation, row in self.rows(3):
            moves = [move for unit in row for move in unit]
            number += bool(moves)
            self.assertLessEqual(len(moves), 3)
            self.assertEqual(len({one for one, _ in moves}), len(moves))
            host_of = simulation.placement.host_of
            self.assertTrue(all(host_of[one] != to for one, to in moves))
        self.assertGreater(number, CASES // 3)

    def test_where_hosts_are_many(self):
        name = f'{neighbourhood.__name__}.WHOLE'
        self.useFixture(fixtures.MonkeyPatch(name, 0))
        found = [row for _, row in self.rows(3) if row]
        self.assertGreater(len(found), CASES // 2)
        self.assertTrue(all(len(row) <= 3 for row in found))
