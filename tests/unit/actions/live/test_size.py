# SPDX-License-Identifier: Apache-2.0
"""Is it known how much a migration has to send at least?"""

from oslotest import base

from kronos.actions.live.passes import MigrationSize
from kronos.clients.nova.progress import Progress
from kronos.engine.types import Instance

GIB = 2**30


class TestSize(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.size = MigrationSize()
        self.instance = Instance('uuid', 'h1', memory_mb=8192, disk_gb=40)

    def test_nothing_is_known(self) -> None:
        self.assertEqual(0.0, self.size.gib)

    def test_by_the_flavor(self) -> None:
        """Its disks may be copied as long as nobody tells."""
        self.size.note_instance(self.instance)
        self.assertEqual(48.0, self.size.gib)

    def test_disks_that_are_shared(self) -> None:
        self.size.note_instance(self.instance)
        self.size.note(Progress(memory_total=9 * GIB, disk_total=0))
        self.assertEqual(9.0, self.size.gib)

    def test_disks_that_are_copied_first(self) -> None:
        """Of memory nothing is told meanwhile but zeros."""
        self.size.note_instance(self.instance)
        self.size.note(Progress(memory_total=0, disk_total=60 * GIB))
        self.assertEqual(68.0, self.size.gib)
        self.size.note(Progress(memory_total=9 * GIB, disk_total=60 * GIB))
        self.assertEqual(69.0, self.size.gib)
