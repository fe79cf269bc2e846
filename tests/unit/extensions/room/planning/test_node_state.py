# SPDX-License-Identifier: Apache-2.0
"""Does the state of NUMA nodes follow each move, and each that is undone?"""

from collections.abc import Sequence

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import flavors
from kronos.engine.types import Snapshot
from kronos.extensions.room.planning.node_state import NodeMove, NodeState
from tests.builders import numa

SERVERS = {
    'a1': ('a', [(0, 4)]),
    'a2': ('a', [(1, 4)]),
    'b1': ('b', [(1, 6)]),
}


def state(
    snapshot: Snapshot, apart: bool = False, wanted: Sequence[int] = (8,)
) -> NodeState:
    """With room for flavors of so many CPUs."""
    facts = numa.facts_of(snapshot)
    order = [flavors.of(numa.flavor(cpus)) for cpus in wanted]
    return NodeState(snapshot, facts, order, Settings(), apart)


class TestMoves(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.state = state(numa.scope(SERVERS))

    def test_slots(self) -> None:
        self.assertEqual((0, 1), tuple(map(self.state.slots, 'ab')))
        self.assertEqual(1, self.state.total())

    def test_move(self) -> None:
        """Nova takes the node with the most free CPUs."""
        move = self.state.to('a1', 'b')
        self.assertEqual(NodeMove('a1', 'a', (0,), 'b', (0,)), move)
        assert move is not None
        self.state.make(move)
        self.assertEqual((1, 0), tuple(map(self.state.slots, 'ab')))
        self.assertEqual(('b', (0,)), self.state.places['a1'])
        self.state.take_back(move)
        self.assertEqual((0, 1), tuple(map(self.state.slots, 'ab')))
        self.assertEqual(('a', (0,)), self.state.places['a1'])

    def test_nowhere(self) -> None:
        self.assertIsNone(self.state.to('a1', 'a'))
        self.assertIsNone(self.state.to('b1', 'a'))

    def test_without(self) -> None:
        self.assertEqual(1, self.state.slots_without('a', ('a1',)))
        self.assertEqual(2, self.state.slots_without('a', ('a1', 'a2')))
        self.assertEqual(0, self.state.slots('a'))


class TestHosts(base.BaseTestCase):
    def test_not_known(self) -> None:
        """No server with a topology goes there or leaves it."""
        own = state(numa.scope(SERVERS, layouts={'b': numa.LAYOUT}))
        self.assertEqual({'b1'}, {*own.places})
        self.assertIsNone(own.to('b1', 'a'))
        self.assertEqual(0, own.slots('a'))

    def test_without_topology(self) -> None:
        """Such a server takes no nodes, but what Placement counts."""
        snapshot = numa.scope(SERVERS, pinned=False)
        numa.forget(snapshot, 'a1')
        own = state(snapshot)
        move = own.to('a1', 'b')
        self.assertEqual(NodeMove('a1', 'a', (), 'b', ()), move)

    def test_other_cpus(self) -> None:
        """Dedicated CPUs are on no host that shares its own."""
        snapshot = numa.scope({'a1': ('a', [(0, 4)])})
        headroom = snapshot.hosts['b'].headroom
        assert headroom is not None
        headroom['VCPU'] = headroom.pop('PCPU')
        own = state(snapshot)
        self.assertIsNone(own.to('a1', 'b'))
        self.assertEqual(0, own.slots('b'))

    def test_closed(self) -> None:
        """It has no slot, but its servers may leave it."""
        snapshot = numa.scope(SERVERS, hosts='abc')
        snapshot.hosts['b'].excluded = 1.0
        own = state(snapshot)
        self.assertEqual(0, own.slots('b'))
        self.assertFalse(own.takes('b'))
        self.assertIsNotNone(own.to('b1', 'c'))

    def test_apart(self) -> None:
        snapshot = numa.scope({'a1': ('a', [(0, 4)])})
        self.assertEqual(3, state(snapshot).total())
        self.assertEqual(2, state(snapshot, apart=True).total())


class TestReserved(base.BaseTestCase):
    """Two hosts, of which b has a node of 8 CPUs and one of 6 free."""

    def setUp(self) -> None:
        super().setUp()
        self.snapshot = numa.scope(
            {'a1': ('a', [(0, 4)]), 'b1': ('b', [(1, 2)])}
        )

    def test_next_flavor(self) -> None:
        """Slots of 8 CPUs are reserved where they cost none of 6."""
        own = state(self.snapshot, wanted=(8, 6))
        self.assertEqual((1, 1), tuple(map(own.slots, 'ab')))
        own.reserve(1)
        self.assertEqual((0, 2), tuple(map(own.slots, 'ab')))
        self.assertEqual({'a': 1, 'b': 2}, own.alone(1))

    def test_broken(self) -> None:
        """A server that takes what is reserved leaves less than none."""
        own = state(self.snapshot, wanted=(8, 6))
        own.reserve(2)
        self.assertEqual((0, 1), tuple(map(own.slots, 'ab')))
        move = own.to('a1', 'b')
        assert move is not None
        own.make(move)
        self.assertEqual(-1, own.slots('b'))

    def test_apart(self) -> None:
        """A host with a reserved slot takes no other new server."""
        own = state(self.snapshot, apart=True, wanted=(8, 6))
        own.reserve(1)
        self.assertEqual((0, 1), tuple(map(own.slots, 'ab')))
