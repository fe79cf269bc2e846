# SPDX-License-Identifier: Apache-2.0
"""Is a destination never filled up to its ceiling?"""

import math
import random
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.base import CapacityReadings
from kronos.engine.constraints.capacity_ceiling import CapacityCeiling
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.engine.types import PlanningInput
from tests.builders import constraints, scopes


def rule(
    loads: list[list[float]],
    usage: list[list[float]],
    ceilings: list[float],
    capacity: list[list[float]] | None = None,
    **more: Any,
) -> CapacityCeiling:
    names = ['cpu', 'ram', 'net'][: len(loads)]
    sizes = capacity or [[1.0] * len(row) for row in loads]
    return CapacityCeiling(
        CapacityReadings(
            names,
            np.array(loads),
            np.array(ceilings),
            np.array(usage),
            np.array(sizes),
            **more,
        )
    )


class TestRule(base.BaseTestCase):
    def test_reason(self) -> None:
        found = rule([[0.0, 0.5]], [[0.1, 0.3]], [0.7])
        self.assertIsNone(found.why_not(0, 1))
        self.assertEqual(
            'policy cpu would be at 0.800 there, its capacity_threshold '
            'is 0.7',
            found.why_not(1, 1),
        )

    def test_equal_is_not_below(self) -> None:
        """It has to be below, whatever the rounding of the sum."""
        found = rule([[0.0, 0.1 + 0.2]], [[0.4]], [0.7])
        self.assertIn('0.700', found.why_not(0, 1))
        self.assertEqual([[True, False]], found.rows(np.array([0])).tolist())

    def test_share_of_the_host_itself(self) -> None:
        found = rule([[0.5, 0.5]], [[2.0]], [0.8], [[4.0, 10.0]])
        self.assertEqual([[False, True]], found.rows(np.array([0])).tolist())

    def test_unknown_reading(self) -> None:
        found = rule([[math.nan, 0.1]], [[0.1]], [0.8])
        self.assertIn('is not known', found.why_not(0, 0))
        self.assertEqual([False], found.column(0).tolist())
        found.follow(0, 0, 1)
        found.follow(0, 1, 0)
        self.assertIn('is not known', found.why_not(0, 0))

    def test_every_policy(self) -> None:
        found = rule([[0.1, 0.1], [0.1, 0.75]], [[0.1], [0.1]], [0.8, 0.8])
        self.assertIn('policy ram', found.why_not(0, 1))

    def test_the_caller_keeps_its_readings(self) -> None:
        loads = np.array([[0.1, 0.2]])
        one = np.ones((1, 2))
        found = CapacityCeiling(
            CapacityReadings(
                ['cpu'], loads, np.array([0.8]), np.array([[0.1]]), one
            )
        )
        found.follow(0, 0, 1)
        self.assertEqual([[0.1, 0.2]], loads.tolist())

    def test_masks_follow_moves(self) -> None:
        """All three ways to ask give the answer of a sum made anew."""
        refused = 0
        for seed in range(40):
            rng = random.Random(seed)
            policies, hosts, instances = rng.randint(1, 3), 4, 6
            sizes = [
                [rng.choice([1.0, 2.0, 4.0]) for _ in range(hosts)]
                for _ in range(policies)
            ]
            usage = [
                [rng.choice([0.0, 0.05, 0.2]) for _ in range(instances)]
                for _ in range(policies)
            ]
            start = [
                [rng.choice([0.0, 0.3, 0.6, math.nan]) for _ in range(hosts)]
                for _ in range(policies)
            ]
            ceilings = [rng.choice([0.5, 0.8]) for _ in range(policies)]
            found = rule(start, usage, ceilings, sizes)
            moves: list[tuple[int, int, int]] = []
            for _ in range(5):
                expected = self._anew(start, usage, ceilings, sizes, moves)
                refused += sum(row.count(False) for row in expected)
                self._agree(expected, found, instances, hosts)
                one = rng.randrange(instances)
                source, target = rng.sample(range(hosts), 2)
                moves.append((one, source, target))
                found.follow(*moves[-1])
        self.assertGreater(refused, 100)

    def _anew(
        self,
        loads: list[list[float]],
        usage: list[list[float]],
        ceilings: list[float],
        sizes: list[list[float]],
        moves: list[tuple[int, int, int]],
    ) -> list[list[bool]]:
        now = [list(row) for row in loads]
        for one, source, target in moves:
            for p, row in enumerate(now):
                row[source] -= usage[p][one] / sizes[p][source]
                row[target] += usage[p][one] / sizes[p][target]
        return [
            [
                all(
                    now[p][host] + usage[p][one] / sizes[p][host]
                    < ceilings[p] - 1e-9
                    for p in range(len(loads))
                )
                for host in range(len(loads[0]))
            ]
            for one in range(len(usage[0]))
        ]

    def _agree(
        self,
        expected: list[list[bool]],
        found: CapacityCeiling,
        instances: int,
        hosts: int,
    ) -> None:
        rows = found.rows(np.arange(instances)).tolist()
        said = [
            [not found.why_not(one, host) for host in range(hosts)]
            for one in range(instances)
        ]
        columns = np.array([found.column(host) for host in range(hosts)])
        self.assertEqual(expected, rows)
        self.assertEqual(expected, said)
        self.assertEqual(expected, columns.T.tolist())


