# SPDX-License-Identifier: Apache-2.0
"""How do two appliers share the work, with many actions at a time each?"""

from typing import ClassVar

from tests.lab import base

WORKERS = base.layout.ETC / 'watcher.conf.d' / 'workers.conf'


class AppliersTestCase(base.LabTestCase):
    """Two appliers, and nothing but the limits keeps moves apart."""

    options: ClassVar = {'drain_may_exceed_threshold': True}

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.cloud.reset)
        self.addCleanup(self.lab.restart, 'watcher-applier')
        self.addCleanup(WORKERS.unlink, missing_ok=True)
        group = 'watcher_workflow_engines.taskflow'
        WORKERS.write_text(f'[{group}]\nmax_workers = 8\n')
        self.lab.restart('watcher-applier')
        self.second_applier()
