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
        self.assertEqual([], movable.rule(snapshot, cells.settings())(one))
        found = movable.rule(snapshot, Settings())(one)
        self.assertIn(Code.INSTANCE_NOT_ACTIVE, [each.code for each in found])

    def test_all_of_them(self) -> None:
        one = cells.stopped('a', locked=True, ephemeral_gb=1)
        rule = movable.rule(cells.cells([one]), cells.settings())
        found = rule(one)
        self.assertEqual(
            [Code.INSTANCE_LOCKED, Code.CELL_LOSSY],
            [reason.code for reason in found],
        )
