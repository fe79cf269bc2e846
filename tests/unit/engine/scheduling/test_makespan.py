# SPDX-License-Identifier: Apache-2.0
"""Is the length of a plan that of its graph, and its bound never beaten?"""

import random
from collections import Counter

from oslotest import base

from kronos.engine.scheduling import graph, makespan
from tests.unit.engine.scheduling import test_graph


class MakespanTestCase(base.BaseTestCase):
    def starts(self, parents, seconds, workers=None):
        """Of steps that share neither hosts nor what a scope allows."""
        trips = [
            test_graph.step(f'i{n}', f's{n}', f'd{n}')
            for n, _ in enumerate(parents)
        ]
        return makespan.starts(trips, parents, seconds, 99, workers)

    def test_a_step_waits_for_its_parents(self):
        self.assertEqual(
            [0, 2, 0, 5], self.starts([[], [0], [], [1, 2]], [2, 3, 4, 1])
        )

    def test_parents_may_come_later_in_the_plan(self):
        self.assertEqual([4, 0], self.starts([[1], []], [2, 4]))

    def test_workers_take_what_comes_first(self):
        parents = [[], [], [], [0]]
        self.assertEqual([0, 0, 1, 5], self.starts(parents, [1, 5, 6, 1], 2))
        self.assertEqual([0, 1, 6, 12], self.starts(parents, [1, 5, 6, 1], 1))

    def turns(self, *ends, at_a_time=9, **more):
        trips = [
            test_graph.step(f'i{n}', *one, scope='alpha' if n % 4 else 'beta')
            for n, one in enumerate(ends)
        ]
        parents = [[] for _ in trips]
        seconds = [2 + n for n, _ in enumerate(trips)]
        return makespan.starts(trips, parents, seconds, at_a_time, **more)

    def test_each_limit(self):
        """Out of a host, into one, in a scope."""
        self.assertEqual([0, 2, 0], self.turns('ab', 'ac', 'de'))
        self.assertEqual([0, 0, 2, 3], self.turns('ah', 'bh', 'ch', 'dh'))
        self.assertEqual(
            [0, 0, 3, 7], self.turns('ab', 'cd', 'ef', 'gh', at_a_time=1)
        )

    def test_a_worker_keeps_what_it_has_taken(self):
        """Though another one could begin."""
        self.assertEqual([0, 2, 2], self.turns('ab', 'ac', 'de', workers=2))
        self.assertEqual([0, 2, 0], self.turns('ab', 'ac', 'de', workers=3))

    def test_workers_may_take_steps_in_another_order(self):
        """Turns are given in that of the steps all the same."""
        ends, picked = ('ab', 'ac', 'de'), [1, 2, 0]
        self.assertEqual(
            [3, 0, 0], self.turns(*ends, workers=2, picked=picked)
        )
        self.assertEqual([0, 2, 0], self.turns(*ends, picked=picked))

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

    def test_no_order_beats_the_bound(self):
        """Nor is it far away, and it is met by every second plan."""
        seen = Counter()
        for seed in range(300):
            rng = random.Random(seed)
            steps, shot = test_graph.random_plan(rng)
            limit = rng.randint(1, 4)
            found = graph.schedule(steps, [shot], limit)
            place = {step: n for n, step in enumerate(found.order)}
            trips = [steps[n] for n in found.order]
            parents = [
                [place[one] for one in found.parents[n]] for n in found.order
            ]
            seconds = [rng.uniform(1, 9) for _ in steps]
            least = makespan.lower_bound(
                steps,
                [seconds[place[n]] for n, _ in enumerate(steps)],
                limit,
                graph.rules(steps, [shot]),
            )
            begun = makespan.starts(trips, parents, seconds, limit)
            length = max(map(sum, zip(begun, seconds, strict=True)), default=0)
            self.assertLessEqual(least, length + 1e-9)
            self.assertLessEqual(
                makespan.most_at_once(begun, seconds), max(1, limit)
            )
            seen['met'] += length < least + 1e-9
            seen['far'] += length > 1.3 * least
        self.assertGreater(seen['met'], 150)
        self.assertLess(seen['far'], 20)
