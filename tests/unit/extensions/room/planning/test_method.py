# SPDX-License-Identifier: Apache-2.0
"""Are the most slots planned, proven and reachable move by move?"""

import dataclasses
import json
import subprocess
import sys
from unittest import mock

import numpy as np
from oslotest import base

from kronos.extensions.room.planning import method
from tests import places
from tests.unit.extensions.room.planning import small_clusters

MOVES = (3, 10)
SEEDS = range(5)
PLAN = """
import json
from kronos.extensions.room.planning import method
from tests.unit.extensions.room.planning import small_clusters
plan = method.most_slots(small_clusters.generated(4, 2), 10)
print(json.dumps([[*vars(move).values()] for move in plan.moves]))
"""


class TestMostSlots(base.BaseTestCase):
    def assert_best(self, nodes: int) -> None:
        gains = 0
        for seed in SEEDS:
            small = small_clusters.generated(seed, nodes)
            last = 0
            for moves in MOVES:
                plan = method.most_slots(small, moves)
                best = small_clusters.most_by_counts(small, moves)
                after = small_clusters.carry_out(small, plan.moves)
                case = seed, moves
                self.assertEqual(plan.after, after, case)
                self.assertLessEqual(len(plan.moves), moves, case)
                self.assertEqual(best, after, case)
                assert plan.proof is not None
                self.assertLessEqual(best, plan.proof.most, case)
                self.assertLessEqual(plan.proof.most, best + 1, case)
                self.assertLessEqual(plan.proof.most, small.by_sum(), case)
                self.assertTrue(plan.proof.holds(small), case)
                self.assertGreaterEqual(after, last, case)
                last = after
                gains += after - plan.before
        self.assertGreater(gains, 5)

    def test_hosts_as_a_whole(self) -> None:
        self.assert_best(nodes=1)

    def test_numa_nodes(self) -> None:
        self.assert_best(nodes=2)

    def test_no_migration_allowed(self) -> None:
        small = small_clusters.generated(1)
        plan = method.most_slots(small, 0)
        self.assertEqual([], plan.moves)
        self.assertTrue(plan.is_proven)
        self.assertEqual(plan.before, plan.after)

    def test_no_server_fits_elsewhere(self) -> None:
        """The counts alone would swap servers that cannot move first."""
        small = small_clusters.cluster(
            [[1], [1]],
            {(0, 0): ['a', 'b'], (1, 1): ['c'], (0, 1): ['d']},
            [8, 7],
        )
        plan = method.most_slots(small, 10)
        self.assertEqual([], plan.moves)
        assert plan.proof is not None
        self.assertEqual(0, plan.proof.most)

    def test_split_kinds_change_nothing(self) -> None:
        small = small_clusters.generated(7)
        plan = method.most_slots(small, 10)
        first = small.ways[0]
        kind = small.kinds
        ways = (*small.ways, dataclasses.replace(first, kind=kind))
        servers = {}
        for (host, way), names in small.servers.items():
            half = len(names) // 2 if way == 0 else 0
            servers[host, len(small.ways)] = names[:half]
            servers[host, way] = names[half:]
        servers = {place: names for place, names in servers.items() if names}
        split = dataclasses.replace(small, ways=ways, servers=servers)
        self.assertGreater(plan.after, plan.before)
        self.assertEqual(plan.after, method.most_slots(split, 10).after)

    def test_groups_hold_at_every_step(self) -> None:
        for seed in SEEDS:
            small = small_clusters.generated(seed)
            apart = {
                names[0]: frozenset(['web'])
                for (_, way), names in sorted(small.servers.items())
                if way == seed % 3
            }
            small = dataclasses.replace(small, apart=apart)
            plan = method.most_slots(small, 10)
            after = small_clusters.carry_out(small, plan.moves)
            self.assertEqual(plan.after, after, seed)

    def test_overfull_host(self) -> None:
        """It has no slots, takes no server, and may be relieved."""
        small = small_clusters.cluster(
            [[-4], [20], [12]],
            {(0, 0): ['a'], (2, 0): ['b'], (1, 0): ['c']},
            [4],
        )
        plan = method.most_slots(small, 2)
        self.assertEqual(2, plan.after)
        self.assertEqual(['b'], [move.server for move in plan.moves])
        self.assertEqual('cmp1', plan.moves[0].destination)

    def test_without_a_solver(self) -> None:
        gains = 0
        for seed in SEEDS:
            small = small_clusters.generated(seed)
            with mock.patch.object(method, 'solver', return_value=None):
                plan = method.most_slots(small, 10)
            self.assertIsNone(plan.proof)
            self.assertFalse(plan.is_proven)
            after = small_clusters.carry_out(small, plan.moves)
            self.assertEqual(plan.after, after)
            best = small_clusters.most_by_counts(small, 10)
            self.assertLessEqual(after, best)
            gains += after - plan.before
        self.assertGreater(gains, 3)

    def test_the_same_plan_in_every_process(self) -> None:
        plans = []
        for seed in ('1', '2'):
            completed = subprocess.run(
                [sys.executable, '-c', PLAN],
                env={
                    'PYTHONHASHSEED': seed,
                    'PYTHONPATH': ':'.join(filter(None, sys.path)),
                },
                cwd=places.TOP,
                capture_output=True,
                text=True,
                check=True,
            )
            plans.append(json.loads(completed.stdout.splitlines()[-1]))
        self.assertTrue(plans[0])
        self.assertEqual(plans[0], plans[1])

    def test_the_cluster_stays_as_it_is(self) -> None:
        small = small_clusters.generated(4)
        free = small.free.copy()
        method.most_slots(small, 10)
        np.testing.assert_array_equal(free, small.free)
