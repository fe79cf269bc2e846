# SPDX-License-Identifier: Apache-2.0
"""Do the metrics say how it is, and are they served safely?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.metrics_alone'

    def test_all(self) -> None:
        self.run_alone()
