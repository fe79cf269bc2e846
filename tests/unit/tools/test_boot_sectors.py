# SPDX-License-Identifier: Apache-2.0
"""Are boot sectors what a BIOS takes for such?"""

import sys

from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit.real import boot_sectors  # noqa: E402


class TestBootSectors(base.BaseTestCase):
    def test_sector(self) -> None:
        found = boot_sectors.sector(boot_sectors.PANIC)
        self.assertEqual(512, len(found))
        self.assertEqual(b'\x55\xaa', found[-2:])
        self.assertTrue(found.startswith(boot_sectors.PANIC))

    def test_waiting(self) -> None:
        self.assertEqual(
            bytes.fromhex('B4 86 B9 6A 00 BA C0 CF CD 15'),
            boot_sectors.after(7),
        )

    def test_writing_begins_anew(self) -> None:
        """Its last jump leads to where the packet is made good."""
        code = boot_sectors.writing()
        self.assertEqual(b'\xeb', code[-2:-1])
        target = len(code) + int.from_bytes(code[-1:], signed=True)
        self.assertEqual(4, target)
        self.assertEqual(b'\xc7\x06', code[target : target + 2])
