# SPDX-License-Identifier: Apache-2.0
"""Is the bound on slots never too low, and tight where it is by hand?"""

from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import flavors
from kronos.engine.types import Flavor, Snapshot
from kronos.extensions.room.planning import node_bounds
from kronos.extensions.room.planning.node_state import NodeState
from tests.builders import numa

SERVERS = {
    'a1': ('a', [(0, 4)]),
    'a2': ('a', [(1, 4)]),
    'b1': ('b', [(1, 6)]),
}


def bound(
    snapshot: Snapshot, flavor: Flavor, *movable: str, **more: Any
) -> int | None:
    target = flavors.of(flavor)
    facts = numa.facts_of(snapshot)
    state = NodeState(snapshot, facts, [target], Settings(), apart=False)
    return node_bounds.most(snapshot, state, 0, target, movable, **more)


class TestMost(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.snapshot = numa.scope(SERVERS)

    def test_numbers(self) -> None:
        """By hand: 18 CPUs are free, and a node has 8."""
        two = {'cpu_policy': 'dedicated', 'numa_nodes': '2'}
        for flavor, movable, slots in (
            (numa.flavor(8), SERVERS, 2),
            (numa.flavor(8), ('a1',), 2),
            (numa.flavor(8), (), 1),
            (numa.flavor(2), SERVERS, 9),
            (numa.flavor(2), (), 9),
            (numa.flavor(6), SERVERS, 3),
            (numa.flavor(6), (), 1),
            (numa.flavor(16, **two), SERVERS, 1),
            (numa.flavor(16, **two), ('a1',), 0),
        ):
            self.assertEqual(
                slots, bound(self.snapshot, flavor, *movable), movable
            )

    def test_limit(self) -> None:
        snapshot = numa.scope({})
        self.assertEqual(4, bound(snapshot, numa.flavor(8)))
        self.assertEqual(2, bound(snapshot, numa.flavor(8), limit=1))

    def test_closed_hosts(self) -> None:
        """They have no slot, but servers may go there."""
        self.snapshot.hosts['b'].excluded = 1.0
        self.assertEqual(2, bound(self.snapshot, numa.flavor(8), *SERVERS))
        self.assertEqual(0, bound(self.snapshot, numa.flavor(8)))

    def test_without_topology(self) -> None:
        snapshot = numa.scope(SERVERS, pinned=False)
        plain = Flavor('plain', 'plain', 10, 1000)
        self.assertEqual(1, bound(snapshot, plain))

    def test_not_known(self) -> None:
        """Such a host may take all servers of the others."""
        self.snapshot.hosts['b'].headroom = None
        self.assertIsNone(bound(self.snapshot, numa.flavor(8)))
