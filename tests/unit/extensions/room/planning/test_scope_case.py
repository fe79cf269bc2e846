# SPDX-License-Identifier: Apache-2.0
"""Is a scope counted with its rules, so that no program breaks them?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.types import Headroom
from kronos.extensions.room.planning import scope_case
from tests.builders import rooms
from tests.unit.extensions.room.planning import test_step_rules

F8 = SlotFlavor('f8', {'VCPU': 8, 'MEMORY_MB': 32})
F4 = SlotFlavor('f4', {'VCPU': 4, 'MEMORY_MB': 16})


class TestScopeCase(base.BaseTestCase):
    def case(
        self, apart: bool = False, closed: str = ''
    ) -> scope_case.ScopeCase:
        snapshot = rooms.scope()
        for name in closed:
            snapshot.hosts[name].excluded = 1.0
        return scope_case.of(
            test_step_rules.simulation(),
            snapshot,
            Settings(),
            [(F8, 1), (F4, 2)],
            apart,
        )

    def test_counts(self) -> None:
        case = self.case()
        cluster = case.cluster
        self.assertEqual(('a', 'b', 'c'), cluster.hosts)
        self.assertEqual(2, cluster.kinds)
        self.assertEqual([2, 2, 2], cluster.counts().sum(axis=1).tolist())
        self.assertEqual((1, 2), tuple(w.number for w in case.targets))
        self.assertEqual(1, cluster.by_sum())
        slots = case.alone(1)
        self.assertEqual([1, 1, 1], slots.slot_counts(slots.free).tolist())

    def test_closed_hosts_have_no_slots(self) -> None:
        slots = self.case(closed='ab').alone(1)
        self.assertEqual([0, 0, 1], slots.slot_counts(slots.free).tolist())

    def test_apart(self) -> None:
        """However much is free, a host takes one."""
        slots = self.case(apart=True).alone(1)
        free = slots.free.copy()
        free[:, :2] = 10**6
        self.assertEqual([1, 1, 1], slots.slot_counts(free).tolist())

    def test_custom_class(self) -> None:
        """A resource class that only new servers require."""
        snapshot = rooms.scope()
        headroom = snapshot.hosts['a'].headroom
        assert headroom is not None
        headroom['CUSTOM_FAST'] = Headroom(1, 0)
        fast = SlotFlavor('fast', {'VCPU': 1, 'CUSTOM_FAST': 1})
        case = scope_case.of(
            test_step_rules.simulation(),
            snapshot,
            Settings(),
            [(fast, 1)],
            False,
        )
        slots = case.cluster.slot_counts(case.cluster.free)
        self.assertEqual([1, 0, 0], slots.tolist())
