# SPDX-License-Identifier: Apache-2.0
"""Does a host account for servers with nodes, and for others without?"""

from typing import Any

from oslotest import base

from kronos.engine.slots import flavors
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.slots.numa_nodes import HostNodes, NumaDemand
from kronos.engine.types import Flavor
from kronos.extensions.room.planning import host_state
from kronos.extensions.room.planning.host_state import Filling, HostState
from tests.builders import numa, policies

PINNED = NumaDemand(((4, 400),), True)
SHARED = NumaDemand(((4, 400),), False)


def pinned(cpus: int) -> SlotFlavor:
    return flavors.of(numa.flavor(cpus))


def plain(cpus: int) -> SlotFlavor:
    return flavors.of(Flavor('plain', 'plain', cpus, 100 * cpus))


def state(**free: int) -> HostState:
    """A host with two free nodes of 8 CPUs."""
    amounts = {'PCPU': 16, 'MEMORY_MB': 16_000, **free}
    return HostState(amounts, HostNodes(numa.LAYOUT), 'VCPU' not in free)


class TestSlots(base.BaseTestCase):
    def test_numbers(self) -> None:
        for host, flavor, most, slots in (
            (state(), pinned(6), None, 2),
            (state(), pinned(6), 1, 1),
            (state(PCPU=11), pinned(6), None, 1),
            (state(MEMORY_MB=-1), pinned(6), None, 0),
            (HostState(state().free), pinned(6), None, 0),
            (HostState({'VCPU': 9, 'MEMORY_MB': 999}), plain(4), None, 2),
        ):
            self.assertEqual(slots, host.slots(flavor, most))

    def test_create(self) -> None:
        """Until no node has as much free."""
        host = state()
        self.assertEqual(
            [True, True, False], [host.create(pinned(6)) for _ in range(3)]
        )
        self.assertEqual({'PCPU': 4, 'MEMORY_MB': 14_800}, host.free)
        self.assertEqual(16, state().copy().free['PCPU'])


class TestServers(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.server = policies.instance('vm', 'a', vcpus=4, memory_mb=400)

    def test_choice(self) -> None:
        """Dedicated and shared CPUs are on hosts of their own."""
        shared: Any = {'VCPU': 16}
        for host, demand, nodes in (
            (state(), PINNED, (0,)),
            (state(), SHARED, None),
            (state(**shared), SHARED, (0,)),
            (HostState(state().free, None, True), PINNED, None),
            (state(**shared), None, ()),
            (state(VCPU=3), None, None),
        ):
            self.assertEqual(nodes, host.choice(self.server, demand))

    def test_add(self) -> None:
        host = state()
        host.add(self.server, PINNED, (1,), 1)
        self.assertEqual(12, host.free['PCPU'])
        self.assertEqual(4, host.fill(PINNED))
        host.add(self.server, PINNED, (1,), -1)
        self.assertEqual(16, host.free['PCPU'])
        self.assertEqual(0, host.fill(PINNED))

    def test_fill(self) -> None:
        """Without nodes, the less is free the fuller a host is."""
        self.assertEqual(-5, HostState({'VCPU': 5}).fill(None))


class TestFilling(base.BaseTestCase):
    ORDER = (pinned(8), pinned(4))

    def filling(self, *hosts: str, **more: Any) -> Filling:
        return Filling(self.ORDER, [frozenset(hosts)] * 2, **more)

    def test_slots(self) -> None:
        filling = self.filling('a')
        for reserved, slots in (((), 2), ((0,), 4), ((1,), 2), ((3,), -1)):
            self.assertEqual(slots, filling.slots('a', state(), reserved))
        self.assertEqual(0, filling.slots('b', state(), ()))

    def test_apart(self) -> None:
        filling = self.filling('a', apart=True)
        for reserved, slots in (((), 1), ((0,), 1), ((1,), 0)):
            self.assertEqual(slots, filling.slots('a', state(), reserved))

    def test_loss(self) -> None:
        """Two servers of 4 CPUs fit no more beside one of 8."""
        self.assertEqual(8, self.filling('a').loss('a', state(), [0]))
        self.assertEqual(0, self.filling('b').loss('a', state(), [0]))

    def test_size(self) -> None:
        self.assertEqual((8, 800, 'p8'), host_state.size(pinned(8)))
        self.assertEqual((3, 300, 'plain'), host_state.size(plain(3)))
