# SPDX-License-Identifier: Apache-2.0
"""Is it named what NUMA nodes lack for one more server, and who uses it?"""

from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import flavors, host_slots, node_shortages
from kronos.engine.slots.numa_nodes import HostNodes, NodeLayout, NumaDemand
from kronos.engine.types import Flavor
from tests.builders import numa

BUSY = {'a1': ('a', [(0, 4)]), 'a2': ('a', [(1, 6)]), 'b1': ('b', [(0, 2)])}


class TestRows(base.BaseTestCase):
    def rows(self, demand: NumaDemand, *used: int) -> dict[str, Any]:
        nodes = HostNodes(NodeLayout(len(used), 8, 1000))
        for node, cpus in enumerate(used):
            nodes.take(NumaDemand(((cpus, 100 * cpus),), True), (node,))
        slots = nodes.slots(demand, 9)
        return node_shortages.rows(nodes, demand, slots)

    def test_the_closest_node(self) -> None:
        rows = self.rows(NumaDemand(((6, 300),), True), 4, 7)
        row = {'required': 6, 'free': 4, 'missing': 2, 'capacity': 8}
        self.assertEqual({'PCPU of node 0': row}, rows)

    def test_one_more_than_fit(self) -> None:
        rows = self.rows(NumaDemand(((3, 30),), True), 8, 4)
        self.assertEqual(2, rows['PCPU of node 1']['missing'])
        self.assertEqual(4, rows['PCPU of node 1']['free'])

    def test_memory(self) -> None:
        rows = self.rows(NumaDemand(((1, 900),), False), 2, 4)
        self.assertEqual({'MEMORY_MB of node 0'}, {*rows})
        self.assertEqual(100, rows['MEMORY_MB of node 0']['missing'])

    def test_several_nodes(self) -> None:
        rows = self.rows(NumaDemand(((6, 60), (6, 60)), True), 4, 1, 7)
        self.assertEqual({'PCPU of node 0'}, {*rows})

    def test_nothing(self) -> None:
        nodes = HostNodes(NodeLayout(2, 8, 1000))
        demand = NumaDemand(((8, 80),), True)
        self.assertEqual({}, node_shortages.rows(nodes, demand, 1))


class TestDocument(base.BaseTestCase):
    """6 CPUs are free on host a, at most 4 of them on one node."""

    def document(self, flavor: Flavor, host: str = 'a') -> dict[str, Any]:
        scope = numa.scope(BUSY)
        return host_slots.document(
            scope,
            host,
            flavors.of(flavor),
            Settings(allowed_extra_specs=['hw:*']),
            numa.facts_of(scope),
        )

    def test_node(self) -> None:
        answer = self.document(numa.flavor(6))
        self.assertEqual((0, ''), (answer['slots'], answer['closed']))
        [row] = answer['lacking']
        self.assertEqual(
            ('PCPU of node 0', 2), (row['resource'], row['missing'])
        )
        self.assertEqual(
            [('a1', {'PCPU of node 0': 4})],
            [
                (each['instance'], each['amounts'])
                for each in answer['servers']
            ],
        )
        self.assertIn('at least 2 PCPU of node 0', answer['remedy'])

    def test_whole_host(self) -> None:
        """Placement lacks it as well."""
        answer = self.document(numa.flavor(8))
        self.assertEqual(
            ['PCPU', 'PCPU of node 0'],
            [row['resource'] for row in answer['lacking']],
        )
        amounts = {
            each['instance']: each['amounts'] for each in answer['servers']
        }
        self.assertEqual({'PCPU': 4, 'PCPU of node 0': 4}, amounts['a1'])
        self.assertEqual({'PCPU': 6, 'PCPU of node 0': 0}, amounts['a2'])

    def test_slots(self) -> None:
        self.assertEqual(1, self.document(numa.flavor(8), 'b')['slots'])

    def test_not_known(self) -> None:
        scope = numa.scope(BUSY, layouts={})
        answer = host_slots.document(
            scope, 'a', flavors.of(numa.flavor(8)), Settings()
        )
        self.assertEqual(0, answer['slots'])
        self.assertIn('numa_cells', answer['closed'])
