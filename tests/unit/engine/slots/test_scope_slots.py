# SPDX-License-Identifier: Apache-2.0
"""Are slots counted by scope, then by flavor, with a reason where not?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import scope_slots
from kronos.engine.slots.scope_slots import ScopeSlots
from kronos.engine.types import Flavor
from tests.unit.engine.slots import test_counting

SPECS = {'numa': {'hw:numa_nodes': '2'}}
FLAVORS = {
    name: Flavor(name, name, vcpus, 8, 0, 0, 0, SPECS.get(name, {}))
    for name, vcpus in (('f8', 8), ('f4', 4), ('numa', 4))
}


class TestCount(base.BaseTestCase):
    def count(self, *names: str) -> ScopeSlots:
        scopes = [
            test_counting.snapshot(a=(9, 16), b=(7, 90)),
            test_counting.snapshot(c=(8, 16)),
        ]
        return scope_slots.count(scopes, FLAVORS, names, Settings())

    def test_all(self) -> None:
        """By name, in each scope."""
        counted = self.count()
        self.assertEqual(
            [('f4', 3), ('f8', 1), ('f4', 2), ('f8', 1)],
            [(each.flavor, each.total) for each in counted.slots],
        )
        self.assertEqual(['numa'], [*counted.refused])
        self.assertIn('hw:numa_nodes', counted.refused['numa'])

    def test_named(self) -> None:
        """In the order of the question, each once."""
        counted = self.count('f8', 'f4', 'f8')
        self.assertEqual(
            ['f8', 'f4'] * 2, [each.flavor for each in counted.slots]
        )
        self.assertEqual({}, counted.refused)
