# SPDX-License-Identifier: Apache-2.0
"""Is the best move of all taken, though most are not looked at?"""

import numpy as np
from oslotest import base

from kronos.engine.planning.search.moves import Moves
from kronos.engine.simulation.utilization import is_gain
from tests.builders import spreading

CASES = 250


def gains(simulation):
    """[V, H] of all legal moves to which nobody objects; else 0."""
    utilization = simulation.utilization
    instances = np.flatnonzero(simulation.movable)
    hosts = np.arange(len(utilization.counts))[None, :]
    sources = simulation.placement.host_of[instances][:, None]
    after = utilization.scores_after(instances[:, None], sources, hosts)
    found, objected = utilization.judge(sources, hosts, *after)
    legal = simulation.constraints.rows(instances) & ~objected
    return instances, np.where(legal, found, 0.0)


class TestImproving(base.BaseTestCase):
    def test_no_move_gains_more(self):
        """All pairs are looked at here, in every round."""
        made = 0
        for seed, simulation, settings in spreading.by_lot(CASES):
            moves = Moves(simulation, settings)
            while simulation.remaining > 0:
                instances, found = gains(simulation)
                best = found.max(initial=0.0)
                move = moves.improving()
                if move is None:
                    self.assertFalse(is_gain(best), seed)
                    break
                row = instances.tolist().index(move[0])
                self.assertAlmostEqual(best, found[row, move[1]], 9, str(seed))
                simulation.move(*move)
                made += 1
        self.assertGreater(made, CASES)
