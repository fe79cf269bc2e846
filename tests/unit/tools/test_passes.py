# SPDX-License-Identifier: Apache-2.0
"""Does a simulated hypervisor tell of a copy what a real one tells?"""

import sys

from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit import passes  # noqa: E402

MEMORY, DISK = 1000, 500


class TestCopy(base.BaseTestCase):
    def left(self, copy: passes.Copy, *sent: int) -> list[int]:
        return [copy.figures(one)['memory_remaining'] for one in sent]

    def test_disks_come_first(self) -> None:
        copy = passes.Copy(MEMORY, DISK, 0.25)
        told = copy.figures(300)
        self.assertEqual(
            (300, 200), (told['disk_processed'], told['disk_remaining'])
        )
        self.assertEqual(
            (0, 0), (told['memory_total'], told['memory_processed'])
        )
        told = copy.figures(600)
        self.assertEqual(
            (500, 0), (told['disk_processed'], told['disk_remaining'])
        )
        self.assertEqual(
            (1000, 100), (told['memory_total'], told['memory_processed'])
        )

    def test_what_is_left_jumps_up_with_each_pass(self) -> None:
        copy = passes.Copy(MEMORY, 0, 0.25)
        self.assertEqual(
            [1, 250, 1, 62, 1, 15],
            self.left(copy, 999, 1000, 1249, 1250, 1311, 1312),
        )
        self.assertEqual(1000 + 250 + 62 + 15, copy.total)
        self.assertEqual([0], self.left(copy, copy.total))

    def test_a_guest_that_writes_as_fast_has_no_end(self) -> None:
        copy = passes.Copy(MEMORY, 0, 1.0)
        self.assertEqual(
            [250, 250, 250, 1], self.left(copy, 1000, 1250, 100_000, 100_249)
        )

    def test_what_is_written_has_its_end(self) -> None:
        """A quarter of the memory, however fast the guest is."""
        self.assertEqual([250], self.left(passes.Copy(MEMORY, 0, 9.0), 1000))

    def test_a_guest_that_is_paused_writes_no_more(self) -> None:
        told = passes.Copy(MEMORY, 0, 1.0).figures(1100, 150)
        self.assertEqual(
            (1100, 150), (told['memory_processed'], told['memory_remaining'])
        )
