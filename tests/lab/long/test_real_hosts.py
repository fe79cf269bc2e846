# SPDX-License-Identifier: Apache-2.0
"""What hosts with libvirt have that simulated ones have not: are they
drained, and are guests left alone that cannot be moved?
"""

import subprocess

from labkit import running
from labkit.real import hosts, topology

from tests.lab import real
from tests.lab.real import DESTINATION, SOURCE

SMALL_MIB = 32
"""Of a host's disk, which its guest fills."""


class TestDrain(real.RealTestCase):
    def test_a_host_of_four(self) -> None:
        """All move while they work, each no longer still than it must."""
        names = ['one', 'two', 'three', 'four']
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


class TestFull(real.OneGuestTestCase):
    """The host's disk is full, so QEMU has paused the guest."""

    def test_it_is_left_alone(self) -> None:
        self.boot_guests({'one': SOURCE}, self.disk_flavor())
        folder = self.small_disk()
        # It stands still in the middle of that, so it says nothing.
        self.assertRaises(
            running.LabError, self.order, 'one', f'disk {2 * SMALL_MIB}'
        )
        self.assertIn(
            'no space', self.virsh(SOURCE, 'domblkerror', self.domain('one'))
        )
        audit, _, actions = self.audited(
            f'aggregates=real hosts={SOURCE}', '', 'kronos_evacuate'
        )
        self.assertEqual([], actions)
        self.assertIn('paused', str(self.report(audit)))
        self.inside('/usr/bin/mount', '-o', 'remount,size=256m', folder)
        self.virsh(SOURCE, 'resume', self.domain('one'))
        self.carried_out(self.evacuation())
        self.assert_at_rest({'one': DESTINATION})
        self.assert_alive('one')

    def small_disk(self) -> str:
        """Let the guest's files be on a disk of few MiB; its folder."""
        uuid, domain = self.uuids['one'], self.domain('one')
        self.virsh(SOURCE, 'destroy', domain)
        self.wait(lambda: self.status() == 'SHUTOFF', 'Nova to see that')
        folder = f'{topology.INSTANCES}/{uuid}'
        self.inside('/usr/bin/mv', folder, f'{folder}.away')
        self.inside('/usr/bin/mkdir', folder)
        self.inside(
            *('/usr/bin/mount', '-t', 'tmpfs', '-o', f'size={SMALL_MIB}m'),
            *('tmpfs', folder),
        )
        self.addCleanup(self.inside, '/usr/bin/umount', '-l', folder)
        self.inside(
            *('/usr/bin/cp', '-a', '--sparse=always'),
            *(f'{folder}.away/.', folder),
        )
        self.inside('/usr/bin/rm', '-r', f'{folder}.away')
        self.openstack(f'server start {uuid}')
        self.wait(self.answers, 'it to run again')
        return folder

    def answers(self) -> bool:
        try:
            return bool(self.order('one', 'cpu 1'))
        except running.LabError:
            return False

    def status(self) -> str:
        return str(self.cloud.servers()[self.uuids['one']]['status'])

    def inside(self, *words: str) -> None:
        """Run something on the host."""
        done = subprocess.run(
            hosts.inside(self.hosts[SOURCE], *words),
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stderr)
