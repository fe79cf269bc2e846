# SPDX-License-Identifier: Apache-2.0
"""Does the state of NUMA nodes follow each move, and each that is undone?"""

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


def state(snapshot: Snapshot, apart: bool = False) -> NodeState:
    flavor = flavors.of(numa.flavor(8))
    assert flavor.numa is not None
    facts = numa.facts_of(snapshot)
    return NodeState(snapshot, facts, flavor, flavor.numa, Settings(), apart)


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
        snapshot = numa.scope(SERVERS, layouts={'b': numa.LAYOUT})
        self.assertEqual({'b'}, {*state(snapshot).hosts})
        self.assertEqual({'b1'}, {*state(snapshot).places})

    def test_other_cpus(self) -> None:
        """Dedicated CPUs are on no host that shares its own."""
        snapshot = numa.scope({'a1': ('a', [(0, 4)])})
        headroom = snapshot.hosts['b'].headroom
        assert headroom is not None
        headroom['VCPU'] = headroom.pop('PCPU')
        own = state(snapshot)
        self.assertEqual({'a', 'b'}, {*own.hosts})
        self.assertIsNone(own.to('a1', 'b'))
        self.assertEqual(0, own.slots('b'))

    def test_closed(self) -> None:
        """It has no slot, but its servers may leave it."""
        snapshot = numa.scope(SERVERS)
        snapshot.hosts['b'].excluded = 1.0
        self.assertEqual({'a', 'b'}, {*state(snapshot).hosts})
        self.assertEqual(0, state(snapshot).slots('b'))

    def test_apart(self) -> None:
        snapshot = numa.scope({'a1': ('a', [(0, 4)])})
        self.assertEqual(3, state(snapshot).total())
        self.assertEqual(2, state(snapshot, apart=True).total())
