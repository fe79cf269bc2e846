# SPDX-License-Identifier: Apache-2.0
"""How do appliers share the work, with many actions at a time?"""

from typing import ClassVar

from labkit import cleaning

from tests.lab import base

WORKERS = base.layout.ETC / 'watcher.conf.d' / 'workers.conf'


class AppliersTestCase(base.LabTestCase):
    """Nothing but the limits keeps moves apart."""

    options: ClassVar = {'drain_may_exceed_threshold': True}

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(cleaning.reset, self.cloud)
        self.addCleanup(self.lab.restart, 'watcher-applier')
        self.addCleanup(WORKERS.unlink, missing_ok=True)

    def give_workers(self, workers: int) -> None:
        """Let an applier carry out so many actions of a plan at a time."""
        group = 'watcher_workflow_engines.taskflow'
        WORKERS.write_text(f'[{group}]\nmax_workers = {workers}\n')
        self.lab.restart('watcher-applier')


class TwoAppliersTestCase(AppliersTestCase):
    """Two appliers, with many actions at a time each."""

    def setUp(self) -> None:
        super().setUp()
        self.give_workers(8)
        self.second_applier()
