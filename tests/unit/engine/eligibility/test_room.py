# SPDX-License-Identifier: Apache-2.0
"""Is it told what is free on a host, and who does not fit into it?"""

import numpy as np
from oslotest import base

from kronos.engine.eligibility import room
from kronos.engine.reasons import Code
from kronos.engine.types import Headroom


class TestRoom(base.BaseTestCase):
    def test_free(self) -> None:
        headroom = {'VCPU': Headroom(16, 10), 'MEMORY_MB': Headroom(8, 9)}
        for resource, free in (('VCPU', 6), ('MEMORY_MB', -1), ('DISK_GB', 0)):
            self.assertEqual(free, room.free(resource, headroom))
        self.assertIsNone(room.why_not('VCPU', 10**9, room.free('VCPU', None)))

    def test_who_fits(self) -> None:
        for need, free, fits in (
            (2, 2, True),
            (3, 2, False),
            (0, -1, True),
            (1, -1, False),
        ):
            self.assertEqual(fits, room.fits(need, free))
            reason = room.why_not('VCPU', need, free)
            self.assertEqual(fits, reason is None)
        numbers = room.fits(np.array([0, 1, 2]), -1)
        self.assertEqual([True, False, False], numbers.tolist())

    def test_why_not(self) -> None:
        reason = room.why_not('MEMORY_MB', 10, -2)
        self.assertEqual('it needs 10 MEMORY_MB, 0 are free', reason)
        assert reason is not None
        self.assertIs(Code.NO_ROOM, reason.code)
        self.assertEqual(('MEMORY_MB', 12.0), (reason.about, reason.value))
