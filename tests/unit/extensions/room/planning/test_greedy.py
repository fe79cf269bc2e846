# SPDX-License-Identifier: Apache-2.0
"""Does the greedy plan make room without a solver?"""

import dataclasses

from oslotest import base

from kronos.extensions.room.planning import greedy
from tests.unit.extensions.room.planning import small_clusters

FREE = [[12], [5], [9]]
SERVERS = {(0, 0): ['a', 'b'], (1, 1): ['c'], (2, 1): ['d']}


class TestOrdered(base.BaseTestCase):
    def test_fewest_servers_leave_for_the_fullest_host(self) -> None:
        small = small_clusters.cluster(FREE, SERVERS, [4, 9])
        result = greedy.ordered(small, 3)
        self.assertEqual(
            [('a', 'cmp0', 'cmp1')],
            [(m.server, m.source, m.destination) for m in result.moves],
        )
        self.assertEqual([[16], [1], [9]], result.free.tolist())
        self.assertEqual(1, small_clusters.carry_out(small, result.moves))
        self.assertEqual(FREE, small.free.tolist())

    def test_budget(self) -> None:
        small = small_clusters.generated(4)
        for moves in (0, 1, 3):
            result = greedy.ordered(small, moves)
            self.assertLessEqual(len(result.moves), moves)
            small_clusters.carry_out(small, result.moves)

    def test_groups(self) -> None:
        """Where a member of its group is, a server does not go."""
        small = small_clusters.cluster(FREE, SERVERS, [4, 9])
        web = frozenset(['web'])
        grouped = dataclasses.replace(
            small, apart={'a': web, 'b': web, 'c': web}
        )
        result = greedy.ordered(grouped, 3)
        self.assertEqual('cmp2', result.moves[0].destination)
        fixed = dataclasses.replace(
            small, apart={'a': web, 'b': web}, occupied={1: web, 2: web}
        )
        servers = [move.server for move in greedy.ordered(fixed, 3).moves]
        self.assertEqual(['d'], servers)
