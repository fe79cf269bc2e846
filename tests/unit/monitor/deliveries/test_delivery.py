# SPDX-License-Identifier: Apache-2.0
"""Does each sink get what it should, in order, whatever others do?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.deliveries.delivery_alone'

    def test_all(self) -> None:
        self.run_alone()
