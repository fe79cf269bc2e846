# SPDX-License-Identifier: Apache-2.0
"""Does TLS refuse who it should, and does every answer come to an end?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.sinks.https_alone'

    def test_all(self) -> None:
        self.run_alone()
