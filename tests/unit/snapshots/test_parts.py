# SPDX-License-Identifier: Apache-2.0
"""Does every audit read what extensions need of it?"""

from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.snapshots import parts
from kronos.snapshots.reader import Reader


class TestParts(base.BaseTestCase):
    def test_nothing(self) -> None:
        """An extension that answers nothing reads nothing."""
        nobody: Any = None
        reader = parts.AuditPart().reader(Settings(), nobody, nobody)
        self.assertIs(Reader, type(reader))

    def test_every(self) -> None:
        names = {type(part).__name__ for part in parts.every()}
        self.assertIn('MaintenanceAudits', names)
