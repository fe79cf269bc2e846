# SPDX-License-Identifier: Apache-2.0
"""Is the arithmetic of a move right?"""

import math
import operator

import numpy as np
from oslotest import base

from kronos.engine.arrays import Index, extremes
from kronos.engine.planning.search.local.random_numbers import RandomNumbers
from kronos.engine.simulation.utilization import (
    Utilization,
    objects,
)
from tests.builders import scopes


def utilization(
    scores: list[list[float]],
    usage: list[list[float]],
    host_of: list[int],
    **more: object,
) -> Utilization:
    """That of policies p0, p1...; rows are policies."""
    policies = len(scores)
    snapshot = scopes.scope(
        [],
        {f'h{n}': [] for n in range(len(scores[0]))},
        [scopes.vm(f'v{n}', f'h{at}', []) for n, at in enumerate(host_of)],
    )
    given = {
        'weights': [1.0 / policies] * policies,
        'thresholds': [0.1] * policies,
        'capacity': np.ones((policies, len(scores[0]))),
        'counts': [True] * len(scores[0]),
        **more,
    }
    return Utilization(
        index=Index(snapshot),
        policies=[f'p{n}' for n in range(policies)],
        weights=np.array(given['weights'], dtype=float),
        thresholds=np.array(given['thresholds'], dtype=float),
        scores=np.array(scores, dtype=float),
        usage=np.array(usage, dtype=float),
        capacity=np.array(given['capacity'], dtype=float),
        counts=np.array(given['counts'], dtype=bool),
        memory_mb=np.full(len(host_of), 1024),
    )


def _ends(found: Utilization) -> list[object]:
    """All that moves are judged by, of either end."""
    ends = [*found.highest, *found.lowest]
    return [(one.values, one.hosts[:2]) for one in ends]


class TestAcceptance(base.BaseTestCase):
    def test_objects(self) -> None:
        """Worse and above its own threshold."""
        table = [
            # before, after, hurts
            ([0.05, 0.30], [0.09, 0.20], False),  # worse, still below
            ([0.10, 0.30], [0.15, 0.20], True),  # pushed past
            ([0.30, 0.30], [0.31, 0.10], True),  # bad made worse
            ([0.30, 0.30], [0.29, 0.30], False),  # bad, but better
            ([0.05, 0.30], [0.10, 0.20], False),  # ends at the threshold
            ([0.05, 0.30], [0.1 + 1e-12, 0.20], False),  # noise
            ([0.30, 0.30], [0.3 + 1e-12, 0.20], False),  # noise
            ([0.05, 0.05], [0.10001, 0.00], True),
        ]
        for before, after, hurts in table:
            with self.subTest(before=before, after=after):
                objections = objects(
                    np.array(before), np.array(after), np.full(2, 0.1)
                )
                self.assertEqual(hurts, objections.any())


