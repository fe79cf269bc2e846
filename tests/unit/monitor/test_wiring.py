# SPDX-License-Identifier: Apache-2.0
"""Is the agent assembled as its settings say?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.wiring_alone'

    def test_all(self) -> None:
        self.run_alone()
