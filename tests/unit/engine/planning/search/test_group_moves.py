# SPDX-License-Identifier: Apache-2.0
"""How far is a server group from its rule?"""

from types import SimpleNamespace
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning.search.group_moves import BrokenGroup, Regroup
from kronos.engine.types import ServerGroup


class TestExcess(base.BaseTestCase):
    def excess(
        self, policy: str, host_of: list[int], draining: int = -1, **more: Any
    ) -> int:
        """:param host_of: by member"""
        emptied = np.arange(4) == draining
        simulation: Any = SimpleNamespace(
            placement=SimpleNamespace(host_of=np.array(host_of)),
            utilization=None,
        )
        group = ServerGroup('g', policy, [], **more)
        found = Regroup(simulation, False, emptied)
        return found.excess(BrokenGroup(group, list(range(len(host_of)))))

    def test_together(self) -> None:
        """So many have to move to where most are."""
        for host_of, moves in (
            ([1, 1, 1], 0),
            ([1, 1, 2], 1),
            ([0, 1, 1, 2], 2),
            ([0, 1, 2, 3], 3),
        ):
            self.assertEqual(moves, self.excess('affinity', host_of))

    def test_together_and_a_host_that_is_emptied(self) -> None:
        """They do not gather on that one."""
        self.assertEqual(2, self.excess('affinity', [1, 1, 2], draining=1))
        self.assertEqual(1, self.excess('affinity', [1, 1, 2], draining=2))

    def test_apart(self) -> None:
        self.assertEqual(2, self.excess('anti-affinity', [1, 1, 1, 2]))
        self.assertEqual(
            1,
            self.excess('anti-affinity', [1, 1, 1, 2], max_server_per_host=2),
        )