class TestUtilization(base.BaseTestCase):
    def test_combined_is_the_weighted_sum(self) -> None:
        now = utilization(
            [[0.8, 0.2, 0.5], [0.1, 0.3, 0.6]],
            [[0.1], [0.1]],
            [0],
            weights=[0.7, 0.3],
        )
        self.assertAlmostEqual(0.7 * 0.6 + 0.3 * 0.5, now.combined())
        self.assertEqual([True, True], now.over_threshold().tolist())

    def test_a_move_changes_every_policy(self) -> None:
        now = utilization([[0.8, 0.2], [0.1, 0.6]], [[0.3], [0.05]], [0])
        now.move(0, 0, 1)
        self.assertAlmostEqual(0.5, now.scores[0, 0])
        self.assertAlmostEqual(0.5, now.scores[0, 1])
        self.assertAlmostEqual(0.05, now.scores[1, 0])
        self.assertAlmostEqual(0.65, now.scores[1, 1])

    def test_hosts_of_unequal_size(self) -> None:
        """8 of 64 cores leave, and are 8 of 16 at the other end."""
        now = utilization([[0.5, 0.25]], [[8.0]], [0], capacity=[[64.0, 16.0]])
        now.move(0, 0, 1)
        self.assertAlmostEqual(0.375, now.scores[0, 0])
        self.assertAlmostEqual(0.75, now.scores[0, 1])

    def test_what_is_set_aside_goes_no_further(self) -> None:
        """Whatever it would make of the others."""
        now = utilization([[0.9, 0.7, 0.5, 0.3, 0.1, 0.05]], [[0.1]], [2])
        now.set_aside(np.array([[True, True, False, False, True, True]]))
        table = [
            # from, to, objected
            (2, 1, True),
            (2, 3, False),
            (2, 4, False),
            (4, 3, True),
            (1, 3, False),
        ]
        for source, host, objected in table:
            ends = np.array([source]), np.array([host])
            after = now.scores_after(np.array([0]), *ends)
            found = now.judge(*ends, *after)[1].tolist()
            self.assertEqual([objected], found, (source, host))
        now.judge_all()
        ends = np.array([2]), np.array([1])
        after = now.scores_after(np.array([0]), *ends)
        self.assertEqual([False], now.judge(*ends, *after)[1].tolist())

    def test_no_clamping(self) -> None:
        now = utilization([[0.2, 0.9]], [[0.3]], [0])
        now.move(0, 0, 1)
        self.assertAlmostEqual(-0.1, now.scores[0, 0])
        self.assertAlmostEqual(1.2, now.scores[0, 1])

    def test_taking_back_is_exact(self) -> None:
        now = utilization([[0.1 + 0.2, 0.7]], [[0.1]], [0])
        before = now.scores.copy(), now.combined()
        now.take_back(now.move(0, 0, 1))
        self.assertTrue((before[0] == now.scores).all())
        self.assertEqual(before[1], now.combined())

    def test_extremes_follow_moves(self) -> None:
        """As if they were looked for anew, of equal hosts the same ones."""
        rng, kept = RandomNumbers(), 0
        for seed in range(60):
            scores, usage = rng.draw(2, 9), 0.3 * rng.draw(2, 12)
            some = {'counts': [True] * 8 + [seed % 2 == 0]}
            host_of, hosts = (9 * rng.draw(2, 12)).astype(int).tolist()
            now = utilization(
                np.round(scores, 1 + seed % 3).tolist(),
                np.round(usage, 1 + seed % 3).tolist(),
                host_of,
                **some,
            )
            made = []
            for instance, move in enumerate(zip(host_of, hosts, strict=True)):
                before = [*now.highest, *now.lowest]
                made.append((now.move(instance, *move), before))
                anew = utilization(
                    now.scores.tolist(), usage.tolist(), host_of, **some
                )
                self.assertEqual(_ends(anew), _ends(now))
                after = [*now.highest, *now.lowest]
                kept += sum(map(operator.is_, before, after))
            for undo, before in reversed(made):
                now.take_back(undo)
                self.assertEqual(before, [*now.highest, *now.lowest])
        self.assertGreater(kept, 300)

    def test_hosts_that_do_not_count(self) -> None:
        now = utilization(
            [[0.8, 0.2, 0.0]], [[0.1]], [0], counts=[True, True, False]
        )
        self.assertAlmostEqual(0.6, now.combined())
        self.assertEqual(1, now.hosts_over())
        gains, _ = now.judge(
            np.array([0]), np.array([2]), [np.array([0.7])], [np.array([0.1])]
        )
        self.assertAlmostEqual(0.1, float(gains[0]))

    def test_hosts_over(self) -> None:
        now = utilization(
            [[0.0, 0.1, 0.3], [0.5, 0.2, 0.2]], [[0.0], [0.0]], [0]
        )
        self.assertEqual(2, now.hosts_over())

    def test_out_of_range(self) -> None:
        table = [
            ({'weights': [-0.5]}, 'weight'),
            ({'capacity': [[1.0, 0.0]]}, 'capacity'),
            ({'capacity': [[1.0, math.nan]]}, 'capacity'),
        ]
        for more, what in table:
            with self.subTest(more=more):
                error = self.assertRaises(
                    ValueError, utilization, [[0.1, 0.2]], [[0.1]], [0], **more
                )
                self.assertIn(f'p0: a {what}', str(error))
        for usage in (-0.1, math.inf):
            error = self.assertRaises(
                ValueError, utilization, [[0.1, 0.2]], [[usage]], [0]
            )
            self.assertIn('usage', str(error))

    def test_scatter_is_the_number_times_the_variance(self) -> None:
        now = utilization(
            [[0.8, 0.2, 0.5, 0.1]],
            [[0.25]],
            [0],
            capacity=[[1.0, 1.0, 1.0, 2.0]],
            counts=[True, True, False, True],
        )
        counting = [0, 1, 3]
        before = 3 * now.scores[0, counting].var()
        for destination in (1, 3):
            one, other = np.array([0]), np.array([destination])
            left, entered = now.scores_after(np.array([0]), one, other)
            drop = now.variance_drop(one, other, left, entered)
            undo = now.move(0, 0, destination)
            after = 3 * now.scores[0, counting].var()
            now.take_back(undo)
            self.assertAlmostEqual(before - after, float(drop[0]), places=12)


class TestExtremes(base.BaseTestCase):
    def test_fewer_than_three_hosts(self) -> None:
        row, hosts = np.array([0.5, 0.1]), np.array([0, 1])
        high, low = extremes(row, hosts, -1.0), extremes(row, hosts, 1.0)
        self.assertEqual((0, 1, -1), high.hosts)
        self.assertEqual((0.1, 0.5, math.inf), low.values)

    def test_without_two_hosts(self) -> None:
        row = np.array([0.4, 0.9, 0.1, 0.9, 0.3])
        hosts = np.arange(5)
        high, low = extremes(row, hosts, -1.0), extremes(row, hosts, 1.0)
        for one in range(5):
            for other in range(5):
                if one == other:
                    continue
                rest = [row[n] for n in range(5) if n not in (one, other)]
                pair = np.array([one]), np.array([other])
                self.assertEqual(max(rest), high.without(*pair)[0])
                self.assertEqual(min(rest), low.without(*pair)[0])
