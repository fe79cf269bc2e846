# SPDX-License-Identifier: Apache-2.0
"""Is the best column of every host the best of all that there are?"""

import itertools

import numpy as np
from oslotest import base

from kronos.extensions.room.planning import columns, dynamic
from kronos.extensions.room.planning.cluster import Cluster, HostClasses, Way
from kronos.extensions.room.planning.columns import Prices
from kronos.extensions.room.planning.dynamic import DynamicPricing
from tests.unit.extensions.room.planning import small_clusters

PRICES = Prices((0.21, 0.4), 0.15)


def tiny(free: list[list[int]], nodes: int) -> Cluster:
    """Servers of 3 CPUs on a node, and of 4 on the node, or on both."""
    if nodes == 1:
        ways = [Way(0, (3,)), Way(1, (4,))]
        slots = ((6,),)
    else:
        ways = [Way(0, (3, 0)), Way(0, (0, 3)), Way(1, (4, 4))]
        slots = ((6, 0), (0, 6))
    servers = {
        (host, way): tuple(f'{host}-{way}-{n}' for n in range(host + way))
        for host in range(len(free))
        for way in range(len(ways))
    }
    hosts = tuple(f'cmp{number}' for number in range(len(free)))
    return Cluster(hosts, np.array(free), tuple(ways), slots, servers, nodes)


def best_of_all(cluster: Cluster, host: int, prices: Prices) -> float:
    """By trying what may leave and enter."""
    counts = cluster.counts()[host]
    worth = prices.of_ways(cluster)
    base = cluster.slot_counts(cluster.free[host])
    best = 0.0
    for outs in itertools.product(*(range(n + 1) for n in counts)):
        freed = cluster.free[host] + np.array(outs) @ cluster.demands
        for ins in itertools.product(range(6), repeat=len(counts)):
            after = freed - np.array(ins) @ cluster.demands
            if any(ins) and (after < 0).any():
                continue
            value = float(cluster.slot_counts(after) - base)
            value += float(np.array(ins) @ worth)
            value -= float(np.array(outs) @ (worth + prices.move))
            best = max(best, value)
    return best


class TestDynamicPricing(base.BaseTestCase):
    def assert_best(self, cluster: Cluster) -> None:
        classes = HostClasses.of(cluster)
        pricing = DynamicPricing(cluster, classes)
        values = pricing.values(PRICES)
        worth = PRICES.of_ways(cluster)
        for host, host_class in enumerate(classes.class_of.tolist()):
            best = best_of_all(cluster, host, PRICES)
            value = max(0.0, float(values[host_class]))
            self.assertAlmostEqual(best, value, msg=str(host))
            column = pricing.column(host_class)
            self.assertEqual(host_class, column.host_class)
            outs, ins = np.array(column.outs), np.array(column.ins)
            self.assertTrue((outs <= classes.counts[host_class]).all())
            free = classes.free[host_class]
            gain = columns.gain(cluster, free, column)
            self.assertAlmostEqual(
                float(values[host_class]),
                gain + ins @ worth - outs @ (worth + PRICES.move),
            )

    def test_hosts_as_a_whole(self) -> None:
        self.assert_best(tiny([[5], [2], [3], [10]], 1))

    def test_two_nodes(self) -> None:
        self.assert_best(tiny([[5, 1], [2, 4], [0, 5]], 2))

    def test_overfull(self) -> None:
        self.assert_best(tiny([[1], [-2], [-9]], 1))

    def test_what_it_is_exact_for(self) -> None:
        small = small_clusters.generated(1)
        self.assertTrue(dynamic.is_exact_for(small))
        memory = Cluster(('a',), np.array([[4, 9]]), (), ((1, 2),), {})
        nodes = Cluster(
            ('a',), np.array([[4, 9]]), (Way(0, (1, 2)),), ((1, 0),), {}, 2
        )
        for other in (memory, nodes):
            self.assertFalse(dynamic.is_exact_for(other))
            self.assertRaises(
                ValueError, DynamicPricing, other, HostClasses.of(other)
            )
