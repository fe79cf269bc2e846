# SPDX-License-Identifier: Apache-2.0
"""Migrations of real guests are ended before they are through: by limits, by
force, by the operator. Each is told as it is, in whatever phase it was.
"""

import contextlib
from typing import Any

from labkit import running
from labkit.real import guest_control

from tests.lab import real
from tests.lab.real import DESTINATION, SOURCE


class TestTimeouts(real.OneGuestTestCase):
    def test_migration_timeout_of_the_memory(self) -> None:
        plan = self.begun(migration_timeout=5, migration_timeout_per_gib=0)
        self.assertIn('aborted after 5 s under way', self.told(plan))
        self.assert_stayed()

    def test_migration_timeout_of_the_disk(self) -> None:
        plan = self.begun_with_disk(
            migration_timeout=10, migration_timeout_per_gib=0
        )
        self.assertIn('aborted after 10 s under way', self.told(plan))
        self.assert_stayed()

    def test_stall_timeout_of_the_memory(self) -> None:
        """libvirt waits for the destination, and Nova does not for libvirt.

        So Nova leaves the server in ERROR, and its room where it was to go.
        """
        plan = self.begun(stall_timeout=20)
        self.hold()
        text = self.told(plan)
        self.assertIn(
            '[migration_stalled] in ERROR, its guest runs on ra; ', text
        )
        self.assertIn('no progress for 20 s', self.logged())
        # Only now libvirt takes it back: until then it says nothing at all.
        self.let_go()
        domain = self.domain('one')
        self.wait(
            lambda: domain not in self.virsh(DESTINATION, 'list', '--all'),
            'libvirt to have cleaned up',
        )
        self.put_right('one', text)
        self.assert_stayed()

    def test_stall_timeout_of_the_disk(self) -> None:
        plan = self.begun_with_disk(stall_timeout=10)
        self.hold()
        self.assertIn('no progress for 10 s', self.told(plan))
        self.assert_stayed()

    def hold(self) -> None:
        """Have the destination take nothing more."""
        self.addCleanup(self.let_go)
        guest_control.pause(self.lab, DESTINATION, 'one')

    def let_go(self) -> None:
        """It may be gone by then."""
        with contextlib.suppress(running.LabError):
            guest_control.resume(self.lab, DESTINATION, 'one')


class TestForced(real.OneGuestTestCase):
    def writing(self, mib: int = real.TOO_SLOW_MIB, **options: Any) -> str:
        """What is said of a guest without an end that has moved.

        :param mib: how many a second are sent
        """
        self.configure(**options)
        self.boot_guests({'one': SOURCE})
        self.order('one', real.WRITES)
        self.speed('one', mib)
        plan = self.evacuation()
        done = self.carried_out(plan)
        self.assertEqual('SUCCEEDED', done['state'])
        self.assert_at_rest({'one': DESTINATION})
        self.assert_alive('one')
        self.tell('stood still', self.standstill('one'))
        return str(self.rows(plan)['one']['status_message'])

    def test_a_pause(self) -> None:
        said = self.writing(at_stall='force', max_pause_seconds=20)
        self.assertIn('ended by a pause of its guest', said)
        self.assertLess(self.standstill('one'), 20)

    def test_post_copy(self) -> None:
        """The guest goes on at once; nobody has to wait for its memory."""
        self.permit('post_copy')
        said = self.writing(at_stall='post_copy')
        self.assertIn('ended by post-copy', said)
        self.assertLess(self.standstill('one'), 5)

    def test_auto_converge(self) -> None:
        """QEMU slows the guest until its passes become shorter.

        It begins with that after some passes in vain, so stall_passes has
        to wait for it. The slowest guest still writes more than 5 MiB/s.
        """
        self.permit('auto_converge')
        self.writing(mib=12, stall_passes=15)

    def test_post_copy_that_is_not_permitted(self) -> None:
        """Its guest is paused instead, and then taken back."""
        self.configure(
            at_stall='post_copy', max_pause_seconds=0, recover_rows=True
        )
        self.boot_guests({'one': SOURCE})
        self.order('one', real.WRITES)
        plan = self.evacuation()
        self.speed('one', real.TOO_SLOW_MIB)
        self.start(plan)
        self.assertIn('for ra does not permit post-copy', self.told(plan))
        self.assert_stayed()


class TestCancelled(real.OneGuestTestCase):
    def test_while_its_disk_is_copied(self) -> None:
        self.check_cancelled(self.begun_with_disk())

    def test_in_the_first_pass(self) -> None:
        self.check_cancelled(self.begun())

    def test_in_a_later_pass(self) -> None:
        self.configure(stall_passes=0)
        self.boot_guests({'one': SOURCE})
        self.order('one', real.WRITES)
        self.speed('one', real.TOO_SLOW_MIB)
        plan = self.evacuation()
        self.start(plan)
        self.wait_pass('one', 3)
        self.check_cancelled(plan)

    def check_cancelled(self, plan: dict[str, Any]) -> None:
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')
        self.executed(plan)
        text = self.rows(plan)['one']['status_message']
        self.tell('told', text)
        self.assertIn(
            'KRONOS:MigrationCancelled: [plan_cancelled] was in ERROR, set '
            'to ACTIVE; its plan was cancelled',
            text,
        )
        self.assert_stayed()
