# SPDX-License-Identifier: Apache-2.0
"""Does a count of slots know what a flavor requires, and refuse the rest?"""

from typing import Any

from oslotest import base

from kronos.engine.slots import flavors
from kronos.engine.types import Flavor, Instance


def flavor(**specs: str) -> Flavor:
    named = {key.replace('__', ':'): text for key, text in specs.items()}
    return Flavor('7', 'f16', 16, 65536, 20, 5, 1, named)


class TestDemand(base.BaseTestCase):
    def test_amounts(self) -> None:
        self.assertEqual(
            {'VCPU': 16, 'MEMORY_MB': 65536, 'DISK_GB': 26},
            flavors.demand(flavor()),
        )
        self.assertNotIn('DISK_GB', flavors.demand(flavor(), False))

    def test_amounts_of_specs(self) -> None:
        specs = {'resources__VCPU': '0', 'resources__CUSTOM_FAST': '2'}
        amounts = flavors.demand(flavor(**specs), False)
        self.assertEqual({'MEMORY_MB': 65536, 'CUSTOM_FAST': 2}, amounts)

    def test_traits(self) -> None:
        specs = {
            'trait__HW_CPU_X86_AVX2': 'required',
            'trait__CUSTOM_OLD': 'forbidden',
        }
        wanted = flavors.of(flavor(**specs))
        self.assertEqual({'HW_CPU_X86_AVX2'}, wanted.required)
        self.assertEqual({'CUSTOM_OLD'}, wanted.forbidden)


class TestWhyNot(base.BaseTestCase):
    def why(self, **specs: str) -> str:
        return flavors.why_not(flavor(**specs))

    def test_counted(self) -> None:
        for specs in (
            {},
            {'quota__cpu_shares': '2'},
            {'hw__cpu_policy': 'shared'},
            {'hw__vif_multiqueue_enabled': 'true'},
            {'resources__CUSTOM_FAST': '1'},
            {'trait__CUSTOM_OLD': 'forbidden'},
        ):
            self.assertEqual('', self.why(**specs), specs)

    def test_numa(self) -> None:
        for specs in (
            {'hw__numa_nodes': '2'},
            {'hw__cpu_policy': 'dedicated'},
            {'hw__mem_page_size': 'large'},
            {'resources__PCPU': '4'},
        ):
            self.assertIn('a NUMA topology', self.why(**specs))

    def test_devices(self) -> None:
        for specs in (
            {'pci_passthrough__alias': 'a100:1'},
            {'resources__VGPU': '1'},
            {'accel__device_profile': 'fpga'},
        ):
            self.assertIn('requires a device', self.why(**specs))

    def test_what_is_not_read(self) -> None:
        for specs in (
            {'aggregate_instance_extra_specs__ssd': 'true'},
            {'resources1__VCPU': '2'},
            {'group_policy': 'isolate'},
        ):
            self.assertIn('does not read', self.why(**specs))

    def test_empty(self) -> None:
        nothing = Flavor('0', 'none', 0, 0)
        self.assertEqual('it requires no resources', flavors.why_not(nothing))


class TestNuma(base.BaseTestCase):
    def test_specs(self) -> None:
        for key, value in (
            ('hw:numa_nodes', '1'),
            ('hw:numa_cpus.0', '0,1'),
            ('hw:cpu_policy', 'dedicated'),
            ('hw:cpu_policy', 'mixed'),
            ('hw:cpu_realtime', 'yes'),
            ('hw:mem_page_size', '1048576'),
            ('hw:pmem', '6GB'),
            ('hw:cpu_thread_policy', 'isolate'),
            ('hw:emulator_threads_policy', 'isolate'),
            ('resources:PCPU', '4'),
        ):
            specs = {'a': 'b', key: value}
            self.assertEqual(f'{key}={value}', flavors.numa(specs))
            why = flavors.why_not(Flavor('n', 'n', 4, 16, extra_specs=specs))
            self.assertIn(f'{key}={value} gives servers a NUMA topology', why)

    def test_none(self) -> None:
        for specs in ({}, {'hw:cpu_policy': 'shared', 'hw:boot_menu': '1'}):
            self.assertEqual('', flavors.numa(specs))


class TestNearest(base.BaseTestCase):
    def nearest(self, *sizes: tuple[int, int]) -> str:
        numa = Flavor('n', 'n', 8, 16, extra_specs={'hw:numa_nodes': '1'})
        by_name = {'n': numa}
        for vcpus, memory_mb in sizes:
            name = f'{vcpus}-{memory_mb}'
            by_name[name] = Flavor(name, name, vcpus, memory_mb)
        found = flavors.nearest(numa, by_name)
        return found.name if found else ''

    def test_as_large(self) -> None:
        self.assertEqual('16-32', self.nearest((7, 16), (16, 32), (32, 64)))
        self.assertEqual('8-16', self.nearest((9, 16), (8, 16), (8, 17)))

    def test_all_are_smaller(self) -> None:
        self.assertEqual('6-12', self.nearest((2, 4), (6, 12)))

    def test_none_is_counted(self) -> None:
        self.assertEqual('', self.nearest())


class TestOfCloud(base.BaseTestCase):
    def test_of_servers(self) -> None:
        server: Any = Instance(
            'a', 'h', vcpus=2, memory_mb=512, flavor='f2', root_gb=3
        )
        nameless = Instance('b', 'h', vcpus=9)
        self.assertEqual(
            {'f2': Flavor('f2', 'f2', 2, 512, 3)},
            flavors.of_cloud([server, nameless]),
        )

    def test_kept(self) -> None:
        """The flavor as it is now counts, not as some server got it."""

        class Kept:
            flavors = {'f2': Flavor('9', 'f2', 4, 1024)}

        server = Instance('a', 'h', vcpus=2, memory_mb=512, flavor='f2')
        known = flavors.of_cloud([server], [Kept(), object()])
        self.assertEqual(4, known['f2'].vcpus)
