# SPDX-License-Identifier: Apache-2.0
"""Are the most slots planned, proven and reachable move by move?"""

import dataclasses

import numpy as np
from oslotest import base

from kronos.extensions.room.planning.cluster import Cluster
from kronos.extensions.room.planning.market import checking, plans, proofs
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.ordering import Move
from tests.unit.extensions.room.planning import small_clusters
from tests.unit.extensions.room.planning.market import scope_cases

MOVES = (3, 10)
SEEDS = range(5)


def planned(small: Cluster, moves: int) -> list[Move]:
    plan = plans.MarketPlan(scope_cases.of_nodes(small), Aim.MOST, moves)
    result = plan.carried_out(None, moves)
    return result.moves if result else []


class TestMostSlots(base.BaseTestCase):
    def assert_best(self, nodes: int) -> None:
        gains = 0
        for seed in SEEDS:
            small = small_clusters.generated(seed, nodes)
            before = last = int(small.slot_counts(small.free).sum())
            case = scope_cases.of_nodes(small)
            for moves in MOVES:
                plan = planned(small, moves)
                best = small_clusters.most_by_counts(small, moves)
                after = small_clusters.carry_out(small, plan)
                task = seed, moves
                self.assertLessEqual(len(plan), moves, task)
                self.assertEqual(best, after, task)
                certificate = proofs.most(case, moves, best)
                assert certificate is not None
                self.assertLessEqual(best, certificate.number, task)
                self.assertLessEqual(certificate.number, best + 1, task)
                verdict = checking.check(case, certificate)
                self.assertTrue(verdict.holds, task)
                self.assertGreaterEqual(after, last, task)
                last = after
                gains += after - before
        self.assertGreater(gains, 5)

    def test_hosts_as_a_whole(self) -> None:
        self.assert_best(nodes=1)

    def test_numa_nodes(self) -> None:
        self.assert_best(nodes=2)

    def test_no_migration_allowed(self) -> None:
        self.assertEqual([], planned(small_clusters.generated(1), 0))

    def test_split_kinds_change_nothing(self) -> None:
        small = small_clusters.generated(7)
        after = small_clusters.carry_out(small, planned(small, 10))
        first = small.ways[0]
        ways = (*small.ways, dataclasses.replace(first, kind=small.kinds))
        servers = {}
        for (host, way), names in small.servers.items():
            half = len(names) // 2 if way == 0 else 0
            servers[host, len(small.ways)] = names[:half]
            servers[host, way] = names[half:]
        servers = {place: names for place, names in servers.items() if names}
        split = dataclasses.replace(small, ways=ways, servers=servers)
        self.assertEqual(
            after, small_clusters.carry_out(split, planned(split, 10))
        )

    def test_groups_hold_at_every_step(self) -> None:
        for seed in SEEDS:
            small = small_clusters.generated(seed)
            apart = {
                names[0]: frozenset(['web'])
                for (_, way), names in sorted(small.servers.items())
                if way == seed % 3
            }
            small = dataclasses.replace(small, apart=apart)
            small_clusters.carry_out(small, planned(small, 10))

    def test_overfull_host(self) -> None:
        """It has no slots, takes no server, and may be relieved."""
        small = small_clusters.cluster(
            [[-4], [20], [12]],
            {(0, 0): ['a'], (2, 0): ['b'], (1, 0): ['c']},
            [4],
        )
        (move,) = planned(small, 2)
        self.assertEqual(('b', 'cmp1'), (move.server, move.destination))

    def test_the_cluster_stays_as_it_is(self) -> None:
        small = small_clusters.generated(4)
        free = small.free.copy()
        planned(small, 10)
        np.testing.assert_array_equal(free, small.free)
