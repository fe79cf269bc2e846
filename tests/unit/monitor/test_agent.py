# SPDX-License-Identifier: Apache-2.0
"""Does the agent lose nothing, and go on whatever happens?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.agent_alone'

    def test_all(self) -> None:
        self.run_alone()
