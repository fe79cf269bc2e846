# SPDX-License-Identifier: Apache-2.0
"""Who says why an instance must stay, in which plan?"""

from oslotest import base

from kronos.engine.eligibility import movable
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Snapshot
from tests.builders import cells

MIB = 2.0**20


def rule(snapshot: Snapshot, settings: Settings) -> movable.Rule:
    """Where 800 MiB/s are copied."""
    return movable.rule(snapshot, settings, lambda: 800.0)


class TestMovable(base.BaseTestCase):
    def test_stopped(self) -> None:
        """It goes to another cell, and cannot be live-migrated."""
        one = cells.stopped('a')
        snapshot = cells.cells([one])
        self.assertEqual([], rule(snapshot, cells.settings())(one))
        found = rule(snapshot, Settings())(one)
        self.assertIn(Code.INSTANCE_NOT_ACTIVE, [each.code for each in found])

    def test_all_of_them(self) -> None:
        one = cells.stopped('a', locked=True, ephemeral_gb=1)
        found = rule(cells.cells([one]), cells.settings())(one)
        self.assertEqual(
            [Code.INSTANCE_LOCKED, Code.CELL_LOSSY],
            [reason.code for reason in found],
        )

    def test_it_writes_faster_than_is_copied(self) -> None:
        """A live migration would not end; another cell is reached without."""
        for rate, codes in (
            (0.0, []),
            (799.9, []),
            (800.0, [Code.INSTANCE_DIRTY_RATE]),
        ):
            one = Instance('a', 'o1', dirty_rate=rate * MIB)
            snapshot = cells.cells([one])
            found = rule(snapshot, Settings())(one)
            self.assertEqual(codes, [each.code for each in found], rate)
            self.assertEqual([], rule(snapshot, cells.settings())(one))
        [reason] = found
        self.assertEqual(
            'its guest writes 800 MiB/s to memory, and a live migration '
            'copies 800 MiB/s, so it would not end',
            str(reason),
        )
