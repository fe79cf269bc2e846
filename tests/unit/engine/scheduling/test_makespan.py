# SPDX-License-Identifier: Apache-2.0
"""Is the length of a plan that of its graph, and its bound never beaten?"""

import random
from collections import Counter

from oslotest import base

from kronos.engine.scheduling import graph, makespan
from tests.unit.engine.scheduling import test_graph


class MakespanTestCase(base.BaseTestCase):
    def starts(self, *args):
        return makespan.starts(*args)

    def test_a_step_waits_for_its_parents(self):
        self.assertEqual(
            [0, 2, 0, 5], self.starts([[], [0], [], [1, 2]], [2, 3, 4, 1])
        )

    def test_parents_may_come_later_in_the_plan(self):
        self.assertEqual([4, 0], self.starts([[1], []], [2, 4]))

    def test_workers_take_what_came_first(self):
        parents = [[], [], [], [0]]
        self.assertEqual([0, 0, 1, 5], self.starts(parents, [1, 5, 6, 1], 2))
        self.assertEqual([0, 1, 6, 12], self.starts(parents, [1, 5, 6, 1], 1))

    def test_nothing(self):
        self.assertEqual([], self.starts([], []))
        self.assertEqual(0, makespan.most_at_once([], []))
        self.assertEqual(0, makespan.lower_bound([], [], 1))

    def test_a_circle_is_refused(self):
        self.assertRaises(ValueError, self.starts, [[1], [0]], [1, 1])

    def test_no_worker_is_refused(self):
        self.assertRaises(ValueError, self.starts, [[]], [1], 0)

    def test_most_at_once(self):
        """What ends as another starts is not beside it."""
        self.assertEqual(2, makespan.most_at_once([0, 1, 2], [2, 2, 1]))

    def bound(self, *trips, at_a_time=9, before=None):
        steps = [
            test_graph.step(f'i{n}', source, destination)
            for n, (source, destination, _) in enumerate(trips)
        ]
        seconds = [took for *_, took in trips]
        return makespan.lower_bound(steps, seconds, at_a_time, before)

    def test_each_bound(self):
        """The scope, a source, a destination, the longest, the order."""
        apart = ('a', 'b', 4), ('c', 'd', 4), ('e', 'f', 1)
        self.assertEqual(4.5, self.bound(*apart, at_a_time=2))
        self.assertEqual(8, self.bound(('a', 'b', 4), ('a', 'd', 4)))
        into = ('a', 'h', 4), ('b', 'h', 4), ('c', 'h', 1)
        self.assertEqual(4.5, self.bound(*into))
        self.assertEqual(4, self.bound(*apart))
        self.assertEqual(5, self.bound(*apart, before=[set(), set(), {0}]))

    def test_no_graph_beats_the_bound(self):
        """Nor is it far away, and it is met by every second graph."""
        seen = Counter()
        for seed in range(300):
            rng = random.Random(seed)
            steps, shot = test_graph.random_plan(rng)
            limit = rng.randint(1, 4)
            parents = graph.schedule(steps, [shot], limit)
            seconds = [rng.uniform(1, 9) for _ in steps]
            before = graph.rules(steps, [shot])
            least = makespan.lower_bound(steps, seconds, limit, before)
            begun = makespan.starts(parents, seconds)
            length = max(map(sum, zip(begun, seconds, strict=True)), default=0)
            self.assertLessEqual(least, length + 1e-9)
            self.assertLessEqual(
                makespan.most_at_once(begun, seconds), max(1, limit)
            )
            seen['met'] += length < least + 1e-9
            seen['far'] += length > 1.5 * least
        self.assertGreater(seen['met'], 100)
        self.assertLess(seen['far'], 60)
