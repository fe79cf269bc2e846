# SPDX-License-Identifier: Apache-2.0
"""Does an audit begin after each incident, whatever Watcher does first?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.sinks.watcher_alone'

    def test_all(self) -> None:
        self.run_alone()
