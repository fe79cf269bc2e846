# SPDX-License-Identifier: Apache-2.0
"""Are the servers found without which there would be room?"""

import dataclasses
from unittest import mock

from oslotest import base

from kronos.extensions.room.planning import staying
from kronos.extensions.room.planning.cluster import Way
from kronos.extensions.room.planning.counts import SlotTarget
from kronos.extensions.room.planning.scope_case import ScopeCase
from tests.unit.extensions.room.planning import placements, small_clusters
from tests.unit.extensions.room.planning.market import scope_cases


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
        case = ScopeCase(small, (SlotTarget((16,), 1),), ('f16',), ('VCPU',))
        return staying.blocking(case, frozenset(movable))

    def test_as_few_as_possible(self) -> None:
        """Servers that may move come first."""
        self.assertEqual(['a'], self.blocking())
        self.assertEqual([], self.blocking('a', 'c'))

    def test_large_scope(self) -> None:
        """By priced trades, as by counts."""
        with mock.patch.object(staying, 'SMALL', 0):
            self.test_as_few_as_possible()

    def test_same_numbers(self) -> None:
        """Priced trades name as many as counts do, or hardly more."""
        names = [0, 0]
        for seed in range(100, 116):
            small = placements.generated(seed)
            every = [n for names in small.servers.values() for n in names]
            before = int(small.slot_counts(small.free).sum())
            case = scope_cases.case(small, before + 2)
            movable = frozenset(every[::2])
            for place, most in enumerate((10**6, 0)):
                with mock.patch.object(staying, 'SMALL', most):
                    blocking = staying.blocking(case, movable)
                    names[place] += len(blocking)
        self.assertGreater(names[0], 5)
        self.assertLessEqual(names[0], names[1])
        self.assertLess(names[1], 1.1 * names[0])
