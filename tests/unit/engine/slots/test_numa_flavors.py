# SPDX-License-Identifier: Apache-2.0
"""Is the NUMA topology of a flavor known, and what is not simple refused?"""

from oslotest import base

from kronos.engine.slots import flavors
from kronos.engine.types import Flavor


def flavor(**specs: str) -> Flavor:
    named = {key.replace('__', ':'): text for key, text in specs.items()}
    return Flavor('f', 'f', 8, 6400, extra_specs=named)


class TestDemand(base.BaseTestCase):
    def test_pinned(self) -> None:
        slots = flavors.of(flavor(hw__cpu_policy='dedicated'))
        assert slots.numa is not None
        self.assertTrue(slots.numa.is_pinned)
        self.assertEqual(((8, 6400),), slots.numa.nodes)
        self.assertEqual({'PCPU': 8, 'MEMORY_MB': 6400}, slots.demand)

    def test_shared(self) -> None:
        slots = flavors.of(flavor(hw__numa_nodes='2'))
        assert slots.numa is not None
        self.assertFalse(slots.numa.is_pinned)
        self.assertEqual(((4, 3200), (4, 3200)), slots.numa.nodes)
        self.assertEqual({'VCPU': 8, 'MEMORY_MB': 6400}, slots.demand)

    def test_none(self) -> None:
        self.assertIsNone(flavors.of(flavor(hw__cpu_policy='shared')).numa)


class TestWhyNot(base.BaseTestCase):
    def test_counted(self) -> None:
        for specs in (
            {'hw__cpu_policy': 'dedicated'},
            {'hw__numa_nodes': '2', 'hw__cpu_policy': 'dedicated'},
            {
                'hw__cpu_policy': 'dedicated',
                'hw__cpu_thread_policy': 'prefer',
            },
        ):
            self.assertEqual('', flavors.why_not(flavor(**specs), True))
            self.assertIn('not show', flavors.why_not(flavor(**specs)))

    def test_refused(self) -> None:
        for spec, text in (
            ({'hw__numa_nodes': '3'}, 'does not divide its size evenly'),
            ({'hw__numa_nodes': '0'}, 'is no number from 1 to 16'),
            ({'hw__numa_nodes': 'two'}, 'is no number from 1 to 16'),
            ({'hw__mem_page_size': 'large'}, 'Kronos does not compute'),
            ({'hw__cpu_policy': 'mixed'}, 'Kronos does not compute'),
            ({'hw__cpu_thread_policy': 'isolate'}, 'Kronos does not compute'),
            ({'hw__numa_cpus.0': '0-3'}, 'Kronos does not compute'),
            ({'hw__pci_numa_affinity_policy': 'x'}, 'requires a device'),
            ({'resources__PCPU': '8'}, 'Kronos does not compute'),
        ):
            self.assertIn(text, flavors.why_not(flavor(**spec), True))

    def test_nearest(self) -> None:
        """One with a topology counts where nodes are known."""
        by_name = {'n': flavor(hw__numa_nodes='2')}
        bad = flavor(hw__mem_page_size='large')
        self.assertIsNone(flavors.nearest(bad, by_name))
        self.assertEqual(by_name['n'], flavors.nearest(bad, by_name, True))
