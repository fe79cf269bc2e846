# SPDX-License-Identifier: Apache-2.0
"""A slot is the lowest free number, and ends with its process."""

import os
import pathlib

import fixtures
from oslotest import base

from kronos.metrics import slots
from kronos.metrics.slots import Slot


class SlotsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def slot(self, service='applier'):
        slot = Slot(self.top, service)
        self.addCleanup(slot.close)
        return slot

    def test_the_lowest_that_is_free(self) -> None:
        first, second = self.slot(), self.slot()
        self.assertEqual((0, 1), (first.number, second.number))
        self.assertEqual(0, self.slot('scheduler').number)
        self.assertFalse(slots.is_free(self.top, 'applier', 0))
        first.close()
        self.assertTrue(slots.is_free(self.top, 'applier', 0))
        self.assertEqual(0, self.slot().number)

    def test_a_child_that_lets_go_of_it_leaves_it_to_its_parent(self) -> None:
        slot = self.slot()
        pid = os.fork()
        if not pid:
            is_own = slot.is_own
            slot.close()
            os._exit(is_own or slots.is_free(self.top, 'applier', 0))
        _, status = os.waitpid(pid, 0)
        self.assertEqual(0, status)
        self.assertFalse(slots.is_free(self.top, 'applier', 0))

    def test_no_link_is_followed(self) -> None:
        (self.top / 'kronos-applier-0.lock').symlink_to('/etc/passwd')
        self.assertRaises(OSError, Slot, self.top, 'applier')

    def test_all_are_taken(self) -> None:
        self.patch(slots, 'MOST', 1)
        self.slot()
        error = self.assertRaises(OSError, Slot, self.top, 'applier')
        self.assertEqual('all of 1 slots are taken', error.strerror)
