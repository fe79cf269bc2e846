# SPDX-License-Identifier: Apache-2.0
"""Is every move made at a moment at which it is legal?"""

import dataclasses

from oslotest import base

from kronos.extensions.room.planning import ordering
from kronos.extensions.room.planning.columns import Column
from tests.unit.extensions.room.planning import small_clusters

SERVERS = {(0, 0): ['a', 'b'], (1, 1): ['c'], (2, 0): ['d']}


def moves(result: ordering.Ordered) -> list[tuple[str, str]]:
    return [(move.server, move.destination) for move in result.moves]


class TestOrdered(base.BaseTestCase):
    def test_what_others_wait_for_goes_first(self) -> None:
        small = small_clusters.cluster([[0], [4], [4]], SERVERS, [4, 8])
        chosen = [
            (0, Column((2, 0), (0, 1))),
            (1, Column((0, 1), (1, 0))),
            (2, Column((0, 0), (1, 0))),
        ]
        result = ordering.ordered(small, chosen)
        self.assertEqual(
            [('a', 'cmp1'), ('b', 'cmp2'), ('c', 'cmp0')], moves(result)
        )
        self.assertEqual(set(), result.stuck)
        self.assertEqual([[0], [8], [0]], result.free.tolist())
        small_clusters.carry_out(small, result.moves)

    def test_what_leaves_and_enters_stays(self) -> None:
        small = small_clusters.cluster([[4], [4], [4]], SERVERS, [4, 8])
        chosen = [(0, Column((1, 0), (1, 0)))]
        self.assertEqual([], ordering.ordered(small, chosen).moves)

    def test_swap_needs_a_detour(self) -> None:
        small = small_clusters.cluster(
            [[0], [0], [8]], {(0, 0): ['a'], (1, 1): ['c']}, [8, 7]
        )
        free = [[0], [1], [8]]
        small = dataclasses.replace(small, free=small.free * 0 + free)
        chosen = [
            (0, Column((1, 0), (0, 1))),
            (1, Column((0, 1), (1, 0))),
        ]
        result = ordering.ordered(small, chosen)
        self.assertEqual([], result.moves)
        self.assertEqual({0, 1}, result.stuck)
        result = ordering.ordered(small, chosen, spare=1)
        self.assertEqual(set(), result.stuck)
        self.assertEqual(3, len(result.moves))
        small_clusters.carry_out(small, result.moves)

    def test_groups(self) -> None:
        """Ungrouped servers first; no member joins another."""
        small = small_clusters.cluster([[0], [4], [4]], SERVERS, [4, 8])
        web = frozenset(['web'])
        chosen = [
            (0, Column((1, 0), (0, 0))),
            (1, Column((0, 0), (1, 0))),
        ]
        grouped = dataclasses.replace(small, apart={'a': web, 'c': web})
        self.assertEqual(
            [('b', 'cmp1')], moves(ordering.ordered(grouped, chosen))
        )
        both = dataclasses.replace(
            small, apart={'a': web, 'b': web}, occupied={1: web}
        )
        result = ordering.ordered(both, chosen)
        self.assertEqual([], result.moves)
        self.assertEqual({0, 1}, result.stuck)


class TestAnyMove(base.BaseTestCase):
    def test_room_elsewhere(self) -> None:
        for free, can in (
            ([[4], [3]], False),
            ([[3], [4]], True),
            ([[3], [3]], False),
        ):
            small = small_clusters.cluster(free, {(0, 0): ['a']}, [4])
            self.assertIs(can, ordering.any_move(small), free)
