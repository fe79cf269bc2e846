# SPDX-License-Identifier: Apache-2.0
"""Is it told what is free on a host, and who does not fit into it?"""

import numpy as np
from oslotest import base

from kronos.engine.eligibility import free_capacity
from kronos.engine.reasons import Code
from kronos.engine.types import Headroom


class TestRoom(base.BaseTestCase):
    def test_free(self) -> None:
        headroom = {'VCPU': Headroom(16, 10), 'MEMORY_MB': Headroom(8, 9)}
        for resource, free in (('VCPU', 6), ('MEMORY_MB', -1), ('DISK_GB', 0)):
            self.assertEqual(free, free_capacity.free(resource, headroom))
        self.assertIsNone(
            free_capacity.why_not(
                'VCPU', 10**9, free_capacity.free('VCPU', None)
            )
        )

    def test_who_fits(self) -> None:
        for need, free, fits in (
            (2, 2, True),
            (3, 2, False),
            (0, -1, True),
            (1, -1, False),
        ):
            self.assertEqual(fits, free_capacity.fits(need, free))
            reason = free_capacity.why_not('VCPU', need, free)
            self.assertEqual(fits, reason is None)
        numbers = free_capacity.fits(np.array([0, 1, 2]), -1)
        self.assertEqual([True, False, False], numbers.tolist())

    def test_why_not(self) -> None:
        reason = free_capacity.why_not('MEMORY_MB', 10, -2)
        self.assertEqual('it needs 10 MEMORY_MB, 0 are free', reason)
        assert reason is not None
        self.assertIs(Code.NO_ROOM, reason.code)
        self.assertEqual(('MEMORY_MB', 12.0), (reason.about, reason.value))
