# SPDX-License-Identifier: Apache-2.0
"""Are hosts emptied one after the other as an order says?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning.search.packing.host_orders import HostOrders
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot
from tests.builders import packing
from tests.unit.engine.planning.search.packing.test_host_sets import (
    cheap_and_light,
)
from tests.unit.engine.planning.test_pack import CPU


def orders(most: int, **settings: Any) -> HostOrders:
    asked = {'max_migrations': 9, 'min_host_coverage': 0.0, **settings}
    snapshot: Snapshot = cheap_and_light()
    found = packing.packing(snapshot, [CPU], Settings(**asked)).scope
    return HostOrders(found, most, lambda _: True)


class TestOrders(base.BaseTestCase):
    def test_by_migrations_alone(self) -> None:
        """Then by load."""
        found = [each.tolist() for each in orders(3).orders(False)]
        self.assertEqual([[1, 2, 0, 3]], found)

    def test_all(self) -> None:
        """By load, and by the room of Placement and the ceiling."""
        found = [each.tolist() for each in orders(3).orders(True)]
        self.assertEqual([[1, 2, 0, 3], [0, 1, 2, 3]], found[:2])
        self.assertEqual(5, len(found))


class TestInTurn(base.BaseTestCase):
    def turn(
        self, order: list[int], number: int, **settings: Any
    ) -> list[int]:
        found = orders(3, **settings)
        made = found.in_turn(np.array(order), number, ejects=False)
        self.assertEqual(
            sorted(made.hosts), sorted({source for _, source, _ in made.moves})
        )
        return made.hosts

    def test_the_first_ones_take_nothing(self) -> None:
        """Two that may take what comes first stay as they are."""
        self.assertEqual([1, 2, 0], self.turn([1, 2, 0, 3], 3))
        made = orders(3).in_turn(np.array([1, 2, 0, 3]), 3, ejects=False)
        self.assertEqual({3}, {host for _, _, host in made.moves})

    def test_within_the_budget(self) -> None:
        """What does not fit into it is passed over."""
        self.assertEqual([1, 2], self.turn([0, 1, 2], 3, max_migrations=3))

    def test_no_more_than_can_be(self) -> None:
        made = orders(1).in_turn(np.array([2, 1]), 1, ejects=False)
        self.assertEqual([2], made.hosts)
