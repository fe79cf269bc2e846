# SPDX-License-Identifier: Apache-2.0
"""What hosts with libvirt have that simulated ones have not: are they
drained, and are guests left alone that cannot be moved?
"""

from tests.lab import real
from tests.lab.real import DESTINATION, SOURCE


class TestDrain(real.RealTestCase):
    def test_a_host_of_four(self) -> None:
        """All move while they work, each no longer still than it must."""
        names = ['one', 'two', 'three', 'four']
        # With what QEMU takes beside its guests, they fill so small a host.
        self.change('memory', capacity_threshold=0.95)
        self.boot_guests(dict.fromkeys(names, SOURCE))
        for name in names:
            self.order(name, 'cpu 15')
        self.cloud.set_host(SOURCE, False)
        _, plan, actions = self.audited(
            'aggregates=real', '', 'kronos_evacuate'
        )
        self.assertEqual(set(names), self.moved(actions))
        self.carried_out(plan)
        self.assert_at_rest(dict.fromkeys(names, DESTINATION))
        self.assert_alive(*names)
        for name in names:
            self.tell(f'{name} stood still', self.standstill(name))


class TestNoHypervisor(real.RealTestCase):
    """A host that has lost libvirt is no host to be drained."""

    def test_it_is_left_alone(self) -> None:
        self.boot_guests({'one': SOURCE})
        self.kill_libvirtd(SOURCE)
        self.wait(
            lambda: SOURCE in self.cloud.disabled(),
            'Nova to notice',
        )
        audit, _, actions = self.audited(
            'aggregates=real', '', 'kronos_evacuate'
        )
        self.assertEqual([], actions)
        self.assertIn(
            'nova-compute has lost its hypervisor (AUTO: ',
            str(self.report(audit)),
        )
        self.lab.start(f'libvirtd-{SOURCE}')
        self.wait(
            lambda: SOURCE not in self.cloud.disabled(),
            'nova-compute to have its hypervisor again',
        )
        self.assert_alive('one')


class TestFull(real.RealTestCase):
    """The host's disk is full, so QEMU has paused the guest."""

    def test_it_is_left_alone(self) -> None:
        self.boot_guests({'one': SOURCE}, self.disk_flavor())
        self.small_disks('one')
        self.fill('one')
        audit, _, actions = self.audited(
            f'aggregates=real hosts={SOURCE}', '', 'kronos_evacuate'
        )
        self.assertEqual([], actions)
        self.assertIn('paused', str(self.report(audit)))
        folder = self.folder('one')
        remount = ('/usr/bin/mount', '-o', 'remount,size=256m', folder)
        self.inside(SOURCE, *remount)
        self.virsh(SOURCE, 'resume', self.domain('one'))
        self.carried_out(self.evacuation())
        self.assert_at_rest({'one': DESTINATION})
        self.assert_alive('one')
