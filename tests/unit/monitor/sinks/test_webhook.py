# SPDX-License-Identifier: Apache-2.0
"""Does the webhook deliver, and say what keeps it from that?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.sinks.webhook_alone'

    def test_all(self) -> None:
        self.run_alone()
