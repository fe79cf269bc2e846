# SPDX-License-Identifier: Apache-2.0
"""Real hypervisors fail while guests move: is each end told as it is?

===========================  ========  =====================================
What fails                   Server    Its guest
===========================  ========  =====================================
QEMU at the destination      ERROR     runs on its source
QEMU at the source           ERROR     is gone, and nobody says that it runs
libvirtd at the destination  ERROR     runs on its source
libvirtd at the source       ERROR     runs; moved by nobody until it is back
libvirtd at the source,      ERROR     runs at the destination, which is
stopped in good order                  said: libvirt has moved it by itself
nova-compute at both ends    ACTIVE    runs on its source
===========================  ========  =====================================

With Nova 34, ERROR is the end of whatever is not completed.
"""

from labkit.real import guest_control

from tests.lab import real
from tests.lab.real import DESTINATION, SOURCE


class TestKilled(real.OneGuestTestCase):
    def test_qemu_of_the_destination(self) -> None:
        plan = self.begun()
        guest_control.kill(self.lab, DESTINATION, 'one')
        self.assertIn('was in ERROR, set to ACTIVE; ', self.told(plan))
        self.assert_stayed()

    def test_qemu_of_the_source(self) -> None:
        plan = self.begun()
        guest_control.kill(self.lab, SOURCE, 'one')
        text = self.told(plan)
        self.assertIn('in ERROR', text)
        self.assertNotIn('its guest runs', text)
        self.assertNotIn('set to ACTIVE', text)
        server = self.cloud.servers()[self.uuids['one']]
        self.assertEqual('ERROR', server['status'])

    def test_libvirtd_of_the_destination(self) -> None:
        plan = self.begun()
        self.kill_libvirtd(DESTINATION)
        self.assertIn('was in ERROR, set to ACTIVE; ', self.told(plan))
        self.lab.start(f'libvirtd-{DESTINATION}')
        self.assert_stayed()

    def test_libvirtd_of_the_source(self) -> None:
        """Nobody can ask the hypervisor then, so nobody mends the row."""
        plan = self.begun()
        self.kill_libvirtd(SOURCE)
        text = self.told(plan)
        self.assertIn('in ERROR', text)
        self.assertNotIn('set to ACTIVE', text)
        self.lab.start(f'libvirtd-{SOURCE}')
        self.wait(
            lambda: SOURCE not in self.cloud.disabled(),
            'nova-compute to have its hypervisor again',
        )
        self.put_right('one', text)
        self.assert_stayed()


class TestRestarted(real.OneGuestTestCase):
    def test_libvirtd_of_the_destination(self) -> None:
        plan = self.begun()
        self.lab.restart(f'libvirtd-{DESTINATION}')
        self.assertIn('was in ERROR, set to ACTIVE; ', self.told(plan))
        self.assert_stayed()

    def test_libvirtd_of_the_source(self) -> None:
        plan = self.begun()
        self.lab.restart(f'libvirtd-{SOURCE}')
        text, where = self.told(plan), self.runs_on()
        if where == SOURCE:
            self.assert_stayed()
            return
        # libvirt brings it to its end, of which Nova hears nothing.
        self.assertIn(f'in ERROR, its guest runs on {where}; ', text)
        server = self.cloud.servers()[self.uuids['one']]
        self.assertEqual('ERROR', server['status'])

    def test_both_computes(self) -> None:
        plan = self.begun()
        for host in (SOURCE, DESTINATION):
            self.killed(host)
        for host in (SOURCE, DESTINATION):
            self.lab.start(host)
        text = self.told(plan)
        if self.runs_on() == SOURCE:
            self.assert_stayed()
            return
        # libvirt has brought it to its end meanwhile.
        self.assertIn(f'its guest does not run on {SOURCE}; ', text)
        self.assertNotIn('put back', text)

    def runs_on(self) -> str:
        """The host that the guest is on."""
        domain = self.domain('one')
        [where] = [
            host
            for host in (SOURCE, DESTINATION)
            if domain in self.virsh(host, 'list', '--name')
        ]
        return where
