# SPDX-License-Identifier: Apache-2.0
"""Are counts the best of small clusters, and can they be carried out?"""

import math
import types
from unittest import mock

import numpy as np
from oslotest import base

from kronos.extensions.room.planning import highs, ordering
from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.counts import (
    Counted,
    Counts,
    NoPlacement,
    SlotTarget,
)
from tests.unit.extensions.room.planning import placements
from tests.unit.extensions.room.planning.placements import LARGE, MIDDLE

SEEDS = range(100, 110)
MORE = (1, 2, 3)


class TestJudged(base.BaseTestCase):
    """10 clusters of two resources, three flavor mixtures."""

    def ordered(self, small: Cluster, counted: Counted) -> bool:
        """Whether an order exists; its end is judged."""
        result = ordering.ordered(small, sorted(counted.columns.items()), 2)
        after = placements.carried_out(small, result.moves)
        np.testing.assert_array_equal(after.free, result.free)
        return not result.stuck

    def test_fewest_moves(self) -> None:
        tasks = ordered = impossible = 0
        for seed in SEEDS:
            small = placements.generated(seed)
            before = int(small.slot_counts(small.free).sum())
            for more in MORE:
                for joint in (False, True):
                    targets = [SlotTarget(LARGE, before + more)]
                    if joint:
                        targets = [
                            SlotTarget(LARGE, more),
                            SlotTarget(MIDDLE, more),
                        ]
                    case = seed, more, joint
                    best = placements.fewest(small, targets)
                    counted = Counts(small, targets).fewest_moves()
                    if best is None:
                        self.assertIs(NoPlacement.IMPOSSIBLE, counted, case)
                        impossible += 1
                        continue
                    assert isinstance(counted, Counted), case
                    self.assertEqual(best, counted.moves, case)
                    self.assertEqual(best, counted.bound, case)
                    tasks += 1
                    ordered += self.ordered(small, counted)
        self.assertGreater(tasks, 20)
        self.assertGreater(impossible, 2)
        self.assertGreater(ordered / tasks, 0.9)

    def test_most_slots(self) -> None:
        """More moves never give fewer slots, nor more than the sum."""
        for seed in SEEDS:
            small = placements.generated(seed)
            last = int(small.slot_counts(small.free).sum())
            for moves in (0, 3, 10, math.inf):
                counted = Counts(small, [SlotTarget(LARGE)]).most_slots(moves)
                assert counted is not None
                (slots,) = counted.slots
                self.assertLessEqual(counted.moves, moves)
                self.assertGreaterEqual(slots, last)
                self.assertEqual(slots, counted.bound)
                self.assertLessEqual(slots, small.by_sum())
                if slots:
                    exact = [SlotTarget(LARGE, slots)]
                    self.assertEqual(
                        placements.fewest(small, exact), counted.moves
                    )
                last = slots

    def test_kinds_split_in_two(self) -> None:
        """Servers that differ in nothing but their kind change nothing."""
        for seed in SEEDS[:6]:
            small = placements.generated(seed)
            half = len(small.ways)
            ways = [*small.ways]
            ways += [Way(w.kind + half, w.demand, w.memory_mb) for w in ways]
            servers = {}
            for (host, way), names in small.servers.items():
                servers[host, way] = names[::2]
                servers[host, way + half] = names[1::2]
            split = Cluster(
                small.hosts, small.free, tuple(ways), small.slots, servers
            )
            targets = [SlotTarget(LARGE, 3)]
            one, two = (
                Counts(each, targets).fewest_moves() for each in (small, split)
            )
            if isinstance(one, NoPlacement):
                self.assertIs(one, two)
                continue
            assert isinstance(two, Counted)
            self.assertEqual(one.moves, two.moves)


class TestCounts(base.BaseTestCase):
    def test_overfull(self) -> None:
        """A host may stay overfull; it takes nothing, and has no slots."""
        small = Cluster(
            ('a', 'b'),
            np.array([[-3], [8]], dtype=np.intp),
            (Way(0, (2,)), Way(1, (4,))),
            ((4,),),
            {(0, 0): ('x', 'y', 'z'), (1, 1): ('v',)},
        )
        counted = Counts(small, [SlotTarget((4,))]).most_slots(1)
        assert counted is not None
        self.assertEqual((2,), counted.slots)
        self.assertEqual({}, counted.columns)

    def test_refused(self) -> None:
        small = Cluster(
            ('a', 'b', 'c'),
            np.array([[2], [2], [2]], dtype=np.intp),
            (Way(0, (2,)),),
            ((4,),),
            {(host, 0): (f'vm{host}',) for host in range(3)},
        )
        targets = [SlotTarget((4,), 1)]
        for refused in ((), ((1, 0),), ((1, 0), (2, 0))):
            counted = Counts(small, targets, refused).fewest_moves()
            assert isinstance(counted, Counted)
            entered = {
                (host, 0)
                for host, column in counted.columns.items()
                if any(column.ins)
            }
            self.assertEqual(1, len(entered))
            self.assertFalse(entered & {*refused})
        refused = ((0, 0), (1, 0), (2, 0))
        self.assertIs(
            NoPlacement.IMPOSSIBLE,
            Counts(small, targets, refused).fewest_moves(),
        )

    def test_used_up_branches(self) -> None:
        """They prove nothing."""
        small = placements.generated(1)
        ended = types.SimpleNamespace(x=None, status=1, message='limit')
        with mock.patch.object(highs, 'whole', return_value=ended):
            self.assertIs(
                NoPlacement.NOT_KNOWN,
                Counts(small, [SlotTarget(LARGE, 1)]).fewest_moves(),
            )
            self.assertIsNone(Counts(small, [SlotTarget(LARGE)]).most_slots(3))

    def test_without_scipy(self) -> None:
        with mock.patch.object(highs, 'solver', return_value=None):
            programs = Counts(placements.generated(1), [SlotTarget(LARGE, 1)])
            self.assertRaises(RuntimeError, programs.fewest_moves)
