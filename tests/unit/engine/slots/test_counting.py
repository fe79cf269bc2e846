# SPDX-License-Identifier: Apache-2.0
"""Are slots counted per host, as Placement would count them?"""

import dataclasses

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import counting
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.types import Headroom, Snapshot
from tests.builders import policies

F4 = SlotFlavor('f4', {'VCPU': 4, 'MEMORY_MB': 8})


def snapshot(**free: tuple[int, int]) -> Snapshot:
    """Hosts by name with their free CPUs and memory."""
    scope = policies.snapshot({'cpu': dict.fromkeys(free, 0.5)})
    for name, (cpus, memory) in free.items():
        scope.hosts[name].headroom = {
            'VCPU': Headroom(100, 100 - cpus),
            'MEMORY_MB': Headroom(100, 100 - memory),
        }
    return scope


class TestCount(base.BaseTestCase):
    def count(
        self, scope: Snapshot, flavor: SlotFlavor = F4
    ) -> counting.Slots:
        return counting.count(scope, flavor, Settings())

    def test_scarcest(self) -> None:
        """16 CPUs are free on two hosts, and they take three servers."""
        slots = self.count(snapshot(a=(9, 16), b=(7, 90)))
        self.assertEqual({'a': 2, 'b': 1}, slots.hosts)
        self.assertEqual((3, 4), (slots.total, slots.by_sum))

    def test_overfull(self) -> None:
        """What a host lacks is taken from no other."""
        slots = self.count(snapshot(a=(-40, 90), b=(8, 90)))
        self.assertEqual({'a': 0, 'b': 2}, slots.hosts)
        self.assertEqual(2, slots.by_sum)

    def test_closed(self) -> None:
        scope = snapshot(a=(8, 16), b=(8, 16), c=(8, 16), d=(8, 16))
        assert scope.services is not None
        scope.services['a'] = policies.up('a', status='disabled')
        scope.hosts['b'].excluded = 1.0
        scope.hosts['c'].headroom = None
        slots = self.count(scope)
        self.assertEqual({'d': 2}, slots.hosts)
        self.assertEqual(2, slots.by_sum)
        self.assertEqual(['a', 'b', 'c'], [*slots.closed])
        self.assertIn('disabled', slots.closed['a'])
        self.assertEqual(counting.NO_INVENTORY, slots.closed['c'])

    def test_traits(self) -> None:
        scope = snapshot(a=(8, 16), b=(8, 16), c=(8, 16))
        scope.hosts['a'].traits = ['X']
        scope.hosts['b'].traits = ['X', 'Y']
        flavor = dataclasses.replace(
            F4, required=frozenset('X'), forbidden=frozenset('Y')
        )
        slots = self.count(scope, flavor)
        self.assertEqual({'a': 2}, slots.hosts)
        self.assertIn('trait Y', slots.closed['b'])
        self.assertEqual('it lacks the trait X', slots.closed['c'])

    def test_unknown_class(self) -> None:
        """A host without the resource class has none of it."""
        flavor = SlotFlavor('gpu', {'VCPU': 4, 'CUSTOM_FAST': 1})
        self.assertEqual(
            {'a': 0}, self.count(snapshot(a=(8, 8)), flavor).hosts
        )
