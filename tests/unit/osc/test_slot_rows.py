# SPDX-License-Identifier: Apache-2.0
"""Have the rows of slots a number for each scope, or host?"""

from oslotest import base

from kronos.engine.slots.counting import Slots
from kronos.engine.slots.scope_slots import ScopeSlots
from kronos.osc import slot_rows

COUNTED = ScopeSlots(
    [Slots('a', 'f4', {'c3': 0, 'c1': 2}, 5, {'c2': 'it is disabled'})], {}
)


class TestRows(base.BaseTestCase):
    def test_scopes(self) -> None:
        self.assertEqual(
            (slot_rows.SCOPES, [('a', 'f4', 2, 5, 1)]),
            slot_rows.scopes(COUNTED),
        )

    def test_hosts(self) -> None:
        """By name, whether they take servers or not."""
        names, rows = slot_rows.by_host(COUNTED)
        self.assertEqual(slot_rows.HOSTS, names)
        self.assertEqual(
            [
                ('a', 'c1', 'f4', 2, ''),
                ('a', 'c2', 'f4', 0, 'it is disabled'),
                ('a', 'c3', 'f4', 0, ''),
            ],
            rows,
        )
