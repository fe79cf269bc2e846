# SPDX-License-Identifier: Apache-2.0
"""Are slots counted per NUMA node, and hosts with a doubt left out?"""

import dataclasses

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import counting, flavors, numa_facts
from kronos.engine.slots.counting import Slots
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Flavor, Headroom, Snapshot
from tests.builders import numa

BUSY = {'a1': ('a', [(0, 4)]), 'a2': ('a', [(1, 4)]), 'b1': ('b', [(0, 6)])}


def counted(snapshot: Snapshot, flavor: Flavor) -> Slots:
    return counting.count(snapshot, flavors.of(flavor), Settings())


class TestCount(base.BaseTestCase):
    def test_pinned(self) -> None:
        """8 CPUs are free on host a, and no server of 8 fits."""
        scope = numa.scope(BUSY)
        self.assertEqual(
            {'a': 0, 'b': 1}, counted(scope, numa.flavor(8)).hosts
        )
        self.assertEqual(
            {'a': 2, 'b': 2}, counted(scope, numa.flavor(4)).hosts
        )

    def test_several_nodes(self) -> None:
        flavor = numa.flavor(8, numa_nodes='2', cpu_policy='dedicated')
        self.assertEqual(
            {'a': 1, 'b': 0}, counted(numa.scope(BUSY), flavor).hosts
        )

    def test_shared(self) -> None:
        """CPUs may be used twice, the memory of a node may not."""
        layout = NodeLayout(2, 8, 1000)
        scope = numa.scope(BUSY, layout=layout, pinned=False)
        for host in scope.hosts.values():
            assert host.headroom is not None
            host.headroom['VCPU'].capacity *= 2
        flavor = numa.flavor(6, numa_nodes='1')
        self.assertEqual({'a': 2, 'b': 1}, counted(scope, flavor).hosts)

    def test_placement_has_less(self) -> None:
        """What Placement reserves is in no node."""
        scope = numa.scope(BUSY)
        headroom = scope.hosts['b'].headroom
        assert headroom is not None
        headroom['MEMORY_MB'].capacity = 700
        self.assertEqual(
            {'a': 2, 'b': 0}, counted(scope, numa.flavor(4)).hosts
        )


class TestWhyNone(base.BaseTestCase):
    """Each doubt is one sentence, and concerns its host alone."""

    def why(self, snapshot: Snapshot) -> str:
        slots = counted(snapshot, numa.flavor(8))
        self.assertEqual({'b': 1}, slots.hosts)
        return slots.closed['a']

    def test_not_configured(self) -> None:
        scope = numa.scope(BUSY, layouts={'b': numa.LAYOUT})
        self.assertIn('no aggregate of it is in numa_cells', self.why(scope))

    def test_no_facts(self) -> None:
        scope = numa.scope(BUSY)
        scope.beside.clear()
        self.assertEqual({}, counted(scope, numa.flavor(8)).hosts)

    def test_topology(self) -> None:
        whole = numa.facts_of(numa.scope(BUSY)).topologies
        for nodes, change, text in (
            (None, {}, 'Nova does not show the NUMA topology of server a1'),
            ([], {}, 'Nova does not show the NUMA topology of server a1'),
            ([(0, 4)], {'page_size_kb': 2048}, 'uses pages of 2048 KiB'),
            ([(2, 4)], {}, 'server a1 is on node 2, and numa_cells has 2'),
            ([(0, 4)], {'host': 'b'}, 'another scope moves server a1 there'),
        ):
            topologies = dict(whole)
            del topologies['a1']
            if nodes is not None:
                topologies['a1'] = dataclasses.replace(
                    numa.topology(nodes), **change
                )
            scope = numa.scope(BUSY, topologies=topologies)
            self.assertIn(text, self.why(scope))

    def test_mixed(self) -> None:
        whole = numa.facts_of(numa.scope(BUSY)).topologies
        partly = numa.topology([(0, 4)])
        partly.nodes[0] = dataclasses.replace(partly.nodes[0], pinned=2)
        for topology, text in (
            (partly, 'server a1 has floating and dedicated CPUs'),
            (numa.topology([(0, 4)], False), 'floating and with dedicated'),
        ):
            scope = numa.scope(BUSY, topologies={**whole, 'a1': topology})
            self.assertIn(text, self.why(scope))

    def test_extra_specs(self) -> None:
        for key, value in (
            ('hw:cpu_thread_policy', 'isolate'),
            ('hw:emulator_threads_policy', 'isolate'),
            ('pci_passthrough:alias', 'nic:1'),
            ('hw:mem_page_size', '1GB'),
        ):
            scope = numa.scope(BUSY)
            scope.instances['a1'].extra_specs = {**numa.PINNED, key: value}
            self.assertIn(
                f'server a1 has the extra spec {key}={value}', self.why(scope)
            )

    def test_inventory(self) -> None:
        for headroom, text in (
            ({'PCPU': Headroom(12, 8)}, '2 nodes of 8 CPUs, and Placement'),
            ({'VCPU': Headroom(12, 8)}, 'both shared and dedicated CPUs'),
            ({'PCPU': Headroom(16, 10)}, '8 dedicated CPUs, and Placement'),
        ):
            scope = numa.scope(BUSY)
            host = scope.hosts['a']
            assert host.headroom is not None
            host.headroom |= headroom
            self.assertIn(text, self.why(scope))

    def test_small_pages(self) -> None:
        scope = numa.scope(BUSY)
        scope.instances['a1'].extra_specs['hw:mem_page_size'] = 'small'
        self.assertEqual({'a', 'b'}, {*counted(scope, numa.flavor(4)).hosts})


class TestFactsOf(base.BaseTestCase):
    def test_beside(self) -> None:
        scope = numa.scope(BUSY)
        facts = numa_facts.of([object(), *scope.beside.values()])
        self.assertEqual({'a', 'b'}, {*facts.layouts})
        self.assertEqual({}, numa_facts.of([]).layouts)
