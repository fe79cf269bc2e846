# SPDX-License-Identifier: Apache-2.0
"""Is the node that Nova chooses known, and how many servers nodes take?"""

from oslotest import base

from kronos.engine.slots.numa_nodes import (
    HostNodes,
    NodeLayout,
    NodeLimits,
    NumaDemand,
)


def pinned(*cpus: int) -> NumaDemand:
    """With 100 MiB a CPU."""
    return NumaDemand(tuple((each, 100 * each) for each in cpus), True)


def nodes(*used: int, packing: bool = False, cpus: int = 8) -> HostNodes:
    """Nodes of 8 CPUs, of which servers use some."""
    host = HostNodes(NodeLayout(len(used), cpus, 8000, packing))
    for node, each in enumerate(used):
        host.take(pinned(each), (node,))
    return host


class TestChoice(base.BaseTestCase):
    def test_one_node(self) -> None:
        for used, packing, expected in (
            ((0, 0), False, (0,)),
            ((2, 0), False, (1,)),
            ((2, 0), True, (0,)),
            ((5, 2), True, (1,)),
            ((5, 5), False, None),
            ((0, 4, 2), False, (0,)),
            ((4, 1, 1), False, (1,)),
        ):
            host = nodes(*used, packing=packing)
            self.assertEqual(expected, host.choice(pinned(4)), used)

    def test_memory_breaks_ties(self) -> None:
        host = nodes(2, 2)
        host.memory_mb = [900, 300]
        self.assertEqual((1,), host.choice(pinned(4)))

    def test_several_nodes(self) -> None:
        self.assertEqual((2, 0), nodes(2, 3, 0).choice(pinned(4, 4)))
        self.assertEqual((1, 2), nodes(5, 2, 3).choice(pinned(4, 4)))
        self.assertIsNone(nodes(5, 5, 0).choice(pinned(4, 4)))

    def test_as_many_nodes_as_the_host(self) -> None:
        """They are not sorted, and a larger node goes where it fits."""
        self.assertEqual((0, 1), nodes(3, 0).choice(pinned(4, 4)))
        self.assertEqual((1, 0), nodes(4, 2).choice(pinned(6, 2)))
        self.assertIsNone(nodes(4, 4).choice(pinned(6, 2)))

    def test_shared(self) -> None:
        """More than the CPUs of a node may be used, but by no one server."""
        host = HostNodes(NodeLayout(2, 4, 1000), NodeLimits(8, 1000))
        demand = NumaDemand(((4, 300),), False)
        self.assertEqual(3, host.slots(demand, 3))
        self.assertEqual(4, host.slots(demand, 9))
        self.assertEqual(0, host.slots(NumaDemand(((5, 10),), False), 9))


class TestSlots(base.BaseTestCase):
    def test_servers(self) -> None:
        host = nodes(2, 5)
        self.assertEqual(3, host.slots(pinned(3), 9))
        self.assertEqual(1, host.slots(pinned(3), 1))
        self.assertEqual(1, host.slots(pinned(3, 3), 9))
        self.assertEqual([2, 5], host.cpus)

    def test_release(self) -> None:
        host = nodes(2, 5)
        host.release(pinned(5), (1,))
        self.assertEqual([2, 0], host.cpus)
        self.assertEqual([200, 0], host.memory_mb)
