# SPDX-License-Identifier: Apache-2.0
"""Does every audit read what extensions need of it?"""

from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.recordings.part import NO_AUDIT
from kronos.snapshots import parts
from kronos.snapshots.reader import Reader


class TestParts(base.BaseTestCase):
    def test_nothing(self) -> None:
        """An extension that answers nothing reads nothing."""
        nobody: Any = None
        reader = parts.AuditPart().reader(Settings(), nobody, nobody)
        self.assertIs(Reader, type(reader))

    def test_who_works(self) -> None:
        """Nobody, but where an extension knows better."""
        service = ComputeService('h1', status='disabled')
        self.assertIs(False, parts.AuditPart().is_at_work(service))
        self.assertIs(False, parts.is_at_work(service))
        reason = ClosingReason('r', Step.HANDED_OVER, 0.0, NO_AUDIT)
        service.disabled_reason = str(reason)
        self.assertIs(True, parts.is_at_work(service))

    def test_every(self) -> None:
        names = {type(part).__name__ for part in parts.every()}
        self.assertIn('MaintenanceAudits', names)
