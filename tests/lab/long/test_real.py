# SPDX-License-Identifier: Apache-2.0
"""Real hypervisors fail while guests move: is each end told as it is?

===========================  ========  =====================================
What fails                   Server    Its guest
===========================  ========  =====================================
QEMU at the destination      ERROR     runs on its source
QEMU at the source           ERROR     is gone, and nobody says that it runs
libvirtd at the destination  ERROR     runs on its source
libvirtd at the source       ERROR     runs; moved by nobody until it is back
migration_timeout            ERROR     runs on its source
===========================  ========  =====================================

With Nova 34, ERROR is the end of whatever is not completed.
"""

from typing import Any, ClassVar

from labkit.real import guest_control, topology

from tests.lab import real
from tests.lab.real import DESTINATION, SOURCE

SLOW_MIB = 4
"""Per second: a guest takes about ten seconds."""


class FailingTestCase(real.RealTestCase):
    options: ClassVar[dict[str, Any]] = {
        **real.RealTestCase.options,
        'recover_rows': True,
    }

    def begun(self, **options: Any) -> dict[str, Any]:
        """A plan whose only move is slow, and under way."""
        self.configure(**options)
        self.boot_guests({'one': SOURCE})
        self.order('one', 'cpu 30')
        plan = self.evacuation()
        self.speed('one', SLOW_MIB)
        self.start(plan)
        self.wait(
            lambda: self.figures('one').get('memory_processed_bytes'),
            'memory to be sent',
        )
        return plan

    def told(self, plan: dict[str, Any]) -> str:
        """What the action says, once its plan has failed."""
        self.assertEqual('FAILED', self.executed(plan)['state'])
        return str(self.rows(plan)['one']['status_message'])

    def assert_stayed(self) -> None:
        self.assert_at_rest({'one': SOURCE})
        self.assert_alive('one')


class TestKilled(FailingTestCase):
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
        self.openstack(
            'server set --state active --auto-approve ' + self.uuids['one']
        )
        self.assert_alive('one')


class TestLimits(FailingTestCase):
    def test_migration_timeout(self) -> None:
        plan = self.begun(migration_timeout=5)
        self.assertIn('aborted after 5 s under way', self.told(plan))
        self.assert_stayed()


class TestForced(FailingTestCase):
    def writing(self, **options: Any) -> str:
        """What is said of a guest without an end that has moved."""
        self.configure(**options)
        self.boot_guests({'one': SOURCE})
        self.order('one', 'dirty 30')
        self.speed('one', 12)
        plan = self.evacuation()
        done = self.carried_out(plan)
        self.assertEqual('SUCCEEDED', done['state'])
        self.assert_at_rest({'one': DESTINATION})
        self.assert_alive('one')
        return str(self.rows(plan)['one']['status_message'])

    def test_a_pause(self) -> None:
        said = self.writing(at_stall='force', max_pause_seconds=20)
        self.assertIn('ended by a pause of its guest', said)
        self.addDetail('pause', real._content(f'{self.standstill("one")} s'))
        self.assertLess(self.standstill('one'), 20)

    def test_post_copy(self) -> None:
        """The guest goes on at once; nobody has to wait for its memory."""
        self.permit_post_copy()
        said = self.writing(at_stall='post_copy')
        self.assertIn('ended by post-copy', said)
        self.assertLess(self.standstill('one'), 5)

    def test_post_copy_that_is_not_permitted(self) -> None:
        """Its guest is paused instead, and then taken back."""
        self.configure(
            at_stall='post_copy', max_pause_seconds=0, recover_rows=True
        )
        self.boot_guests({'one': SOURCE})
        self.order('one', 'dirty 30')
        plan = self.evacuation()
        self.speed('one', 4)
        self.start(plan)
        self.assertIn('for ra does not permit post-copy', self.told(plan))
        self.assert_stayed()


class TestCancelled(real.RealTestCase):
    def test_while_its_disk_is_copied(self) -> None:
        """A GiB, of which nothing is written; QEMU sends it all the same."""
        flavor = 'real.disk'
        if flavor not in self.cloud.flavors():
            self.cloud.compute.create_flavor(
                name=flavor, vcpus=1, ram=topology.MEMORY_MB, disk=1
            )
        self.configure(recover_rows=True)
        self.boot_guests({'large': SOURCE}, flavor)
        self.speed('large', 16)
        plan = self.evacuation()
        self.start(plan)
        self.wait(
            lambda: self.figures('large').get('disk_processed_bytes'),
            'the disk to be copied',
        )
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')
        self.executed(plan)
        self.assertIn(
            'KRONOS:MigrationCancelled: [plan_cancelled]',
            self.rows(plan)['large']['status_message'],
        )
        self.assert_at_rest({'large': SOURCE})
        self.assert_alive('large')

    def test_cancelled_in_a_later_pass(self) -> None:
        self.configure(stall_passes=0, recover_rows=True)
        self.boot_guests({'busy': SOURCE})
        self.order('busy', 'dirty 30')
        self.speed('busy', 12)
        plan = self.evacuation()
        self.start(plan)
        self.wait_pass('busy', 3)
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')
        self.executed(plan)
        self.assertIn(
            'KRONOS:MigrationCancelled: [plan_cancelled] was in ERROR, set '
            'to ACTIVE; its plan was cancelled',
            self.rows(plan)['busy']['status_message'],
        )
        self.assert_at_rest({'busy': SOURCE})
        self.assert_alive('busy')


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
