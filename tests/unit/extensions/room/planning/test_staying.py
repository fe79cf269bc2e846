# SPDX-License-Identifier: Apache-2.0
"""Are the servers found without which there would be room?"""

import dataclasses

from oslotest import base

from kronos.extensions.room.planning import staying
from kronos.extensions.room.planning.cluster import Way
from kronos.extensions.room.planning.counts import Wanted
from kronos.extensions.room.planning.scope_case import ScopeCase
from tests.unit.extensions.room.planning import small_clusters


class TestBlocking(base.BaseTestCase):
    def blocking(self, *movable: str) -> list[str]:
        """One of 16 CPUs is wanted, and a host has 12 of them free."""
        small = small_clusters.cluster(
            [[12], [4], [4]],
            {(0, 0): ['a'], (0, 1): ['b'], (1, 0): ['c']},
            [4, 8],
        )
        ways = (Way(0, (4,)), Way(1, (8,)))
        small = dataclasses.replace(small, ways=ways)
        case = ScopeCase(small, (Wanted((16,), 1),), ('f16',), ('VCPU',))
        return staying.blocking(case, frozenset(movable))

    def test_as_few_as_possible(self) -> None:
        """Servers that may move come first."""
        self.assertEqual(['a'], self.blocking())
        self.assertEqual([], self.blocking('a', 'c'))
