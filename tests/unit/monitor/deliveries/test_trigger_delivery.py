# SPDX-License-Identifier: Apache-2.0
"""Is there one trigger for many incidents, and none too early or lost?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.deliveries.trigger_delivery_alone'

    def test_all(self) -> None:
        self.run_alone()