class TestGrowth(base.BaseTestCase):
    """Moves of which more is expected than is measured."""

    def rule(self) -> CapacityCeiling:
        return rule(
            [[0.5, 0.3, 0.0]],
            [[0.2, 0.3]],
            [0.8],
            origins=np.array([0, 0]),
            growths=np.array([2.0]),
        )

    def test_all_ways_agree(self) -> None:
        limited = self.rule()
        expected = [[True, True, True], [False, False, True]]
        rows = limited.rows(np.arange(2)).tolist()
        self.assertEqual(expected, rows)
        columns = np.array([limited.column(host) for host in range(3)])
        self.assertEqual(expected, columns.T.tolist())
        self.assertIn('at 0.900', str(limited.why_not(1, 1)))
        self.assertFalse(limited.takes_all(np.arange(2), 2))
        self.assertFalse(limited.takes_all(np.array([1]), 1))
        self.assertTrue(limited.takes_all(np.array([0]), 1))

    def test_it_leaves_as_measured_and_back(self) -> None:
        limited = self.rule()
        limited.follow(1, 0, 2)
        self.assertIn('at 1.000', str(limited.why_not(0, 2)))
        [(_, free)] = limited.free_capacities()
        np.testing.assert_allclose([0.6, 0.5, 0.2], free)
        limited.follow(1, 2, 1)
        self.assertIn('at 1.300', str(limited.why_not(0, 1)))
        limited.follow(1, 1, 0)
        self.assertIsNone(limited.why_not(0, 1))
        [(_, free)] = limited.free_capacities()
        np.testing.assert_allclose([0.3, 0.5, 0.8], free)


class TestRelaxation(base.BaseTestCase):
    def _case(self, reason: Reason) -> PlanningInput:
        policies = [scopes.policy('cpu', capacity_threshold=0.7)]
        snapshot = scopes.scope(
            policies, {'a': [0.0], 'b': [0.5]}, [scopes.vm('v', 'a', [0.3])]
        )
        return constraints.relaxed(
            CapacityCeiling,
            snapshot,
            Settings(),
            reason,
            edits.Pair('v', 'a', 'b'),
            policies,
        )

    def test_a_ceiling(self) -> None:
        """Just above what would be there."""
        found = rule([[0.0, 0.5]], [[0.3]], [0.7])
        [reason] = found.reasons(0, 1)
        self.assertIn(reason.code, CapacityCeiling.codes)
        [policy] = self._case(reason).policies
        again = rule([[0.0, 0.5]], [[0.3]], [policy.capacity_threshold])
        self.assertEqual([], again.reasons(0, 1))
        self.assertAlmostEqual(0.8, policy.capacity_threshold, places=5)

    def test_an_unknown_reading(self) -> None:
        """It is known, and 0."""
        found = rule([[0.0, math.nan]], [[0.3]], [0.7])
        [reason] = found.reasons(0, 1)
        self.assertIn(reason.code, CapacityCeiling.codes)
        capacity = self._case(reason).snapshot.readings['cpu'].capacity
        assert capacity is not None
        [sample] = capacity.samples
        self.assertEqual(('b', 0.0), (sample.label, sample.value))

    def test_phases_without_ceilings(self) -> None:
        snapshot = scopes.scope([], {'a': [], 'b': []}, [])
        self.assertIsNone(CapacityCeiling.build(constraints.given(snapshot)))
