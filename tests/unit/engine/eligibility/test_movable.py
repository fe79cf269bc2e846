# SPDX-License-Identifier: Apache-2.0
"""Who says why an instance must stay, in which plan?"""

from oslotest import base

from kronos.engine.eligibility import movable
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from tests.builders import cells


class TestMovable(base.BaseTestCase):
    def test_stopped(self) -> None:
        """It goes to another cell, and cannot be live-migrated."""
        one = cells.stopped('a')
        snapshot = cells.cells([one])
        self.assertIsNone(movable.why_not(one, snapshot, cells.settings()))
        reason = movable.why_not(one, snapshot, Settings())
        assert reason is not None
        self.assertIs(Code.INSTANCE_NOT_ACTIVE, reason.code)

    def test_all_of_them(self) -> None:
        one = cells.stopped('a', locked=True, ephemeral_gb=1)
        found = movable.reasons(one, cells.cells([one]), cells.settings())
        self.assertEqual(
            [Code.INSTANCE_LOCKED, Code.CELL_LOSSY],
            [reason.code for reason in found],
        )
