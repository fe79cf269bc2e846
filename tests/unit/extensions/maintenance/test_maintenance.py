# SPDX-License-Identifier: Apache-2.0
"""Is it known what an audit maintains, and what was read of it?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.recovery.extension import RECOVERY

ASKED = Maintenance('r', ('a',))


class TestMaintenance(base.BaseTestCase):
    def test_of(self) -> None:
        settings = Settings(extension=MaintenanceRun(ASKED))
        self.assertIs(ASKED, maintenance.of(settings))
        self.assertIsNone(maintenance.of(Settings()))
        self.assertIsNone(maintenance.of(Settings(extension=RECOVERY)))

    def test_view(self) -> None:
        view = RunView(done=['a'])
        self.assertIs(view, maintenance.view_of({maintenance.NAME: view}))

    def test_nothing_was_read(self) -> None:
        """Then nobody is done, and the run says why."""
        for beside in ({}, {maintenance.NAME: 'odd'}, {'recovery': ASKED}):
            view = maintenance.view_of(beside)
            self.assertEqual(RunView(maintenance.NOT_QUERIED), view)
