# SPDX-License-Identifier: Apache-2.0
"""Does Masakari get its notifications, and what becomes of its answers?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.sinks.masakari_alone'

    def test_all(self) -> None:
        self.run_alone()
