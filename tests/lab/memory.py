# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios of Kronos' memory share? An engine that crashes."""

from tests.lab import base

ENGINE = 'watcher-decision-engine'


class MemoryTestCase(base.LabTestCase):
    def crash(self) -> None:
        self.lab.stop(ENGINE, kill=True)
        self.lab.start(ENGINE)
